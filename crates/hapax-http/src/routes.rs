//! The routes: one file for each thing a client can ask for.

pub(crate) mod admin;
pub(crate) mod dead_letter;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod job_keys;
pub(crate) mod jobs;
pub(crate) mod manifest;
pub(crate) mod metrics;
pub(crate) mod queues;
pub(crate) mod unique;
pub(crate) mod workers;
