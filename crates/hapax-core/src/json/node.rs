//! Looking into a node.

use super::{Json, Member, Node, Value};

impl<'a> Node<'a> {
    /// The kind of value, as an error text names it.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    /// The member of that name, found by looking at one after the other.
    pub fn get(&self, name: &str) -> Option<&Node<'a>> {
        self.as_object()?.iter().find(|member| member.name == name).map(|member| &member.node)
    }

    /// Whether this is `null`; a missing member is not a node at all.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(value) = self.value { Some(value) } else { None }
    }

    /// The unescaped text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    /// The items, if this is an array.
    pub fn as_array(&self) -> Option<&[Node<'a>]> {
        if let Value::Array(items) = &self.value { Some(items) } else { None }
    }

    /// The members, if this is an object.
    pub fn as_object(&self) -> Option<&[Member<'a>]> {
        if let Value::Object(members) = &self.value { Some(members) } else { None }
    }

    /// An integer written as one: `1.0` and `1e3` are not, and neither is one beyond 64 bits.
    pub fn as_i64(&self) -> Option<i64> {
        if let Value::Number(text) = self.value { text.parse().ok() } else { None }
    }

    /// The nearest double; `None` if the number lies beyond the largest.
    pub fn as_f64(&self) -> Option<f64> {
        let Value::Number(text) = self.value else { return None };
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// This value alone, to be kept when the document is gone.
    pub fn to_json(&self) -> Json {
        Json::from_trusted(self.raw)
    }
}
