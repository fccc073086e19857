//! What requests have in common: all of them, and those of one route.

use std::sync::Arc;
use std::time::Instant;

use hapax_broker::Broker;
use tokio::sync::Semaphore;

use crate::auth::Auth;
use crate::body::Budget;
use crate::limits::{BODY_BUDGET_BYTES, LARGE_BODIES_MAX};
use crate::metrics::RouteMeter;
use crate::request_id::Minter;
use crate::{Config, Limits, Metrics};

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) broker: Broker,
    pub(crate) metrics: Metrics,
    pub(crate) auth: Auth,
    pub(crate) limits: Limits,
    pub(crate) minter: Minter,
    pub(crate) body_budget: Budget,
    pub(crate) large_bodies: Semaphore,
    pub(crate) conformance: bool,
    pub(crate) backend: &'static str,
    pub(crate) durable: bool,
    pub(crate) version: &'static str,
    pub(crate) started: Instant,
}

impl Shared {
    pub(crate) fn new(config: Config, broker: Broker, metrics: Metrics) -> Shared {
        let Config { listen: _, keys, conformance, limits, backend, durable, version } = config;
        #[expect(clippy::disallowed_methods, reason = "measures how long the server is up")]
        let started = Instant::now();
        Shared {
            broker,
            metrics,
            auth: Auth::new(keys),
            limits,
            minter: Minter::new(),
            body_budget: Budget::new(BODY_BUDGET_BYTES),
            large_bodies: Semaphore::new(LARGE_BODIES_MAX),
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
    pub(crate) meter: RouteMeter,
}

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody: probes and scrapers have no keys.
    Open,
    /// Whoever has a key, if the server has any.
    Keyed,
}

/// What a route does with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyRule {
    /// Nothing: it is read and thrown away.
    Unused,
    /// It is about one job.
    Job,
    /// It may be about many.
    Batch,
}
