//! Writing a line: one object, its members in the order in which they are given.

use serde_json::to_string;

/// A line that is being written.
#[derive(Debug, Default)]
pub(super) struct Object(String);

impl Object {
    /// Begins another line in the room of the one before.
    pub(super) fn begin(&mut self) {
        self.0.clear();
        self.0.push('{');
    }

    /// The line, without a line break.
    pub(super) fn end(&mut self) -> &str {
        self.0.push('}');
        &self.0
    }

    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        #[expect(clippy::expect_used, reason = "every text has a JSON form")]
        self.0.push_str(&to_string(text).expect("a text is JSON"));
    }

    pub(super) fn number(&mut self, name: &str, number: impl itoa::Integer) {
        self.name(name);
        self.0.push_str(itoa::Buffer::new().format(number));
    }

    pub(super) fn number_if(&mut self, name: &str, number: Option<impl itoa::Integer>) {
        if let Some(number) = number {
            self.number(name, number);
        }
    }

    pub(super) fn flag(&mut self, name: &str, is_set: bool) {
        self.name(name);
        self.0.push_str(if is_set { "true" } else { "false" });
    }

    /// JSON that stays as it is, byte for byte. What was sent in several lines cannot stand in one, so it is written as a
    /// text, and its name says so.
    pub(super) fn json(&mut self, name: &str, json: &str) {
        if json.contains(['\n', '\r']) {
            self.text(&text_name(name), json);
        } else {
            self.name(name);
            self.0.push_str(json);
        }
    }

    pub(super) fn json_if(&mut self, name: &str, json: Option<&str>) {
        if let Some(json) = json {
            self.json(name, json);
        }
    }

    fn name(&mut self, name: &str) {
        if !self.0.ends_with('{') || self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push('"');
        self.0.push_str(name);
        self.0.push_str("\":");
    }
}

/// The name of a member that holds JSON as a text.
pub(super) fn text_name(name: &str) -> String {
    format!("{name}_text")
}
