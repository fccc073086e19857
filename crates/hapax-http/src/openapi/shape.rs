//! A JSON Schema in the making.

use std::fmt::Display;

use hapax_wire::writer;

/// A schema, as the text of a JSON object. Members keep their order: people read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape(String);

/// A member of an object, with its name.
#[derive(Debug, Clone)]
pub(super) struct Member {
    name: &'static str,
    shape: Shape,
    is_needed: bool,
}

/// A member that is always there.
pub(super) fn needs(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, is_needed: true }
}

/// A member that may be missing.
pub(super) fn may(name: &'static str, shape: Shape) -> Member {
    Member { name, shape, is_needed: false }
}

/// Any value.
pub(super) fn any() -> Shape {
    Shape("{}".to_owned())
}

/// The component of that name.
pub(super) fn named(name: &str) -> Shape {
    any().with("$ref", &format!("\"#/components/schemas/{name}\""))
}

/// A string.
pub(super) fn text() -> Shape {
    of("string")
}

/// A string of a known format.
pub(super) fn formatted(format: &str) -> Shape {
    text().with_text("format", format)
}

/// A moment, in the notation of RFC 3339.
pub(super) fn moment() -> Shape {
    formatted("date-time")
}

/// An ISO 8601 duration.
pub(super) fn span() -> Shape {
    formatted("duration")
}

/// Whole seconds, or an ISO 8601 duration.
pub(super) fn seconds_or_span() -> Shape {
    either([integer().least(0), span()])
}

pub(super) fn integer() -> Shape {
    of("integer")
}

/// A number of things.
pub(super) fn count() -> Shape {
    integer().least(0)
}

pub(super) fn number() -> Shape {
    of("number")
}

pub(super) fn flag() -> Shape {
    of("boolean")
}

/// A value that is always this text.
pub(super) fn constant(value: &str) -> Shape {
    any().with_text("const", value)
}

/// One of these texts.
pub(super) fn choice<'t>(names: impl IntoIterator<Item = &'t str>) -> Shape {
    let mut out = Vec::new();
    writer::array(&mut out, names, |name, out| writer::text(out, name));
    text().with("enum", &String::from_utf8_lossy(&out))
}

pub(super) fn list(items: Shape) -> Shape {
    let Shape(items) = items;
    of("array").with("items", &items)
}

pub(super) fn texts() -> Shape {
    list(text())
}

/// An object with members of any name.
pub(super) fn map(values: &Shape) -> Shape {
    of("object").with("additionalProperties", &values.0)
}

/// An object of which the server knows nothing.
pub(super) fn any_object() -> Shape {
    map(&Shape("true".to_owned()))
}

/// An object with these members. Others may come: whoever reads it lets them be.
pub(super) fn object(members: impl IntoIterator<Item = Member>) -> Shape {
    let members: Vec<Member> = members.into_iter().collect();
    let mut out = Vec::new();
    writer::object(&mut out, |o| {
        for member in &members {
            o.raw(member.name, &member.shape.0);
        }
    });
    let shape = of("object").with("properties", &String::from_utf8_lossy(&out));
    let needed: Vec<String> = members
        .iter()
        .filter(|member| member.is_needed)
        .map(|member| format!("\"{}\"", member.name))
        .collect();
    if needed.is_empty() { shape } else { shape.with("required", &format!("[{}]", needed.join(","))) }
}

/// A value that fits one of these, or several.
pub(super) fn either(shapes: impl IntoIterator<Item = Shape>) -> Shape {
    any().with("anyOf", &joined(shapes))
}

/// A value that fits all of these.
pub(super) fn all(shapes: impl IntoIterator<Item = Shape>) -> Shape {
    any().with("allOf", &joined(shapes))
}

/// What replies show twice: under a name, and flat beside it.
pub(super) fn twice(name: &'static str, shape: &Shape) -> Shape {
    all([object([needs(name, shape.clone())]), shape.clone()])
}

impl Shape {
    /// The schema itself.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// With a sentence for people.
    pub(super) fn about(self, text: impl Display) -> Shape {
        self.with_text("description", &text.to_string())
    }

    /// Of which no member may have another name: the server refuses it.
    pub(super) fn only(self) -> Shape {
        self.with("additionalProperties", "false")
    }

    /// Of which members with other names have this shape.
    pub(super) fn others(self, shape: &Shape) -> Shape {
        self.with("additionalProperties", &shape.0)
    }

    pub(super) fn least(self, number: impl Display) -> Shape {
        self.with("minimum", &number.to_string())
    }

    pub(super) fn most(self, number: impl Display) -> Shape {
        self.with("maximum", &number.to_string())
    }

    /// With so many items at most.
    pub(super) fn items_max(self, count: usize) -> Shape {
        self.with("maxItems", &count.to_string())
    }

    /// With so many items at least.
    pub(super) fn items_min(self, count: usize) -> Shape {
        self.with("minItems", &count.to_string())
    }

    /// With so many characters at most.
    pub(super) fn chars_max(self, count: usize) -> Shape {
        self.with("maxLength", &count.to_string())
    }

    /// Of a text that fits this regular expression.
    pub(super) fn pattern(self, pattern: &str) -> Shape {
        self.with_text("pattern", pattern)
    }

    /// With what holds if nothing is said; in JSON.
    pub(super) fn default(self, value: impl Display) -> Shape {
        self.with("default", &value.to_string())
    }

    /// The same, or null.
    pub(super) fn or_null(self) -> Shape {
        either([self, of("null")])
    }

    fn with_text(self, name: &str, value: &str) -> Shape {
        let mut out = Vec::new();
        writer::text(&mut out, value);
        self.with(name, &String::from_utf8_lossy(&out))
    }

    fn with(mut self, name: &str, value: &str) -> Shape {
        self.0.pop();
        if self.0.len() > 1 {
            self.0.push(',');
        }
        for part in ["\"", name, "\":", value, "}"] {
            self.0.push_str(part);
        }
        self
    }
}

fn of(kind: &str) -> Shape {
    any().with_text("type", kind)
}

fn joined(shapes: impl IntoIterator<Item = Shape>) -> String {
    let shapes: Vec<String> = shapes.into_iter().map(|shape| shape.0).collect();
    format!("[{}]", shapes.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_says_which_members_it_needs_in_their_order() {
        let shape = object([needs("b", text().about("a \"b\"")), may("a", count().most(3))]).only();
        assert_eq!(
            shape.as_str(),
            r#"{"type":"object","properties":{"b":{"type":"string","description":"a \"b\""},"a":{"type":"integer","minimum":0,"maximum":3}},"required":["b"],"additionalProperties":false}"#
        );
    }

    #[test]
    fn shapes_are_put_together() {
        assert_eq!(
            named("Job").or_null().as_str(),
            r##"{"anyOf":[{"$ref":"#/components/schemas/Job"},{"type":"null"}]}"##
        );
        assert_eq!(list(any()).as_str(), r#"{"type":"array","items":{}}"#);
        assert_eq!(any_object().as_str(), r#"{"type":"object","additionalProperties":true}"#);
    }
}
