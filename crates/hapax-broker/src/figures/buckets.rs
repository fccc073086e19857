//! Buckets of one width, as many as are kept.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use hapax_core::Timestamp;

use super::bucket::Bucket;

/// The newest stretches of time, in order; those in which nothing happened take no room.
#[derive(Debug)]
pub(super) struct Buckets {
    width_ms: i64,
    kept: i64,
    filled: VecDeque<(i64, Bucket)>,
}

impl Buckets {
    /// So many of that width.
    pub(super) fn new(width: Duration, kept: u32) -> Buckets {
        let width_ms = i64::try_from(width.as_millis()).unwrap_or(i64::MAX).max(1);
        Buckets { width_ms, kept: kept.into(), filled: VecDeque::new() }
    }

    /// The bucket of that moment; nothing if it lies too far back. What comes out of order finds its place.
    pub(super) fn at(&mut self, moment: Timestamp) -> Option<&mut Bucket> {
        let number = self.number(moment);
        let newest = self.filled.back().map_or(number, |(newest, _)| *newest).max(number);
        if number <= newest - self.kept {
            return None;
        }
        while self.filled.front().is_some_and(|(oldest, _)| *oldest <= newest - self.kept) {
            self.filled.pop_front();
        }
        let index = match self.filled.binary_search_by_key(&number, |(number, _)| *number) {
            Ok(index) => index,
            Err(index) => {
                self.filled.insert(index, (number, Bucket::default()));
                index
            }
        };
        self.filled.get_mut(index).map(|(_, bucket)| bucket)
    }

    /// It is that moment: what lies so far ahead that this would be too old to be kept was noted by a clock that was wrong, and
    /// goes.
    pub(super) fn arrive_at(&mut self, moment: Timestamp) {
        let number = self.number(moment);
        while self.filled.back().is_some_and(|(newest, _)| number <= *newest - self.kept) {
            self.filled.pop_back();
        }
    }

    /// The number of the bucket of a moment.
    pub(super) fn number(&self, moment: Timestamp) -> i64 {
        moment.millis().div_euclid(self.width_ms)
    }

    /// The first moment of a bucket.
    pub(super) fn start(&self, number: i64) -> Timestamp {
        Timestamp::from_millis(number.saturating_mul(self.width_ms))
    }

    /// What happened in all of these together.
    pub(super) fn sum(&self, numbers: Range<i64>) -> Bucket {
        let mut sum = Bucket::default();
        let first = self.filled.partition_point(|(number, _)| *number < numbers.start);
        let rest = self.filled.range(first..).take_while(|(number, _)| *number < numbers.end);
        rest.for_each(|(_, bucket)| sum.merge(bucket));
        sum
    }

    /// How many are kept.
    pub(super) fn kept(&self) -> i64 {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn note(buckets: &mut Buckets, seconds: i64) {
        if let Some(bucket) = buckets.at(at(seconds)) {
            bucket.enqueued += 1;
        }
    }

    #[test]
    fn what_happens_is_counted_in_its_own_stretch() {
        let mut buckets = Buckets::new(Duration::from_mins(1), 10);
        for seconds in [0, 59, 60, 185] {
            note(&mut buckets, seconds);
        }
        let counts = |range: Range<i64>| buckets.sum(range).enqueued;
        assert_eq!((counts(0..1), counts(1..2), counts(2..3), counts(3..4), counts(0..9)), (2, 1, 0, 1, 4));
    }

    #[test]
    fn the_oldest_give_way_and_what_comes_too_late_is_not_counted() {
        let mut buckets = Buckets::new(Duration::from_secs(1), 3);
        (0..10).for_each(|seconds| note(&mut buckets, seconds));
        assert_eq!(buckets.sum(0..20).enqueued, 3);
        note(&mut buckets, 6);
        note(&mut buckets, 7);
        assert_eq!((buckets.sum(0..20).enqueued, buckets.sum(7..8).enqueued), (4, 2));
        assert_eq!(buckets.filled.len(), 3);
    }

    #[test]
    fn a_clock_that_was_far_ahead_hides_nothing_that_comes_after_it_is_right() {
        let mut buckets = Buckets::new(Duration::from_secs(1), 3);
        for seconds in [10, 1000, 11, 12] {
            buckets.arrive_at(at(seconds));
            note(&mut buckets, seconds);
        }
        assert_eq!([10, 11, 12].map(|number| buckets.sum(number..number + 1).enqueued), [0, 1, 1]);
        assert_eq!(buckets.sum(0..2000).enqueued, 2, "what came before the jump was too old after it");
    }

    #[test]
    fn a_clock_that_is_set_back_finds_its_place_again() {
        let mut buckets = Buckets::new(Duration::from_secs(1), 10);
        for seconds in [5, 3, 4, 3] {
            note(&mut buckets, seconds);
        }
        assert_eq!([3, 4, 5].map(|number| buckets.sum(number..number + 1).enqueued), [2, 1, 1]);
    }
}
