//! From the broker's answers to the bodies of replies.

pub(crate) mod admission;
pub(crate) mod bulk;
pub(crate) mod event;
pub(crate) mod explanation;
pub(crate) mod key;
pub(crate) mod pagination;
pub(crate) mod queue;
pub(crate) mod refusal;
pub(crate) mod report;
