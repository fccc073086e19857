//! What a person at a terminal can do about an error of the server, whose own hints are for those who write requests.

/// What words of a request begin with: a hint that has one of them is of no use to whoever typed a command.
const WORDS_OF_REQUESTS: &[&str] = &[
    "/ojs/",
    "header",
    "Header",
    "body",
    "details.",
    "GET",
    "POST",
    "Retry-After",
    "OJS-",
    "X-OJS-",
    "member",
    "Idempotency",
];

fn speaks_of_requests(hint: &str) -> bool {
    let mut words = hint.split([' ', '`', '"', '(', '\n']);
    words.any(|word| WORDS_OF_REQUESTS.iter().any(|start| word.starts_with(start)))
}

/// The flag that was sent as this parameter, or `None` for what stands in the job.
pub(super) fn flag(field: &str) -> Option<String> {
    field.strip_prefix("query.").map(|name| format!("--{}", name.replace('_', "-")))
}

/// What to do about the error: in words of our own, or in those of the server where they fit.
pub(super) fn advice<'h>(code: &str, field: Option<&str>, hint: Option<&'h str>) -> Option<&'h str> {
    match (code, field) {
        ("unauthenticated", _) => {
            Some("put a key of the server into HAPAX_API_KEY, or name its file with --api-key-file")
        }
        (_, Some("X-OJS-Tenant")) => Some(
            "the server serves tenants, and commands speak for none: ask it over HTTP, as docs/tenants.md shows",
        ),
        ("invalid_request", Some(field)) if flag(field).is_some() => Some("--help shows what the flag takes"),
        ("invalid_payload", _) => Some("the job has to be one JSON object in UTF-8; correct it there"),
        ("invalid_request" | "invalid_workflow" | "validation_error", _) => {
            Some("correct what the message names; --help shows what the command takes")
        }
        ("schema_validation", _) => {
            Some("correct the arguments of the job, or register another schema for its type")
        }
        ("unsupported", _) => Some("leave it out, or ask a server that has it: --server says where it is"),
        ("not_found", _) => Some(
            "see that it is spelt right and that --server is the right server; `hapax keys` lists keys that are held",
        ),
        ("backend_unavailable" | "queue_full" | "result_pending", _) => Some("try again in a moment"),
        _ => hint.filter(|hint| !speaks_of_requests(hint)),
    }
}

#[cfg(test)]
mod tests {
    use hapax_wire::error::Code;

    use super::*;

    #[test]
    fn no_hint_speaks_of_requests() {
        for code in Code::ALL {
            let Some(told) = advice(code.name(), None, Some(code.hint())) else { continue };
            assert!(!speaks_of_requests(told), "{}: {told}", code.name());
        }
    }

    #[test]
    fn hints_that_fit_are_those_of_the_server() {
        let hint = Some("Use the address, localhost, or a name without dots.");
        assert_eq!(advice("forbidden", None, hint), hint);
        let hint = Some("Remember that nobody else may hold it.");
        assert_eq!(advice("forbidden", None, hint), hint);
        assert_eq!(advice("conflict", None, Some("POST /ojs/v1/unique/keys/{key}/release")), None);
    }

    #[test]
    fn a_parameter_is_the_flag_that_it_came_from() {
        assert_eq!(flag("query.older_than").as_deref(), Some("--older-than"));
        assert_eq!(flag("unique.keys"), None);
    }
}
