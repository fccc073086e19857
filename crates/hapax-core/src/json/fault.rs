//! From the place where reading stopped to an error that a person can use.

use std::fmt;

use super::{Found, JsonError, Limits};

/// An error as the reader raises it: lines and columns are counted once, outside the hot path.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) offset: usize,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Expected(&'static str),
    LoneSurrogate(u16),
    TooDeep,
    Duplicate(Box<str>),
}

impl Fault {
    pub(super) fn locate(self, text: &str, limits: Limits) -> JsonError {
        let Self { offset, what } = self;
        let (line, column) = position(text, offset);
        match what {
            What::Expected(expected) => {
                let found = text.get(offset..).and_then(|rest| rest.chars().next());
                let found = found.map_or(Found::End, Found::Character);
                JsonError::Syntax { offset, line, column, expected, found }
            }
            What::LoneSurrogate(unit) => {
                let (expected, found) = ("a whole character", Found::LoneSurrogate(unit));
                JsonError::Syntax { offset, line, column, expected, found }
            }
            What::TooDeep => JsonError::TooDeep { limit: limits.depth(), offset },
            What::Duplicate(name) => JsonError::DuplicateMember { name, offset, line, column },
        }
    }
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = 1 + before.bytes().filter(|&byte| byte == b'\n').count();
    (line, 1 + before[line_start..].chars().count())
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the end of the text"),
            Self::Character('\u{feff}') => f.write_str("a byte order mark"),
            Self::Character(c) if c.is_control() => {
                write!(f, "the control character U+{:04X}", u32::from(*c))
            }
            Self::Character(c) => write!(f, "{c:?}"),
            Self::LoneSurrogate(unit) => {
                write!(f, "\\u{unit:04x}, half of a surrogate pair without the other")
            }
        }
    }
}

/// A piece of somebody's document inside a message: quoted, without control characters, never long.
#[derive(Debug)]
pub(crate) struct Excerpt<'a>(pub(crate) &'a str);

impl Excerpt<'_> {
    const CHARS_MAX: usize = 60;
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(Self::CHARS_MAX) {
            None => write!(f, "{:?}", self.0),
            Some((end, _)) => write!(f, "{:?}…", &self.0[..end]),
        }
    }
}
