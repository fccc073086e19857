//! What can be wrong with a line.

use hapax_core::json::JsonError;

/// Why a line is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// The line is longer than any that is written.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    /// It has another form.
    #[error("it is not JSON: {0}")]
    Form(JsonFault),
    /// It is JSON of another kind.
    #[error("it is no object with a kind of queue, job, memo or end")]
    Kind,
    /// Something is not there.
    #[error("it has no member \"{0}\"")]
    Missing(&'static str),
    /// Something is there that this program does not know.
    #[error("it has a member \"{0}\" that does not belong there; perhaps a later version wrote it")]
    Unknown(Box<str>),
    /// A value cannot be.
    #[error("its member \"{member}\" is not {expected}")]
    Wrong {
        /// Which member.
        member: Box<str>,
        /// What it should be.
        expected: &'static str,
    },
    /// Members contradict the state of the job.
    #[error("its member \"{member}\" does not go with its state: it is {found}")]
    Phase {
        /// Which member.
        member: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// It stands in the wrong place.
    #[error("it stands in the wrong place: {0}")]
    Place(&'static str),
    /// A job is in a queue of which nothing is said.
    #[error("its queue \"{0}\" has no line of its own")]
    NoQueue(Box<str>),
}

/// Why a line is not JSON, and where. The number of the line is told elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum JsonFault {
    #[error("expected {expected}, found {found} at column {column}")]
    Syntax { expected: &'static str, found: hapax_core::json::Found, column: usize },
    #[error("nested deeper than {0} levels")]
    TooDeep(usize),
    #[error("a member occurs twice in one object, again at column {0}")]
    Duplicate(usize),
    #[error("not UTF-8 at byte {0}")]
    NotUtf8(usize),
}

impl From<JsonError> for LineFault {
    fn from(error: JsonError) -> LineFault {
        LineFault::Form(match error {
            JsonError::Syntax { column, expected, found, .. } => {
                JsonFault::Syntax { expected, found, column }
            }
            JsonError::TooDeep { limit, .. } => JsonFault::TooDeep(limit),
            JsonError::DuplicateMember { column, .. } => JsonFault::Duplicate(column),
            JsonError::InvalidUtf8 { offset } => JsonFault::NotUtf8(offset),
        })
    }
}
