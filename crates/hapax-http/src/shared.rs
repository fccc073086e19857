//! What requests have in common: all of them, and those of one route.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use hapax_broker::Broker;
use tokio::sync::Semaphore;

use crate::auth::Auth;
use crate::body::Budget;
use crate::limits::{BODY_BUDGET_BYTES, LARGE_BODIES_MAX};
use crate::live::{Figures, Streams};
use crate::metrics::RouteMeter;
use crate::pools::Dispatches;
use crate::request_id::Minter;
use crate::schemas::Schemas;
use crate::tenancy::Tenancy;
use crate::tenants::Tenants;
use crate::{Config, Entrance, Limits, Metrics};

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) broker: Broker,
    pub(crate) metrics: Metrics,
    pub(crate) auth: Auth,
    pub(crate) entrance: Arc<Entrance>,
    pub(crate) tenants: Tenants,
    pub(crate) dispatches: Dispatches,
    pub(crate) limits: Limits,
    pub(crate) schemas: Schemas,
    pub(crate) minter: Minter,
    pub(crate) body_budget: Budget,
    pub(crate) large_bodies: Semaphore,
    pub(crate) streams: Arc<Streams>,
    pub(crate) figures: Figures,
    /// The description of all routes, once they are put together.
    pub(crate) reference: OnceLock<Bytes>,
    pub(crate) conformance: bool,
    pub(crate) backend: &'static str,
    pub(crate) durable: bool,
    pub(crate) version: &'static str,
    pub(crate) started: Instant,
}

impl Shared {
    pub(crate) fn new(config: Config, broker: Broker, metrics: Metrics) -> Shared {
        let Config { keys, conformance, entrance, limits, backend, durable, version } = config;
        #[expect(clippy::disallowed_methods, reason = "measures how long the server is up")]
        let started = Instant::now();
        Shared {
            broker,
            metrics,
            auth: Auth::new(keys),
            streams: Arc::new(Streams::new(limits.streams)),
            figures: Figures::default(),
            entrance: Arc::new(if conformance { entrance.for_the_suite() } else { entrance }),
            tenants: Tenants::default(),
            dispatches: Dispatches::default(),
            limits,
            schemas: Schemas::new(),
            minter: Minter::new(),
            body_budget: Budget::new(BODY_BUDGET_BYTES),
            large_bodies: Semaphore::new(LARGE_BODIES_MAX),
            reference: OnceLock::new(),
            conformance,
            backend,
            durable,
            version,
            started,
        }
    }
}

/// A route as far as all routes are alike.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) shared: Arc<Shared>,
    /// The path with its variable part in braces.
    pub(crate) template: &'static str,
    pub(crate) access: Access,
    pub(crate) body: BodyRule,
    pub(crate) query: QueryRule,
    pub(crate) tenancy: Tenancy,
    pub(crate) meter: RouteMeter,
}

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody: probes, scrapers and browsers have no keys.
    Open,
    /// Whoever has a key, if the server has any.
    Keyed,
}

/// What a route does with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyRule {
    /// Nothing: it is read and thrown away.
    Unused,
    /// Nothing, but the route reads the head itself: what it answers with may last.
    Lasting,
    /// It is about one job.
    Job,
    /// It may be about many.
    Batch,
}

/// What a route does with what stands behind the question mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryRule {
    /// The route reads it, and refuses what it does not know.
    Read,
    /// There may be none: a filter that is passed over would do more than was asked for, or show it.
    Refused,
    /// Whatever it says: what the server says of itself is the same for all, and those who look add to the address so that no
    /// cache answers.
    PassedOver,
}
