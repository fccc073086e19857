//! Attempts that were seen to begin. Most of what a span says is known from its end; who worked on it is not.

use std::collections::HashMap;
use std::mem;

use hapax_core::{JobId, Timestamp, WorkerId};

/// How many beginnings are remembered, at least. Of an attempt whose beginning is forgotten it is not said who worked on it.
pub(crate) const REMEMBERED: usize = 10_000;

/// The beginning of an attempt.
#[derive(Debug, Clone)]
pub(crate) struct Beginning {
    pub(crate) at: Timestamp,
    pub(crate) attempt: u32,
    pub(crate) worker: Option<WorkerId>,
}

/// In two halves. When the young one is full, the old one is forgotten: the end of an attempt may never be heard of here,
/// if another server hears of it.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    young: HashMap<JobId, Beginning>,
    old: HashMap<JobId, Beginning>,
}

impl Attempts {
    pub(crate) fn begin(&mut self, job: JobId, beginning: Beginning) {
        if self.young.len() == REMEMBERED {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(job, beginning);
    }

    pub(crate) fn end(&mut self, job: JobId) -> Option<Beginning> {
        let old = self.old.remove(&job);
        self.young.remove(&job).or(old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: usize) -> JobId {
        let mut random = [0; 10];
        random[2..].copy_from_slice(&u64::try_from(number).unwrap().to_be_bytes());
        JobId::new(Timestamp::EPOCH, random)
    }

    #[test]
    fn the_newest_beginnings_are_remembered_and_no_more_than_twice_as_many() {
        let mut attempts = Attempts::default();
        for number in 0..5 * REMEMBERED {
            attempts.begin(job(number), Beginning { at: Timestamp::EPOCH, attempt: 1, worker: None });
            assert!(attempts.young.len() + attempts.old.len() <= 2 * REMEMBERED);
        }
        assert!(attempts.end(job(4 * REMEMBERED)).is_some());
        assert!(attempts.end(job(4 * REMEMBERED)).is_none(), "it has ended");
        assert!(attempts.end(job(0)).is_none());
    }
}
