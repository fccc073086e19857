//! The worker protocol: fetch, ack, nack, heartbeat.

pub(crate) mod ack;
pub(crate) mod fetch;
pub(crate) mod health;
pub(crate) mod heartbeat;
pub(crate) mod nack;
pub(crate) mod register;
