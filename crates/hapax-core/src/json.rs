//! Strict JSON, read once, with every value's own text kept.
//!
//! Hapax gives back `args`, `meta` and `result` byte for byte, computes keys from exact integers, refuses an
//! object that names a member twice, and must survive hostile nesting. One pass here answers all four. With
//! `serde_json` each would cost something: its numbers are `i64`, `u64` or `f64`, so a 20-digit integer is
//! rounded; its maps keep the last of two equal names without a word; and its `RawValue`, which does keep the
//! text, has to be scanned again at every level one looks into.
//!
//! The grammar is RFC 8259 without extensions. Three things it leaves open are refused, because two readers
//! would see two different jobs: a name that occurs twice, half of a surrogate pair, a byte order mark.

pub(crate) mod fault;
mod node;
mod reader;
pub(crate) mod string;
#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use fault::Excerpt;

/// What a document may cost before it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many arrays and objects may stand inside one another; never more than [`Limits::DEPTH_CEILING`].
    pub depth_max: usize,
}

impl Limits {
    /// What every request gets.
    pub const DEFAULT: Self = Self { depth_max: 64 };

    /// What stored text gets, which this reader has accepted before. Values of requests may stand deeper in it than they came.
    pub const STORED: Self = Self { depth_max: Self::DEPTH_CEILING };

    /// Reading, writing and dropping recurse once per level; this many fit the smallest thread stack we use.
    pub const DEPTH_CEILING: usize = 512;

    pub(crate) fn depth(self) -> usize {
        self.depth_max.min(Self::DEPTH_CEILING)
    }
}

/// Reads one JSON value with nothing but white space around it.
pub fn read(text: &str, limits: Limits) -> Result<Node<'_>, JsonError> {
    reader::document(text, limits.depth()).map_err(|fault| fault.locate(text, limits))
}

/// As [`read`], for bytes that nobody has checked to be UTF-8.
pub fn read_bytes(bytes: &[u8], limits: Limits) -> Result<Node<'_>, JsonError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => read(text, limits),
        Err(error) => Err(JsonError::InvalidUtf8 { offset: error.valid_up_to() }),
    }
}

/// A value and the text it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'a> {
    /// The exact source of this value, without the white space around it.
    pub raw: &'a str,
    /// What it says.
    pub value: Value<'a>,
}

/// The six kinds of JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The number as it was written: a conversion here would already lose digits.
    Number(&'a str),
    /// Unescaped; borrowed when the source had no escapes.
    String(Cow<'a, str>),
    /// In the order of the source.
    Array(Vec<Node<'a>>),
    /// In the order of the source; no name occurs twice.
    Object(Vec<Member<'a>>),
}

/// One name of an object with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<'a> {
    /// Unescaped, as in [`Value::String`].
    pub name: Cow<'a, str>,
    /// The value.
    pub node: Node<'a>,
}

/// JSON text that is known to be valid and is passed on unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(Arc<str>);

impl Json {
    /// Keeps `text` if it is one valid value, without the white space around it.
    pub fn parse_checked(text: &str, limits: Limits) -> Result<Self, JsonError> {
        Ok(read(text, limits)?.to_json())
    }

    /// Takes text that this reader has accepted before, such as a column that was written from a [`Json`].
    pub fn from_trusted(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// The object with one more member, or with another value for it. What is not an object gives way to one: whoever sets
    /// a member finds it there.
    #[must_use]
    pub fn with_member(&self, name: &str, value: &Json) -> Json {
        let node = read(self.as_str(), Limits::STORED).ok();
        let members = node.as_ref().and_then(Node::as_object).unwrap_or_default();
        let mut text = String::with_capacity(self.0.len() + name.len() + value.0.len() + 4);
        text.push('{');
        for member in members.iter().filter(|member| member.name != name) {
            crate::canonical::write_string(&member.name, &mut text);
            text.push(':');
            text.push_str(member.node.raw);
            text.push(',');
        }
        crate::canonical::write_string(name, &mut text);
        text.push(':');
        text.push_str(&value.0);
        text.push('}');
        Json::from_trusted(&text)
    }

    /// A string.
    pub fn string(text: &str) -> Json {
        let mut json = String::with_capacity(text.len() + 2);
        crate::canonical::write_string(text, &mut json);
        Json::from_trusted(&json)
    }

    /// `{}`.
    pub fn empty_object() -> Self {
        Self::from_trusted("{}")
    }

    /// `null`.
    pub fn null() -> Self {
        Self::from_trusted("null")
    }

    /// The text, as it was read.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not a document we take. Lines and columns count from one, columns in characters; offsets count
/// bytes from zero.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages and the sentence above say it once for all variants")]
pub enum JsonError {
    #[error("expected {expected}, found {found} at line {line}, column {column}")]
    Syntax { offset: usize, line: usize, column: usize, expected: &'static str, found: Found },
    #[error("nested deeper than {limit} levels at byte {offset}")]
    TooDeep { limit: usize, offset: usize },
    #[error("member {} occurs twice in one object, again at line {line}, column {column}", Excerpt(.name))]
    DuplicateMember { name: Box<str>, offset: usize, line: usize, column: usize },
    #[error("not UTF-8 at byte {offset}")]
    InvalidUtf8 { offset: usize },
}

/// What stood where something else was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing more.
    End,
    /// This character.
    Character(char),
    /// A `\u` escape for half of a surrogate pair, the other half missing: there is no such character, so
    /// neither UTF-8 nor any store can hold it.
    LoneSurrogate(u16),
}
