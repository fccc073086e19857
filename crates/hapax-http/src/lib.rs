//! The HTTP binding of Open Job Spec: translates requests for the broker and its answers for clients.
//!
//! Nothing here decides about a job. A request goes through one function, `exchange`, whatever its route:
//! name it, check its head, its key and its size, read it, hand it to the route, answer, count and log.
#![warn(missing_docs)]

mod config;
mod entrance;
mod limits;
mod metrics;
mod server;

mod answer;
mod auth;
mod body;
mod brief;
mod call;
mod compat;
mod connection;
mod exchange;
mod from_wire;
mod front;
mod head;
mod live;
mod openapi;
mod origin;
mod page;
mod pools;
mod problem;
mod reply;
mod request_id;
mod router;
mod routes;
mod schemas;
mod shared;
mod tenancy;
mod tenants;
mod to_wire;

#[cfg(test)]
mod testing;

pub use config::{ApiKey, Config};
pub use entrance::{Entrance, RefuseRule};
pub use limits::Limits;
pub use metrics::Metrics;
pub use server::{Bound, Reserved, listen, reserve};
pub use to_wire::event::text as event_text;
