//! What the official SDKs need beyond the spec, or against a part of it. Everything that exists for one of them
//! only stands here, with its name and the reason.

use axum::http::HeaderValue;
use hapax_broker::EventKind;
use hapax_core::unique::{Dimensions, Strategy, UniquePolicy};
use hapax_core::workflow::WorkflowState;

use crate::from_wire::{Fault, Given, RUNNING_ALIAS, dimensions, is_dimension};

/// Which of two shapes a reply takes where one shape cannot serve everybody.
///
/// The conformance suite never sends the header `OJS-Version`; the SDKs always do. A client that negotiates gets the shapes of the HTTP binding, another one those of the OpenAPI document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// The request has no `OJS-Version`.
    OpenApi,
    /// The request has an `OJS-Version` that the server speaks.
    Negotiated,
}

impl Dialect {
    /// The content type of every JSON reply.
    ///
    /// The Python SDK reads a body as JSON only if the header contains the literal `application/json`; the
    /// suite compares the header for equality with the bare type.
    pub(crate) fn content_type(self) -> HeaderValue {
        match self {
            Dialect::OpenApi => HeaderValue::from_static("application/openjobspec+json"),
            Dialect::Negotiated => {
                HeaderValue::from_static("application/openjobspec+json; alias=\"application/json\"")
            }
        }
    }

    /// Whether `queue` in the statistics of a queue is its name.
    ///
    /// The Rust and the Go SDK want a string there, the suite an object.
    pub(crate) fn queue_is_a_name(self) -> bool {
        self == Dialect::Negotiated
    }

    /// Whether `cron` in an answer about a recurring job is its expression.
    ///
    /// The Rust SDK wants a string there, the suite an object.
    pub(crate) fn cron_is_an_expression(self) -> bool {
        self == Dialect::Negotiated
    }

    /// What a workflow is in which something is left to do.
    ///
    /// The SDKs read the word of the HTTP binding. The official admin UI never sends the header; it offers to cancel, and
    /// watches, what is `active`, which is the word of the OpenAPI document.
    pub(crate) fn state_of_workflow(self, state: WorkflowState) -> &'static str {
        match (self, state) {
            (Dialect::OpenApi, WorkflowState::Running) => RUNNING_ALIAS,
            _ => state.name(),
        }
    }

    /// Whether capabilities in the manifest are bare truth values and extensions bare names.
    ///
    /// The Rust and the Go SDK read nothing else; the unique-jobs document wants objects.
    pub(crate) fn manifest_is_plain(self) -> bool {
        self == Dialect::Negotiated
    }
}

/// The kind of event that a client means.
///
/// The official admin UI has words for some of them that no document has.
pub(crate) fn kind_of_event(name: &str) -> &str {
    match name {
        "job.retried" => EventKind::JobRetrying.name(),
        "worker.registered" => EventKind::WorkerStarted.name(),
        "worker.deregistered" | "worker.stale" => EventKind::WorkerStopped.name(),
        _ => name,
    }
}

/// Other names of the one version of the protocol.
///
/// The Go SDK still sends that of the candidate, and reads what the others read.
pub(crate) const VERSION_ALIASES: &[&str] = &["1.0.0-rc.1", "1.0.0"];

/// `unique.period` in milliseconds, as the Go SDK writes it.
pub(crate) const PERIOD_MS: &str = "period_ms";

/// Whether the text is the name, written in camel case.
///
/// The JavaScript SDK converts the options of jobs, but not those of the steps of workflows.
pub(crate) fn is_camel_case_of(text: &str, name: &str) -> bool {
    let mut words = name.split('_');
    let mut rest = words.next().and_then(|first| text.strip_prefix(first));
    for word in words {
        let (head, tail) = word.split_at(word.len().min(1));
        rest =
            rest.and_then(|rest| rest.strip_prefix(head.to_ascii_uppercase().as_str())?.strip_prefix(tail));
    }
    rest == Some("")
}

/// `unique.key` as a list.
///
/// The Python SDK sends the dimensions under this name, the JavaScript and the Go SDK the members of `args`.
pub(crate) fn key_list(policy: &mut UniquePolicy, given: Given<'_, '_>) -> Result<(), Fault> {
    let names = given.names()?;
    if names.is_empty() {
        return Err(Fault::new(given.place, "must name at least one dimension or argument"));
    }
    if policy.dimensions != Dimensions::default() || policy.args_keys.is_some() {
        return Err(Fault::new(given.place, "as a list stands for keys or args_keys; send only one of them"));
    }
    if names.iter().all(|name| is_dimension(name)) {
        policy.dimensions = dimensions(&names, given)?;
    } else {
        policy.dimensions.args = true;
        policy.args_keys = Some(names);
    }
    Ok(())
}

/// `on_conflict`, with two words of other documents for the same.
///
/// The OpenAPI document, from which clients are generated, says `use_existing`; an older decision record, which
/// early SDKs followed, `drop`.
pub(crate) fn strategy(given: Given<'_, '_>) -> Result<Strategy, Fault> {
    let text = given.text("a string")?;
    if ["use_existing", "drop"].contains(&text) {
        return Ok(Strategy::Ignore);
    }
    Strategy::ALL
        .into_iter()
        .find(|strategy| strategy.name() == text)
        .ok_or_else(|| Fault::unknown(given.place, "strategy", text, &Strategy::ALL.map(Strategy::name)))
}

/// The jobs that a heartbeat speaks of.
///
/// The JavaScript and the Go SDK send their number as `active_jobs` and their ids as `active_job_ids`; the others
/// send the ids as `active_jobs`.
pub(crate) fn active_jobs<'g, 'a>(
    active_jobs: Option<Given<'g, 'a>>,
    active_job_ids: Option<Given<'g, 'a>>,
) -> Option<Given<'g, 'a>> {
    match active_jobs {
        Some(given) if given.node.as_i64().is_some() => active_job_ids,
        Some(given) => Some(given),
        None => active_job_ids,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_negotiates_gets_a_type_that_python_reads() {
        assert_eq!(Dialect::OpenApi.content_type(), "application/openjobspec+json");
        assert!(Dialect::Negotiated.content_type().to_str().unwrap().contains("application/json"));
    }
}
