//! The names and buckets of everything that is counted.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::{DurationLabels, RouteLabels};

/// Everything that is counted, and the registry that prints it.
#[derive(Debug)]
pub(super) struct Registered {
    registry: Registry,
    pub(super) jobs: Jobs,
    pub(super) commits: Commits,
    pub(super) gauges: Gauges,
    pub(super) http: Http,
    pub(super) spans: Family<OutcomeLabel, Counter>,
}

/// What happened to jobs.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    pub(super) enqueued: Counter,
    pub(super) scheduled: Counter,
    pub(super) started: Counter,
    pub(super) completed: Counter,
    pub(super) failed: Counter,
    pub(super) retried: Counter,
    pub(super) discarded: Counter,
    pub(super) cancelled: Counter,
    pub(super) expired: Counter,
    pub(super) out_of_time: Counter,
    pub(super) rate_limited: Counter,
    pub(super) rate_dropped: Counter,
    pub(super) heartbeats: Counter,
    pub(super) progress_reports: Counter,
    pub(super) checkpoints: Counter,
    pub(super) deduplicated: Counter,
    pub(super) keys_released: Counter,
    pub(super) conflicts: Family<StrategyLabel, Counter>,
    pub(super) wait_seconds: Buckets,
    pub(super) run_seconds: Buckets,
}

/// How the store's commits went.
#[derive(Debug)]
pub(super) struct Commits {
    pub(super) operations: Histogram,
    pub(super) apply_seconds: Histogram,
    pub(super) sync_seconds: Histogram,
}

/// What others count themselves.
#[derive(Debug, Default)]
pub(super) struct Gauges {
    pub(super) jobs: Family<StateLabel, Gauge>,
    pub(super) keys_held: Gauge,
    pub(super) dead_letters: Gauge,
    pub(super) streams: Gauge,
}

/// Requests.
#[derive(Debug)]
pub(super) struct Http {
    pub(super) requests: Family<RouteLabels, Counter>,
    pub(super) seconds: Family<DurationLabels, Histogram, Latency>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct StrategyLabel {
    pub(super) strategy: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OutcomeLabel {
    pub(super) outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct StateLabel {
    pub(super) state: &'static str,
}

/// From a tenth of a quick sync to a disk in trouble.
const COMMIT_SECONDS: [f64; 9] = [0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.005, 0.02, 0.1, 1.0];

/// A histogram over the times that jobs take: 5 ms to two hours.
#[derive(Debug)]
pub(super) struct Buckets(pub(super) Histogram);

impl Default for Buckets {
    fn default() -> Self {
        Buckets(Histogram::new([0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0, 300.0, 1800.0, 7200.0]))
    }
}

/// Makes histograms over the times that requests take: 200 µs to 30 s.
#[derive(Debug, Clone)]
pub(super) struct Latency;

impl MetricConstructor<Histogram> for Latency {
    fn new_metric(&self) -> Histogram {
        Histogram::new([0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1.0, 5.0, 30.0])
    }
}

impl Registered {
    pub(super) fn new() -> Registered {
        let mut registered = Registered {
            registry: Registry::with_prefix("ojs"),
            jobs: Jobs::default(),
            commits: Commits {
                operations: Histogram::new([1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0]),
                apply_seconds: Histogram::new(COMMIT_SECONDS),
                sync_seconds: Histogram::new(COMMIT_SECONDS),
            },
            gauges: Gauges::default(),
            http: Http { requests: Family::default(), seconds: Family::new_with_constructor(Latency) },
            spans: Family::default(),
        };
        registered.register_jobs();
        registered.register_rest();
        registered
    }

    fn register_jobs(&mut self) {
        let Self { registry, jobs, .. } = self;
        let counters = [
            ("jobs_enqueued", "Jobs that became available", &jobs.enqueued),
            ("jobs_scheduled", "Jobs that wait for their start time", &jobs.scheduled),
            ("jobs_started", "Deliveries to workers", &jobs.started),
            ("jobs_completed", "Jobs that were done", &jobs.completed),
            ("jobs_failed", "Attempts that failed", &jobs.failed),
            ("jobs_retried", "Failed attempts that another one follows", &jobs.retried),
            ("jobs_discarded", "Jobs that were given up", &jobs.discarded),
            ("jobs_cancelled", "Jobs that were called off", &jobs.cancelled),
            ("jobs_expired", "Jobs that nobody started in time", &jobs.expired),
            ("jobs_out_of_time", "Limits on time that jobs or attempts passed", &jobs.out_of_time),
            ("rate_limit_exceeded", "Jobs for which a rate limit left no room", &jobs.rate_limited),
            ("rate_limit_dropped", "Jobs that a rate limit ended", &jobs.rate_dropped),
            ("jobs_deduplicated", "Incoming jobs that a holder of their key answered", &jobs.deduplicated),
            ("unique_keys_released", "Jobs from which an operator took their key", &jobs.keys_released),
            ("heartbeats", "Leases that were extended", &jobs.heartbeats),
            ("progress_reports", "Reports of workers on how far they have come", &jobs.progress_reports),
            ("checkpoints", "Checkpoints that were saved", &jobs.checkpoints),
        ];
        for (name, help, counter) in counters {
            registry.register(name, help, counter.clone());
        }
        registry.register(
            "unique_conflicts",
            "Incoming jobs that met a holder of their key, by what decided",
            jobs.conflicts.clone(),
        );
        registry.register(
            "job_wait_seconds",
            "How long jobs were available before a worker took them",
            jobs.wait_seconds.0.clone(),
        );
        registry.register(
            "job_duration_seconds",
            "How long attempts took, failed ones included",
            jobs.run_seconds.0.clone(),
        );
    }

    fn register_rest(&mut self) {
        let Self { registry, jobs: _, commits, gauges, http, spans } = self;
        registry.register("jobs", "Jobs by state", gauges.jobs.clone());
        registry.register(
            "unique_keys_held",
            "Jobs that carry a key and have not ended",
            gauges.keys_held.clone(),
        );
        registry.register("dead_letters", "Jobs in the dead-letter list", gauges.dead_letters.clone());
        registry.register("streams", "Clients that listen to events", gauges.streams.clone());
        registry.register("commit_operations", "Operations that shared a commit", commits.operations.clone());
        registry.register(
            "commit_apply_seconds",
            "How long applying and writing a commit took",
            commits.apply_seconds.clone(),
        );
        registry.register(
            "commit_sync_seconds",
            "How long making a commit durable took",
            commits.sync_seconds.clone(),
        );
        registry.register("http_requests", "Requests by route and class of status", http.requests.clone());
        registry.register("http_request_duration_seconds", "How long requests took", http.seconds.clone());
        registry.register("spans", "Spans for a collector, by what became of them", spans.clone());
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::with_capacity(32 * 1024);
        let written = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        debug_assert!(written.is_ok(), "memory takes every write");
        text
    }
}
