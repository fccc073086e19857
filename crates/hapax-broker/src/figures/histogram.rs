//! How long things took, roughly: counts by ranges that grow with the time.

use std::time::Duration;

/// Ranges per doubling of the time: a figure is at most a quarter too large.
const PARTS: u64 = 4;
/// The last range, from a day or so on, has no end.
const RANGES_MAX: u8 = 104;

/// Counts by range; only ranges in which there is something take room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Histogram {
    /// By range, in order.
    counts: Vec<(u8, u32)>,
    total: u64,
    millis: u64,
}

impl Histogram {
    pub(super) fn add(&mut self, span: Duration) {
        let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        self.total += 1;
        self.millis = self.millis.saturating_add(millis);
        self.count(range(millis), 1);
    }

    pub(super) fn merge(&mut self, other: &Histogram) {
        self.total += other.total;
        self.millis = self.millis.saturating_add(other.millis);
        for (range, count) in &other.counts {
            self.count(*range, *count);
        }
    }

    fn count(&mut self, range: u8, more: u32) {
        match self.counts.binary_search_by_key(&range, |(known, _)| *known) {
            Ok(index) => self.counts[index].1 = self.counts[index].1.saturating_add(more),
            Err(index) => self.counts.insert(index, (range, more)),
        }
    }

    /// So many of a hundred took at most this long, in milliseconds: the end of the range in which the last of them is.
    pub(super) fn percentile(&self, percent: u64) -> Option<u64> {
        let wanted = (self.total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let found = self.counts.iter().find(|(_, count)| {
            seen += u64::from(*count);
            seen >= wanted
        });
        found.map(|(range, _)| end(*range))
    }

    #[expect(clippy::cast_precision_loss, reason = "an average needs no more digits than a double has")]
    pub(super) fn average(&self) -> Option<f64> {
        (self.total > 0).then(|| self.millis as f64 / self.total as f64)
    }
}

/// The first milliseconds have a range each; from there on every doubling has as many ranges.
fn range(millis: u64) -> u8 {
    if millis < PARTS {
        return u8::try_from(millis).unwrap_or(0);
    }
    let doublings = u64::from(millis.ilog2());
    let part = (millis >> (doublings - u64::from(PARTS.ilog2()))) - PARTS;
    let index = (doublings - u64::from(PARTS.ilog2()) + 1) * PARTS + part;
    u8::try_from(index).unwrap_or(RANGES_MAX).min(RANGES_MAX)
}

/// The largest time of a range.
fn end(range: u8) -> u64 {
    let range = u64::from(range);
    if range < PARTS {
        return range;
    }
    let (doubling, part) = (range / PARTS - 1, range % PARTS);
    ((PARTS + part + 1) << doubling) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(millis: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        millis.into_iter().for_each(|millis| histogram.add(Duration::from_millis(millis)));
        histogram
    }

    #[test]
    fn ranges_follow_each_other_without_a_gap() {
        for millis in 0..100_000 {
            let own = range(millis);
            assert!(end(own) >= millis, "{millis}");
            assert!(own == 0 || end(own - 1) < millis, "{millis}");
        }
        assert_eq!(range(u64::MAX), RANGES_MAX);
    }

    #[test]
    fn a_figure_is_at_most_a_quarter_too_large() {
        for millis in [5, 17, 100, 999, 12_345, 3_600_000, 80_000_000] {
            let found = of([millis]).percentile(50).unwrap();
            assert!(found >= millis && found <= millis + millis / 4, "{millis}: {found}");
        }
    }

    #[test]
    fn percentiles_are_of_all_that_was_added() {
        let histogram = of((0..100).map(|n| if n < 95 { 1 } else { 1000 }));
        assert_eq!(histogram.percentile(50), Some(1));
        assert_eq!(histogram.percentile(95), Some(1));
        assert_eq!(histogram.percentile(99), Some(1023));
        assert_eq!(of([]).percentile(50), None);
    }

    #[test]
    fn averages_are_exact() {
        assert_eq!(of([1, 2, 6]).average(), Some(3.0));
        assert_eq!(of([]).average(), None);
    }

    #[test]
    fn two_histograms_are_one() {
        let mut both = of([1, 5, 900]);
        both.merge(&of([5, 7]));
        assert_eq!(both, of([1, 5, 900, 5, 7]));
    }
}
