//! Names with rules: job types, queues; and the priority of a job.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// A name or number that breaks its rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not a job type.
    #[error(
        "\"{0}\" is not a job type: lower-case words of letters, digits, _ and -, each starting with a letter, \
         joined by dots, such as email.send, at most {TYPE_LENGTH_MAX} characters"
    )]
    JobType(Box<str>),
    /// Not a queue name.
    #[error(
        "\"{0}\" is not a queue name: lower-case letters, digits, . and -, starting with a letter or digit, \
         at most {QUEUE_LENGTH_MAX} characters"
    )]
    Queue(Box<str>),
    /// Out of range.
    #[error("priority {0} is not between {min} and {max}", min = Priority::MIN, max = Priority::MAX)]
    Priority(i64),
}

/// Longest job type.
const TYPE_LENGTH_MAX: usize = 255;
/// Longest queue name.
const QUEUE_LENGTH_MAX: usize = 128;

/// What kind of work a job is, such as `email.send`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobType(Arc<str>);

impl JobType {
    /// Reads a job type.
    pub fn parse(text: &str) -> Result<JobType, NameError> {
        let word = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b))
        };
        if text.len() <= TYPE_LENGTH_MAX && text.split('.').all(word) {
            Ok(JobType(text.into()))
        } else {
            Err(NameError::JobType(shortened(text)))
        }
    }

    /// The type as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where jobs wait.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueName(Arc<str>);

impl QueueName {
    /// Reads a queue name.
    pub fn parse(text: &str) -> Result<QueueName, NameError> {
        let usual = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let fits = text.len() <= QUEUE_LENGTH_MAX
            && text.bytes().next().is_some_and(usual)
            && text.bytes().all(|b| usual(b) || b".-".contains(&b));
        if fits { Ok(QueueName(text.into())) } else { Err(NameError::Queue(shortened(text))) }
    }

    /// The queue of jobs that name none.
    pub fn default_queue() -> QueueName {
        QueueName("default".into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for QueueName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Higher goes first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Priority(i8);

impl Priority {
    /// The lowest.
    pub const MIN: Priority = Priority(-100);
    /// The highest.
    pub const MAX: Priority = Priority(100);

    /// Reads a priority.
    pub fn new(number: i64) -> Result<Priority, NameError> {
        match i8::try_from(number).map(Priority) {
            Ok(priority) if (Priority::MIN..=Priority::MAX).contains(&priority) => Ok(priority),
            _ => Err(NameError::Priority(number)),
        }
    }

    /// The number.
    pub const fn get(self) -> i8 {
        self.0
    }
}

fn shortened(text: &str) -> Box<str> {
    text.chars().take(64).collect()
}

macro_rules! shows_its_text {
    ($name:ident, $field:tt) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.$field)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.$field)
            }
        }
    };
}
shows_its_text!(JobType, 0);
shows_its_text!(QueueName, 0);
shows_its_text!(Priority, 0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_types_follow_their_pattern() {
        for good in ["a", "email.send", "dlq.test.discarded-in-dlq", "a_b.c1-d"] {
            assert!(JobType::parse(good).is_ok(), "{good}");
        }
        for bad in
            ["", "Email.Send", "email send", "1email.send", "email@send!", "a..b", ".a", "a.", "a.1", "é"]
        {
            assert!(JobType::parse(bad).is_err(), "{bad}");
        }
        assert!(JobType::parse(&"a".repeat(255)).is_ok());
        assert!(JobType::parse(&"a".repeat(256)).is_err());
    }

    #[test]
    fn queue_names_follow_their_pattern() {
        for good in ["default", "a.b-c", "0"] {
            assert!(QueueName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "Default", "my_queue!", "-invalid", "my queue", ".a", "a/b"] {
            assert!(QueueName::parse(bad).is_err(), "{bad}");
        }
        assert!(QueueName::parse(&"a".repeat(129)).is_err());
    }

    #[test]
    fn priorities_end_at_one_hundred() {
        assert_eq!(Priority::new(100).unwrap().get(), 100);
        assert_eq!(Priority::new(-100).unwrap().get(), -100);
        for bad in [101, -101, 999_999, i64::MAX, i64::MIN] {
            assert_eq!(Priority::new(bad), Err(NameError::Priority(bad)));
        }
    }
}
