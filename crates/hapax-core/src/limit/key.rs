//! The name that limited jobs share.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use crate::QueueName;

/// Jobs with the same key share their limits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LimitKey(Arc<str>);

/// A text that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is not the key of a rate limit: letters, digits, . _ : and -, a letter or digit first, at most {max} \
     characters",
    max = LimitKey::LENGTH_MAX
)]
pub struct LimitKeyError(Box<str>);

/// Before the name of a queue whose jobs limit themselves. No client can write it.
const OF_JOBS: &str = "@queue:";
/// Before the name of a queue that an operator limits.
const OF_QUEUE: &str = "@queue-limit:";

impl LimitKey {
    /// Longest key.
    pub const LENGTH_MAX: usize = 255;

    /// Reads a key of a client.
    pub fn parse(text: &str) -> Result<LimitKey, LimitKeyError> {
        let usual = |byte: u8| byte.is_ascii_alphanumeric();
        let fits = text.len() <= LimitKey::LENGTH_MAX
            && text.bytes().next().is_some_and(usual)
            && text.bytes().all(|byte| usual(byte) || b"._:-".contains(&byte));
        if fits { Ok(LimitKey(text.into())) } else { Err(LimitKeyError(text.chars().take(64).collect())) }
    }

    /// Reads a key that a client names, also one that the server made.
    pub fn parse_any(text: &str) -> Result<LimitKey, LimitKeyError> {
        match text.strip_prefix(OF_JOBS).or_else(|| text.strip_prefix(OF_QUEUE)) {
            Some(queue) if QueueName::parse(queue).is_ok() => Ok(LimitKey(text.into())),
            _ => LimitKey::parse(text),
        }
    }

    /// What jobs of a queue share that name no key.
    pub fn of_jobs_in(queue: &QueueName) -> LimitKey {
        LimitKey(format!("{OF_JOBS}{queue}").into())
    }

    /// What all jobs of a queue share by the will of its operator.
    pub fn of_queue(queue: &QueueName) -> LimitKey {
        LimitKey(format!("{OF_QUEUE}{queue}").into())
    }

    /// The queue that an operator limits by this key.
    pub fn limited_queue(&self) -> Option<QueueName> {
        self.0.strip_prefix(OF_QUEUE).and_then(|queue| QueueName::parse(queue).ok())
    }

    /// The same for a job that is in another queue by now.
    pub(crate) fn moved_to(&self, queue: &QueueName) -> LimitKey {
        if self.0.starts_with(OF_JOBS) { LimitKey::of_jobs_in(queue) } else { self.clone() }
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for LimitKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LimitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for LimitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
