//! What a door answered, in one form for both.

use serde_json::Value;
use tokio_postgres::error::DbError;

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    /// It was done.
    Done(Value),
    /// It was refused: the code, the text and the details.
    Refused(String, String, Value),
}

impl Said {
    /// What the HTTP binding said.
    pub(crate) fn over_http((status, mut body): (u16, Value)) -> Said {
        forget_requests(&mut body);
        if (200..300).contains(&status) { Said::Done(body) } else { refused(&body["error"]) }
    }

    /// What a SQL function said. A duplicate that was rejected is no error to it, so that its ledger entry stays.
    pub(crate) fn over_sql(answer: Result<String, &DbError>) -> Said {
        match answer {
            Ok(text) => {
                let mut body: Value = serde_json::from_str(&text).unwrap();
                forget_requests(&mut body);
                if body["outcome"] == "rejected" { refused(&body["error"]) } else { Said::Done(body) }
            }
            Err(error) => of_error(error),
        }
    }

    /// The member at a pointer of what was done.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        match self {
            Said::Done(body) => body.pointer(pointer),
            Said::Refused(..) => None,
        }
    }
}

fn refused(error: &Value) -> Said {
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    Said::Refused(text("code"), text("message"), error["details"].clone())
}

fn of_error(error: &DbError) -> Said {
    let details: Option<Value> = error.detail().and_then(|detail| serde_json::from_str(detail).ok());
    let Some(Value::Object(mut details)) = details else { panic!("no refusal: {error:?}") };
    let code = details.remove("code").unwrap().as_str().unwrap().to_owned();
    let expected: &[&str] = match code.as_str() {
        "duplicate" | "conflict" | "lease_lost" => &["HX409"],
        "not_found" => &["HX404"],
        "payload_too_large" => &["HX413", "22023"],
        _ => &["22023"],
    };
    assert!(expected.contains(&error.code().code()), "{error:?}");
    Said::Refused(code, error.message().to_owned(), Value::Object(details))
}

/// Requests have names over HTTP only.
fn forget_requests(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("request_id");
            members.values_mut().for_each(forget_requests);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_requests),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
