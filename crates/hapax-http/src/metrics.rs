//! What is counted, in the text format of Prometheus. Labels are bounded: no queue, type or worker names.

mod classic;
mod observer;
mod registry;

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use hapax_broker::Observer;
use hapax_core::State;
use hapax_store::{CommitFacts, CommitObserver, Totals};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;

pub(crate) use classic::CLASSIC;
use observer::Events;
use registry::{Commits, Gauges, Http, OutcomeLabel, Registered};

/// The server's counters.
#[derive(Debug, Clone)]
pub struct Metrics {
    registered: Arc<Registered>,
}

/// Which requests share a counter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RouteLabels {
    method: String,
    route: &'static str,
    status: &'static str,
}

/// Which requests share a histogram.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct DurationLabels {
    method: String,
    route: &'static str,
}

/// The counters of one route, found once: a look-up by labels for each request would cost more than counting.
#[derive(Debug, Clone)]
pub(crate) struct RouteMeter {
    by_class: [Counter; 3],
    seconds: Histogram,
}

/// The server answers with no others.
const CLASSES: [&str; 3] = ["2xx", "4xx", "5xx"];

impl Metrics {
    /// Counters that start at zero.
    #[expect(clippy::new_without_default, reason = "two sets of counters in one server would be a mistake")]
    pub fn new() -> Metrics {
        Metrics { registered: Arc::new(Registered::new()) }
    }

    /// Who counts what happens to jobs.
    pub fn broker_observer(&self) -> Arc<dyn Observer> {
        Arc::new(Events(Arc::clone(&self.registered)))
    }

    /// Who counts commits.
    pub fn commit_observer(&self) -> CommitObserver {
        let registered = Arc::clone(&self.registered);
        Arc::new(move |facts| {
            let CommitFacts { operations, apply, sync } = facts;
            let Commits { operations: sizes, apply_seconds, sync_seconds } = &registered.commits;
            #[expect(
                clippy::cast_precision_loss,
                reason = "a commit has fewer operations than a double has digits"
            )]
            sizes.observe(operations as f64);
            apply_seconds.observe(apply.as_secs_f64());
            sync_seconds.observe(sync.as_secs_f64());
        })
    }

    /// Counts spans by what became of them. Until the first is counted, nothing is said of any.
    pub fn count_spans(&self, outcome: &'static str, spans: u64) {
        self.registered.spans.get_or_create(&OutcomeLabel { outcome }).inc_by(spans);
    }

    pub(crate) fn route(&self, method: &str, route: &'static str) -> RouteMeter {
        let Http { requests, seconds } = &self.registered.http;
        let of_class = |status| {
            requests.get_or_create(&RouteLabels { method: method.to_owned(), route, status }).clone()
        };
        let labels = DurationLabels { method: method.to_owned(), route };
        RouteMeter { by_class: CLASSES.map(of_class), seconds: seconds.get_or_create(&labels).clone() }
    }

    /// The text of all counters, with what the store counts itself, and so many that listen.
    pub(crate) fn text(&self, totals: &Totals, listening: usize) -> String {
        let Gauges { jobs, keys_held, dead_letters, streams } = &self.registered.gauges;
        for state in State::ALL {
            jobs.get_or_create(&registry::StateLabel { state: state.name() })
                .set(signed(totals.counts.of(state)));
        }
        keys_held.set(signed(totals.keys_held));
        dead_letters.set(signed(totals.dead_letters));
        streams.set(signed(u64::try_from(listening).unwrap_or(u64::MAX)));
        classic::classic(&self.registered.text())
    }
}

impl RouteMeter {
    pub(crate) fn count(&self, status: StatusCode, took: Duration) {
        let [done, refused, failed] = &self.by_class;
        let counter = match status.as_u16() {
            500.. => failed,
            400.. => refused,
            _ => done,
        };
        counter.inc();
        self.seconds.observe(took.as_secs_f64());
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
