//! Queues: look at, pause, resume, delete.

pub(crate) mod delete;
pub(crate) mod events;
pub(crate) mod list;
pub(crate) mod pause;
pub(crate) mod priority_stats;
pub(crate) mod resume;
pub(crate) mod settings;
pub(crate) mod show;
pub(crate) mod stats;
