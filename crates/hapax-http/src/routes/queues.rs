//! Queues: look at, pause, resume.

pub(crate) mod list;
pub(crate) mod pause;
pub(crate) mod resume;
pub(crate) mod show;
pub(crate) mod stats;
