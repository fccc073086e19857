//! The routes: one file for each thing a client can ask for.

pub(crate) mod admin;
pub(crate) mod agents;
pub(crate) mod cron;
pub(crate) mod crons;
pub(crate) mod dead_letter;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod job_keys;
pub(crate) mod jobs;
pub(crate) mod manifest;
pub(crate) mod metrics;
pub(crate) mod middleware;
pub(crate) mod pools;
pub(crate) mod queues;
pub(crate) mod rate_limits;
pub(crate) mod reference;
pub(crate) mod scheduling;
pub(crate) mod schemas;
pub(crate) mod socket;
pub(crate) mod tenants;
pub(crate) mod unique;
pub(crate) mod webhooks;
pub(crate) mod workers;
pub(crate) mod workflows;
