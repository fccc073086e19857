//! What went wrong between a command and the server, for eyes.

use std::error::Error;
use std::io;

use serde::Deserialize;

use super::exchange::{Answer, Unanswered};
use super::{ServerUrl, advice};
use crate::failure::Failure;
use crate::output::Text;

/// How much of an answer in a foreign form is shown.
const FOREIGN_CHARACTERS_MAX: usize = 120;

const IS_IT_RUNNING: &str = "is `hapax serve` running there? --server says where it is";
const IS_IT_HAPAX: &str = "is that the address of a Hapax server? --server says where it is";

/// The server could not be asked, or did not answer.
pub(super) fn unanswered(server: &ServerUrl, error: &Unanswered) -> Failure {
    match error {
        Unanswered::NoConnection(cause) => {
            Failure::new(format!("could not reach {server}: {}", reason(cause))).hint(IS_IT_RUNNING)
        }
        Unanswered::SlowConnection => {
            Failure::new(format!("could not reach {server}: {error}")).hint(IS_IT_RUNNING)
        }
        Unanswered::SlowAnswer => Failure::new(format!("{server}: {error}"))
            .hint("what was asked may or may not have happened: look before asking again"),
        Unanswered::Broken(cause) if cause.is_parse() => {
            Failure::new(format!("{server} does not answer in HTTP")).hint(IS_IT_HAPAX)
        }
        Unanswered::TooLarge => Failure::new(format!("{server}: {error}")).hint("ask for less with --limit"),
        Unanswered::Broken(_) | Unanswered::BrokeOff(_) => {
            Failure::because(format!("{server} did not answer"), error as &(dyn Error + 'static))
        }
    }
}

/// In words, where the system adds a number.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".into(),
        io::ErrorKind::ConnectionReset => "connection reset".into(),
        io::ErrorKind::HostUnreachable => "no route to the host".into(),
        io::ErrorKind::NetworkUnreachable => "no route to the network".into(),
        io::ErrorKind::TimedOut => "connection timed out".into(),
        _ => error.to_string(),
    }
}

/// The body of an error.
#[derive(Debug, Deserialize)]
struct Envelope {
    error: Told,
}

/// What the server says about it; also a part of some answers.
#[derive(Debug, Deserialize)]
pub(crate) struct Told {
    pub(crate) code: Text,
    pub(crate) message: Text,
    pub(crate) hint: Option<Text>,
    #[serde(default)]
    pub(crate) details: Details,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Details {
    pub(crate) field: Option<Text>,
}

impl Told {
    /// The message, and the flag or the member that it is about unless it names it.
    pub(crate) fn sentence(&self) -> String {
        let Some(field) = &self.details.field else { return self.message.to_string() };
        let (field, message) = (field.as_str(), self.message.as_str());
        match advice::flag(field) {
            Some(flag) if message.contains(field) => message.replacen(field, &flag, 1),
            Some(flag) => format!("{flag}: {message}"),
            None if message.contains(field) => message.to_owned(),
            None => format!("{field}: {message}"),
        }
    }
}

/// The server answered that it will not or cannot do it.
pub(super) fn refused(server: &ServerUrl, answer: &Answer) -> Failure {
    let status = answer.status;
    let Ok(Envelope { error }) = serde_json::from_slice(&answer.body) else {
        return foreign(server, answer);
    };
    let did = if status.is_server_error() { "failed" } else { "refused" };
    let failure =
        Failure::new(format!("the server {did} ({} {}): {}", status.as_u16(), error.code, error.sentence()));
    let Told { code, hint, details: Details { field }, message: _ } = &error;
    let advice =
        advice::advice(code.as_str(), field.as_ref().map(Text::as_str), hint.as_ref().map(Text::as_str));
    match advice {
        Some(advice) => failure.hint(advice.to_owned()),
        None => failure,
    }
}

/// Something else answered, such as a proxy.
fn foreign(server: &ServerUrl, answer: &Answer) -> Failure {
    let text = String::from_utf8_lossy(&answer.body);
    let start: String =
        text.lines().next().unwrap_or_default().trim().chars().take(FOREIGN_CHARACTERS_MAX).collect();
    let start = if start.is_empty() { String::new() } else { format!(": {}", Text::new(&start)) };
    Failure::new(format!("{server} answered {}{start}", answer.status)).hint(IS_IT_HAPAX)
}

/// The answer is one that this program cannot read. What the error says may be a part of it.
pub(super) fn unreadable(server: &ServerUrl, error: &dyn Error) -> Failure {
    Failure::new(format!("could not read the answer of {server}: {}", Text::new(&error.to_string())))
        .hint("is that a Hapax server of this version? --json prints what it answers as it is")
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;

    use super::*;
    use crate::output::Moment;

    fn server() -> ServerUrl {
        ServerUrl::parse("http://127.0.0.1:8080").unwrap()
    }

    #[track_caller]
    fn check(status: u16, body: &'static str, expected: &str) {
        let answer = Answer { status: StatusCode::from_u16(status).unwrap(), body: body.into() };
        assert_eq!(refused(&server(), &answer).to_string(), expected);
    }

    #[test]
    fn a_server_that_is_not_there_is_named_with_what_to_do() {
        let error = Unanswered::NoConnection(io::ErrorKind::ConnectionRefused.into());
        assert_eq!(
            unanswered(&server(), &error).to_string(),
            "hapax: could not reach http://127.0.0.1:8080: connection refused\n  \
             hint: is `hapax serve` running there? --server says where it is"
        );
    }

    #[test]
    fn a_silent_server_is_told_from_an_absent_one() {
        assert_eq!(
            unanswered(&server(), &Unanswered::SlowConnection).sentence(),
            "could not reach http://127.0.0.1:8080: no connection within 5 s"
        );
        let silent = unanswered(&server(), &Unanswered::SlowAnswer);
        assert_eq!(silent.sentence(), "http://127.0.0.1:8080: no answer within 30 s");
        assert!(silent.advice().unwrap().contains("may or may not have happened"));
    }

    #[test]
    fn an_error_shows_status_code_message_and_hint() {
        check(
            404,
            r#"{"error":{"code":"conflict","message":"it is \"ab\"","hint":"Look."}}"#,
            "hapax: the server refused (404 conflict): it is \"ab\"\n  hint: Look.",
        );
        check(
            500,
            r#"{"error":{"code":"backend_error","message":"the store failed"}}"#,
            "hapax: the server failed (500 backend_error): the store failed",
        );
    }

    #[test]
    fn the_field_is_named_once() {
        let expected = "hapax: the server refused (400 invalid_request): type: is required\n  \
                        hint: correct what the message names; --help shows what the command takes";
        check(
            400,
            r#"{"error":{"code":"invalid_request","message":"type: is required","details":{"field":"type"}}}"#,
            expected,
        );
        check(
            400,
            r#"{"error":{"code":"invalid_request","message":"is required","details":{"field":"type"}}}"#,
            expected,
        );
    }

    #[test]
    fn a_flag_is_called_as_it_was_typed() {
        check(
            400,
            r#"{"error":{"code":"invalid_request","message":"query.older_than: must be seconds",
                "hint":"Correct the member that details.field names.","details":{"field":"query.older_than"}}}"#,
            "hapax: the server refused (400 invalid_request): --older-than: must be seconds\n  \
             hint: --help shows what the flag takes",
        );
    }

    #[test]
    fn a_missing_key_leads_to_the_ways_to_give_one() {
        check(
            401,
            r#"{"error":{"code":"unauthenticated","message":"no key","hint":"Send the header."}}"#,
            "hapax: the server refused (401 unauthenticated): no key\n  \
             hint: put a key of the server into HAPAX_API_KEY, or name its file with --api-key-file",
        );
    }

    #[test]
    fn control_characters_of_a_server_do_not_reach_the_terminal() {
        check(
            400,
            r#"{"error":{"code":"a","message":"b\u001b[2Jc\u202e","hint":"d\n\u0007"}}"#,
            "hapax: the server refused (400 a): b\\u{1b}[2Jc\\u{202e}\n  hint: d\\n\\u{7}",
        );
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_quoted_harmlessly() {
        let error = serde_json::from_str::<Moment>(r#""\u001b[2J""#).unwrap_err();
        let failure = unreadable(&server(), &error).to_string();
        assert!(failure.contains(r#"8080: "\u{1b}[2J" is not an RFC 3339 time"#), "{failure}");
    }

    #[test]
    fn an_answer_of_something_else_is_shown_in_short() {
        check(
            502,
            "<html>\u{1b}\n<body>",
            "hapax: http://127.0.0.1:8080 answered 502 Bad Gateway: <html>\\u{1b}\n  \
             hint: is that the address of a Hapax server? --server says where it is",
        );
        check(
            404,
            "",
            "hapax: http://127.0.0.1:8080 answered 404 Not Found\n  \
             hint: is that the address of a Hapax server? --server says where it is",
        );
    }
}
