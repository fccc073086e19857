//! One answer of the server, with the questions that tests ask of it.

use std::collections::BTreeMap;
use std::ops::Index;

use serde_json::Value;
use serde_json::value::RawValue;

/// A response, read completely.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: String,
    /// The body as JSON; null if it is none.
    pub json: Value,
}

impl Answer {
    /// The answer with this head and body.
    pub fn new(status: u16, headers: Vec<(String, String)>, body: String) -> Answer {
        let json = serde_json::from_str(&body).unwrap_or(Value::Null);
        Answer { status, headers, body, json }
    }

    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Panics unless the answer has this status.
    #[track_caller]
    pub fn is(&self, status: u16) -> &Answer {
        assert_eq!(self.status, status, "answered with {}: {}", self.status, self.body);
        self
    }

    /// Panics unless this is an error in the documented envelope, with this status and code.
    #[track_caller]
    pub fn is_refusal(&self, status: u16, code: &str) -> &Answer {
        self.is_error(status);
        assert_eq!(self["error"]["code"], code, "{}", self.body);
        self
    }

    /// Panics unless this is an error in the documented envelope, with this status.
    #[track_caller]
    pub fn is_error(&self, status: u16) -> &Answer {
        self.is(status);
        let error = &self["error"];
        assert!(error["code"].as_str().is_some_and(|code| !code.is_empty()), "no code: {}", self.body);
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "no message: {}", self.body);
        assert!(error["retryable"].is_boolean(), "no retryable: {}", self.body);
        let request_id = error["request_id"].as_str();
        assert!(request_id.is_some(), "no request_id: {}", self.body);
        assert_eq!(request_id, self.header("x-request-id"), "the header and the envelope differ");
        self
    }

    /// The text of an error's message.
    #[track_caller]
    pub fn message(&self) -> &str {
        self.text("/error/message")
    }

    /// The id of the job that the answer shows.
    #[track_caller]
    pub fn id(&self) -> String {
        self.text("/job/id").to_owned()
    }

    /// The string at a JSON pointer.
    #[track_caller]
    pub fn text(&self, pointer: &str) -> &str {
        let text = self.json.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_else(|| panic!("{} without a string at {pointer}: {}", self.status, self.body))
    }

    /// The items of the array at a JSON pointer.
    #[track_caller]
    pub fn list(&self, pointer: &str) -> &[Value] {
        let list = self.json.pointer(pointer).and_then(Value::as_array);
        list.unwrap_or_else(|| panic!("{} without an array at {pointer}: {}", self.status, self.body))
    }

    /// The bytes of a member, by its path, exactly as the server sent them.
    #[track_caller]
    pub fn raw(&self, path: &[&str]) -> String {
        let mut text = self.body.clone();
        for name in path {
            let members: BTreeMap<String, Box<RawValue>> =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
            let member = members.get(*name).unwrap_or_else(|| panic!("no {name} in {text}"));
            text = member.to_string();
        }
        text
    }
}

impl Index<&str> for Answer {
    type Output = Value;

    /// A member of the body; null if there is none.
    fn index(&self, name: &str) -> &Value {
        self.json.get(name).unwrap_or(&Value::Null)
    }
}
