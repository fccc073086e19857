//! Latencies in logarithmic buckets: constant memory, and a recording costs a few instructions.

use std::time::Duration;

/// Buckets per power of two; a quantile is off by less than one part in this many.
const STEPS: usize = 64;
const STEP_BITS: u32 = STEPS.trailing_zeros();

#[derive(Debug)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; STEPS * 64], total: 0 }
    }

    pub(crate) fn record(&mut self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanos)] += 1;
        self.total += 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
    }

    /// The latency that `percent` of the recordings do not exceed, in microseconds; 0 when nothing was recorded.
    pub(crate) fn percentile_us(&self, percent: u64) -> f64 {
        let rank = (self.total * percent).div_ceil(100);
        let mut seen = 0;
        let reached = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank && seen > 0
        });
        reached.map_or(0.0, |index| Duration::from_nanos(floor(index)).as_secs_f64() * 1e6)
    }
}

/// Values below `STEPS` have a bucket each; above, the top bits after the leading one choose the step.
fn bucket(nanos: u64) -> usize {
    let exponent = (nanos | 1).ilog2();
    if exponent < STEP_BITS {
        return usize::try_from(nanos).unwrap_or(0);
    }
    let shift = exponent - STEP_BITS;
    let step = usize::try_from(nanos >> shift).unwrap_or(0) - STEPS;
    (shift as usize + 1) * STEPS + step
}

/// The smallest value of a bucket.
fn floor(index: usize) -> u64 {
    let (row, step) = (index / STEPS, (index % STEPS) as u64);
    if row == 0 { step } else { (STEPS as u64 + step) << (row - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_starts_where_its_floor_is() {
        for nanos in [0, 1, 63, 64, 65, 1_000, 123_456, 7_000_000_000, u64::MAX] {
            let low = floor(bucket(nanos));
            assert!(low <= nanos && nanos - low <= nanos / STEPS as u64, "{nanos} falls to {low}");
        }
    }

    #[test]
    fn percentiles_are_those_of_the_recordings() {
        let mut histogram = Histogram::new();
        (1..=100).for_each(|millis| histogram.record(Duration::from_millis(millis)));
        assert!((histogram.percentile_us(50) - 50_000.0).abs() < 1_000.0);
        assert!((histogram.percentile_us(99) - 99_000.0).abs() < 2_000.0);
    }

    #[test]
    fn an_empty_histogram_has_no_latency() {
        assert!(Histogram::new().percentile_us(99).abs() < f64::EPSILON);
    }
}
