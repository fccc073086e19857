//! What a run of load counted, per connection and then in sum.

use std::time::Instant;

use anyhow::{Result, bail, ensure};

use crate::client::Answer;
use crate::clock::Window;
use crate::histogram::Histogram;

const SURPRISE_BYTES_SHOWN: usize = 300;

#[derive(Debug)]
pub(crate) struct Tally {
    window: Window,
    units: u64,
    /// Of those that ended outside of the window as well.
    all_units: u64,
    latencies: Histogram,
    surprises: u64,
    first_surprise: Option<String>,
    /// Jobs enqueued minus jobs acked, warm-up included: how many more wait on the server afterwards.
    pub(crate) waiting_change: i64,
}

/// The figures of one measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) per_second: f64,
    /// How many operations there were, warm-up and late ones included: what the processor worked for.
    pub(crate) operations: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) waiting_change: i64,
}

impl Tally {
    pub(crate) fn new(window: Window) -> Self {
        let latencies = Histogram::new();
        Self {
            window,
            units: 0,
            all_units: 0,
            latencies,
            surprises: 0,
            first_surprise: None,
            waiting_change: 0,
        }
    }

    /// Counts an operation that made `units` of what the case counts, if it ended inside the window.
    pub(crate) fn record(&mut self, started: Instant, ended: Instant, units: u64) {
        self.all_units += units;
        if self.window.contains(ended) {
            self.units += units;
            self.latencies.record(ended - started);
        }
    }

    pub(crate) fn check(&mut self, answer: &Answer<'_>, expected: u16) {
        if answer.status != expected {
            self.surprise(&format!("expected {expected}"), answer);
        }
    }

    pub(crate) fn surprise(&mut self, what: &str, answer: &Answer<'_>) {
        self.surprises += 1;
        self.first_surprise.get_or_insert_with(|| {
            let shown = &answer.body[..answer.body.len().min(SURPRISE_BYTES_SHOWN)];
            format!("{what}, got {}: {}", answer.status, String::from_utf8_lossy(shown))
        });
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.units += other.units;
        self.all_units += other.all_units;
        self.latencies.merge(&other.latencies);
        self.surprises += other.surprises;
        self.first_surprise = self.first_surprise.take().or(other.first_surprise);
        self.waiting_change += other.waiting_change;
    }

    /// A run with a single unexpected answer measured something else than it claims, so it has no figures.
    pub(crate) fn into_sample(self) -> Result<Sample> {
        if let Some(first) = self.first_surprise {
            bail!("{} unexpected answers; the first: {first}", self.surprises);
        }
        ensure!(self.units > 0, "nothing was completed inside the measured window");
        #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds are far below 2^52")]
        let (units, operations) = (self.units as f64, self.all_units as f64);
        Ok(Sample {
            per_second: units / self.window.seconds(),
            operations,
            p50_us: self.latencies.percentile_us(50),
            p99_us: self.latencies.percentile_us(99),
            waiting_change: self.waiting_change,
        })
    }
}
