//! Something wrong with the form of a request.

use std::fmt::Display;

use hapax_core::json::Node;
use hapax_core::nearest;
use hapax_wire::error::Code;
use hapax_wire::writer;

use super::Place;
use crate::schemas::Verdict;

/// What was wrong, where, and what would be right.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    /// The kind of error.
    pub(crate) code: Code,
    /// For a person; names the place.
    pub(crate) message: String,
    /// For a program: a JSON object.
    pub(crate) details: Vec<u8>,
}

impl Fault {
    /// A value that breaks the rules of its member.
    pub(crate) fn new(place: Place<'_>, problem: impl Display) -> Fault {
        Fault::coded(Code::InvalidRequest, place, problem)
    }

    /// The same with another code.
    pub(crate) fn coded(code: Code, place: Place<'_>, problem: impl Display) -> Fault {
        let problem = problem.to_string();
        let mut details = Vec::new();
        writer::object(&mut details, |o| {
            o.text("field", &place.to_string());
            o.text("validation", &problem);
            o.number_if("index", place.index());
        });
        Fault { code, message: format!("{place}: {problem}"), details }
    }

    /// Arguments that are not as their schema says. The first finding is the message, all are in the details.
    pub(crate) fn schema(args: Place<'_>, verdict: &Verdict) -> Fault {
        let Verdict { schema, mode: _, findings } = verdict;
        let first = findings.first();
        let path = first.map_or("", |finding| &finding.path);
        let problem = first.map_or("is not as its schema says", |finding| &finding.problem);
        let place = Place::Path(&args, path);
        let mut details = Vec::new();
        writer::object(&mut details, |o| {
            o.text("field", &place.to_string());
            o.text("validation", problem);
            o.number_if("index", args.index());
            o.text("schema", &schema.uri);
            o.array("validation_errors", findings, |finding, out| {
                writer::object(out, |o| {
                    o.text("field", &Place::Path(&args, &finding.path).to_string());
                    o.text("message", &finding.problem);
                });
            });
        });
        let message = format!("{place}: {problem} (schema {})", schema.uri);
        Fault { code: Code::SchemaValidation, message, details }
    }

    /// A body as a whole.
    pub(crate) fn of_body(code: Code, message: String, details: Vec<u8>) -> Fault {
        Fault { code, message, details }
    }

    /// A member that has to be there.
    pub(crate) fn missing(place: Place<'_>, wanted: &str) -> Fault {
        Fault::new(place, format_args!("is required: {wanted}"))
    }

    /// A value of the wrong kind.
    pub(crate) fn kind(place: Place<'_>, wanted: &str, found: &Node<'_>) -> Fault {
        let article = match found.kind() {
            "null" => "",
            "array" | "object" => "an ",
            _ => "a ",
        };
        Fault::new(place, format_args!("must be {wanted}, not {article}{}", found.kind()))
    }

    /// A name that is none of those that may stand here.
    pub(crate) fn unknown(place: Place<'_>, what: &str, found: &str, known: &[&str]) -> Fault {
        let found: String = found.chars().take(60).collect();
        let guess = nearest(&found, known).map(|name| format!("did you mean {name:?}? ")).unwrap_or_default();
        let known = known.join(", ");
        Fault::new(place, format_args!("unknown {what} {found:?}; {guess}known are {known}"))
    }

    /// A name that is nearly one of those that mean something here.
    pub(crate) fn misspelt(place: Place<'_>, found: &str, meant: &str) -> Fault {
        let found: String = found.chars().take(60).collect();
        Fault::new(place, format_args!("unknown member {found:?}; did you mean {meant:?}?"))
    }

    /// A feature that this server does not have: accepting the member and ignoring it would be a lie.
    pub(crate) fn unsupported(place: Place<'_>, feature: &str) -> Fault {
        Fault::coded(
            Code::Unsupported,
            place,
            format_args!("this server does not have {feature}; leave the attribute out"),
        )
    }

    /// The same fault under another code: what is wrong inside a retry policy is a `validation_error`.
    pub(crate) fn with_code(self, code: Code) -> Fault {
        Fault { code, ..self }
    }
}
