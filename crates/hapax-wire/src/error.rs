//! The one table of error codes, and the envelope in which every error travels.

use crate::writer::{Object, object};

/// A kind of error, by what a client can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the table below says what each means")]
pub enum Code {
    InvalidPayload,
    InvalidRequest,
    InvalidWorkflow,
    Unauthenticated,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    ResultPending,
    Duplicate,
    Conflict,
    LeaseLost,
    IdempotencyMismatch,
    PayloadTooLarge,
    BatchTooLarge,
    ResultTooLarge,
    UriTooLong,
    ValidationError,
    SchemaValidation,
    Refused,
    Unsupported,
    QueueDraining,
    JobTypeNotAllowed,
    QueueFull,
    HeadersTooLarge,
    Internal,
    BackendError,
    OutcomeUnknown,
    BackendUnavailable,
}

/// One line of the table.
#[derive(Debug)]
struct Row {
    name: &'static str,
    status: u16,
    retryable: bool,
    meaning: &'static str,
    hint: &'static str,
}

impl Code {
    /// Every code, by status.
    pub const ALL: [Code; 29] = [
        Code::InvalidPayload,
        Code::InvalidRequest,
        Code::InvalidWorkflow,
        Code::Unauthenticated,
        Code::Forbidden,
        Code::NotFound,
        Code::MethodNotAllowed,
        Code::RequestTimeout,
        Code::ResultPending,
        Code::Duplicate,
        Code::Conflict,
        Code::LeaseLost,
        Code::IdempotencyMismatch,
        Code::PayloadTooLarge,
        Code::BatchTooLarge,
        Code::ResultTooLarge,
        Code::UriTooLong,
        Code::ValidationError,
        Code::SchemaValidation,
        Code::Refused,
        Code::Unsupported,
        Code::QueueDraining,
        Code::JobTypeNotAllowed,
        Code::QueueFull,
        Code::HeadersTooLarge,
        Code::Internal,
        Code::BackendError,
        Code::OutcomeUnknown,
        Code::BackendUnavailable,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The HTTP status.
    pub const fn status(self) -> u16 {
        self.row().status
    }

    /// Whether the same request may succeed later. It never means that a repetition is harmless.
    pub const fn is_retryable(self) -> bool {
        self.row().retryable
    }

    /// What it means.
    pub const fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// What to do, unless the place of the error knows better.
    pub const fn hint(self) -> &'static str {
        self.row().hint
    }

    /// The heading of the code on pages, as a link names it.
    pub fn anchor(self) -> String {
        self.name().to_ascii_lowercase()
    }

    #[expect(clippy::too_many_lines, reason = "a table, one entry per code")]
    const fn row(self) -> &'static Row {
        match self {
            Code::InvalidPayload => &Row {
                name: "invalid_payload",
                status: 400,
                retryable: false,
                meaning: "The body is not one JSON value: a syntax error, a member named twice, nesting \
                          deeper than 64 levels, or nothing at all.",
                hint: "Send one JSON object in UTF-8; the message names the line and column.",
            },
            Code::InvalidRequest => &Row {
                name: "invalid_request",
                status: 400,
                retryable: false,
                meaning: "A member, parameter or header is missing, has the wrong form or contradicts another.",
                hint: "Correct the member that details.field names.",
            },
            Code::InvalidWorkflow => &Row {
                name: "invalid_workflow",
                status: 400,
                retryable: false,
                meaning: "The workflow cannot be carried out: it is empty, its steps wait for each other, one waits \
                          for a step that is not there, or it is too long or too deep.",
                hint: "Correct the steps that the message names.",
            },
            Code::Unauthenticated => &Row {
                name: "unauthenticated",
                status: 401,
                retryable: false,
                meaning: "The server wants an API key and the request has none, or an unknown one.",
                hint: "Send the header Authorization: Bearer <key> with a key of this server.",
            },
            Code::Forbidden => &Row {
                name: "forbidden",
                status: 403,
                retryable: false,
                meaning: "A page of another site tried to open a WebSocket.",
                hint: "Serve the page from the host of this server, or let a program of your own listen for it.",
            },
            Code::NotFound => &Row {
                name: "not_found",
                status: 404,
                retryable: false,
                meaning: "There is no such job, dead letter, key or path.",
                hint: "Check the id and the path; finished jobs are removed when their retention ends.",
            },
            Code::MethodNotAllowed => &Row {
                name: "method_not_allowed",
                status: 405,
                retryable: false,
                meaning: "The path exists, but not with this method.",
                hint: "Use one of the methods in the Allow header.",
            },
            Code::RequestTimeout => &Row {
                name: "request_timeout",
                status: 408,
                retryable: true,
                meaning: "The body did not arrive in time. Nothing was done.",
                hint: "Send the body without pauses; split large batches.",
            },
            Code::Duplicate => &Row {
                name: "duplicate",
                status: 409,
                retryable: false,
                meaning: "A job with this id exists, or one holds the same uniqueness key and the policy says \
                          reject.",
                hint: "The existing job stands for this one; use on_conflict ignore to get it as the answer.",
            },
            Code::Conflict => &Row {
                name: "conflict",
                status: 409,
                retryable: false,
                meaning: "The job or the workflow is in a state in which this cannot happen to it.",
                hint: "Look where it stands; details say where it is and where it would have to be.",
            },
            Code::LeaseLost => &Row {
                name: "lease_lost",
                status: 409,
                retryable: false,
                meaning: "The worker does not hold the job, or not any longer. Nothing was changed.",
                hint: "Drop the result: the job was given to another worker, called off or has ended.",
            },
            Code::IdempotencyMismatch => &Row {
                name: "idempotency_mismatch",
                status: 409,
                retryable: false,
                meaning: "The Idempotency-Key was used within 24 hours with another request.",
                hint: "Use a new Idempotency-Key for a new request, and the same body for a repeated one.",
            },
            Code::PayloadTooLarge => &Row {
                name: "payload_too_large",
                status: 413,
                retryable: false,
                meaning: "The body, or one job in it, is larger than the server takes, or a waiting job would become so by \
                          taking over what a duplicate brings.",
                hint: "Keep large data elsewhere and pass a reference to it.",
            },
            Code::BatchTooLarge => &Row {
                name: "BATCH_SIZE_EXCEEDED",
                status: 413,
                retryable: false,
                meaning: "The batch has more jobs than details.max_batch_size.",
                hint: "Send several smaller batches.",
            },
            Code::ResultTooLarge => &Row {
                name: "RESULT_TOO_LARGE",
                status: 413,
                retryable: false,
                meaning: "The result of the job is larger than details.limit. The job stays active.",
                hint: "Store the result elsewhere and acknowledge with a reference to it.",
            },
            Code::ResultPending => &Row {
                name: "result_pending",
                status: 408,
                retryable: true,
                meaning: "The job has not ended within the time that was waited.",
                hint: "Ask again, with wait=true to be told as soon as it ends.",
            },
            Code::UriTooLong => &Row {
                name: "uri_too_long",
                status: 414,
                retryable: false,
                meaning: "The path with its query is longer than the server takes.",
                hint: "Ask for fewer things at once.",
            },
            Code::ValidationError => &Row {
                name: "validation_error",
                status: 422,
                retryable: false,
                meaning: "The retry policy cannot be followed.",
                hint: "Correct the member of retry that the message names.",
            },
            Code::SchemaValidation => &Row {
                name: "schema_validation",
                status: 422,
                retryable: false,
                meaning: "The arguments of the job are not as its registered schema says.",
                hint: "Correct the arguments that details.validation_errors name, or the schema that details.schema names.",
            },
            Code::Refused => &Row {
                name: "refused",
                status: 422,
                retryable: false,
                meaning: "A rule of this server's operator does not take such jobs.",
                hint: "The message says why; the rules stand in the server's configuration.",
            },
            Code::Unsupported => &Row {
                name: "unsupported",
                status: 422,
                retryable: false,
                meaning: "The request asks for a feature or protocol version that this server does not have.",
                hint: "The manifest at /ojs/manifest lists what the server can do.",
            },
            Code::QueueDraining => &Row {
                name: "x_queue_draining",
                status: 422,
                retryable: true,
                meaning: "The queue is being emptied and takes no jobs. Nothing was stored.",
                hint: "Send the job to another queue, or wait until an operator opens this one again.",
            },
            Code::JobTypeNotAllowed => &Row {
                name: "JOB_TYPE_NOT_ALLOWED",
                status: 422,
                retryable: false,
                meaning: "The settings of the queue do not allow jobs of this type. Nothing was stored.",
                hint: "GET /ojs/v1/queues/{name}/config shows the types that the queue takes.",
            },
            Code::QueueFull => &Row {
                name: "QUEUE_FULL",
                status: 429,
                retryable: true,
                meaning: "So many jobs wait in the queue that its settings allow no more. Nothing was stored.",
                hint: "Send it again after the seconds in Retry-After; with the strategy block, OJS-Block-Timeout waits.",
            },
            Code::HeadersTooLarge => &Row {
                name: "headers_too_large",
                status: 431,
                retryable: false,
                meaning: "The request has too many headers, or too long ones.",
                hint: "Send fewer and shorter headers.",
            },
            Code::Internal => &Row {
                name: "internal",
                status: 500,
                retryable: false,
                meaning: "The server has a defect. It may or may not have done what was asked.",
                hint: "Report the request id; the server's log has the details.",
            },
            Code::BackendError => &Row {
                name: "backend_error",
                status: 500,
                retryable: true,
                meaning: "The store failed. Nothing was changed.",
                hint: "Try again later; the server's log has the cause.",
            },
            Code::OutcomeUnknown => &Row {
                name: "outcome_unknown",
                status: 500,
                retryable: false,
                meaning: "The store did not answer. The request may or may not have been carried out.",
                hint: "Look before repeating it; with an Idempotency-Key or a job id of your own a repetition is safe.",
            },
            Code::BackendUnavailable => &Row {
                name: "backend_unavailable",
                status: 503,
                retryable: true,
                meaning: "The server is shutting down, under maintenance, or serves as many as it can. Nothing was changed.",
                hint: "Try again after Retry-After seconds.",
            },
        }
    }
}

/// Where a server explains its errors.
pub const ERRORS_PATH: &str = "/docs/errors";

/// The member of every error, on the wire and in events, that says whether another try may succeed. A job's state
/// has the same name and nothing to do with it.
pub const RETRYABLE: &str = "retryable";

/// An error on its way to a client.
#[derive(Debug, Clone, Copy)]
pub struct ErrorBody<'e> {
    /// The kind.
    pub code: Code,
    /// What happened, for a person.
    pub message: &'e str,
    /// What happened, for a program: the text of a JSON object.
    pub details: Option<&'e str>,
    /// The request that failed.
    pub request_id: &'e str,
    /// What to do, if it is not what the table says.
    pub hint: Option<&'e str>,
}

impl ErrorBody<'_> {
    /// The body of the response.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(512 + self.message.len() + self.details.map_or(0, str::len));
        object(&mut out, |o| o.object("error", |o| self.members(o)));
        out
    }

    /// Writes the members of the error into an object.
    pub fn members(&self, o: &mut Object<'_>) {
        let Self { code, message, details, request_id, hint } = *self;
        o.text("code", code.name());
        o.text("type", code.name());
        o.text("message", message);
        o.flag(RETRYABLE, code.is_retryable());
        if let Some(details) = details {
            o.raw("details", details);
        }
        o.text("request_id", request_id);
        o.text("hint", hint.unwrap_or(code.hint()));
        // Two names for one link: the suite reads the first, the error document defines the second. It is relative to the
        // server that says it: behind proxies that does not know by which name it was called.
        o.plain("docs_url", format_args!("{ERRORS_PATH}#{}", code.anchor()));
        o.plain("doc_url", format_args!("{ERRORS_PATH}#{}", code.anchor()));
    }
}

/// The page `docs/errors.md`.
pub fn page() -> String {
    use std::fmt::Write as _;

    let mut page = String::from(
        "# Errors\n\n\
         Printed from the table in `crates/hapax-wire/src/error.rs`; a test keeps this page equal to it.\n\n\
         Every error is a JSON object `{\"error\": {…}}` with `code`, `type` (the same), `message`, `retryable`,\n\
         `request_id`, `hint`, `docs_url`, `doc_url` and often `details`. `retryable` says that the same request\n\
         may succeed later, not that repeating it is harmless: for that there are `Idempotency-Key` and job ids.\n\
         `docs_url` is a path of the server that answered, at which it has this page.\n\n\
         | code | status | retryable |\n|---|---|---|\n",
    );
    for code in Code::ALL {
        let Row { name, status, retryable, .. } = code.row();
        let _infallible = writeln!(page, "| [`{name}`](#{}) | {status} | {retryable} |", code.anchor());
    }
    for code in Code::ALL {
        let Row { name, meaning, hint, .. } = code.row();
        let _infallible = write!(page, "\n## {name}\n\n{meaning}\n\n{hint}\n");
    }
    page
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_page_in_the_docs_is_the_table() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
        let page = page();
        if fs::read_to_string(&path).is_ok_and(|text| text == page) {
            return;
        }
        fs::write(&path, page).unwrap();
        panic!("docs/errors.md differed from the table and was written anew: look at it and keep it");
    }

    #[test]
    fn every_code_has_its_own_name_and_an_error_status() {
        for (index, code) in Code::ALL.into_iter().enumerate() {
            assert!((400..600).contains(&code.status()), "{code:?}");
            assert!(Code::ALL[..index].iter().all(|other| other.name() != code.name()), "{code:?}");
        }
        assert!(Code::ALL.is_sorted_by_key(|code| code.status()));
    }

    #[test]
    fn an_envelope_has_every_member() {
        let body = ErrorBody {
            code: Code::NotFound,
            message: "no job has the id \"x\"",
            details: Some(r#"{"resource_type":"job"}"#),
            request_id: "req_1",
            hint: None,
        };
        insta::assert_snapshot!(String::from_utf8(body.to_json()).unwrap());
    }
}
