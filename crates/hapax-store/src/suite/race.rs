//! The machinery of a race: threads that start each round together.

use std::sync::{Arc, Barrier};

use hapax_core::{Admission, Job, JobId, Timestamp};

use super::bench::Bench;
use super::chances::Chances;
use super::draft::{Draft, queue};
use super::wait;
use crate::{Action, Answer, Claim, Done, Op, Store};

/// How many run.
pub(super) const RACERS: usize = 20;

/// One thread of a race.
pub(super) struct Racer {
    pub(super) number: usize,
    pub(super) store: Arc<dyn Store>,
    pub(super) chances: Chances,
    pub(super) now: Timestamp,
}

impl Racer {
    pub(super) fn act(&self, action: Action) -> Answer {
        wait(self.store.commit(vec![Op { now: self.now, action }])).unwrap().remove(0)
    }

    pub(super) fn enqueue(&mut self, draft: Draft) -> Admission {
        let incoming = Box::new(draft.incoming(self.chances.id(self.now)));
        match self.act(Action::Enqueue { incoming, memo: None }).unwrap() {
            Done::Enqueued(admission) => *admission,
            other => panic!("an enqueue was answered by {other:?}"),
        }
    }

    pub(super) fn fetch(&mut self, count: usize) -> Vec<Job> {
        let (now, token) = (self.now, self.chances.token());
        let claim = Claim {
            now,
            queues: vec![queue("default")],
            count,
            worker: None,
            token,
            visibility_timeout: None,
            tenant: None,
        };
        wait(self.store.claim(claim)).unwrap().changes.iter().map(|change| change.job().clone()).collect()
    }
}

/// Lets all racers do the work once per round, and gives their results by round.
pub(super) fn race<T: Send>(
    bench: &Bench,
    rounds: usize,
    work: impl Fn(&mut Racer, usize) -> T + Sync,
) -> Vec<Vec<T>> {
    let barrier = Barrier::new(RACERS);
    let run = |mut racer: Racer| -> Vec<T> {
        let round = |round| {
            barrier.wait();
            work(&mut racer, round)
        };
        (0..rounds).map(round).collect()
    };
    let racer = |number: usize| Racer {
        number,
        store: bench.store().clone(),
        chances: Chances::new(1000 + number as u64),
        now: bench.now,
    };
    let mut lanes: Vec<_> = std::thread::scope(|scope| {
        let start = |number| {
            let racer = racer(number);
            scope.spawn(|| run(racer))
        };
        let threads: Vec<_> = (0..RACERS).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap().into_iter()).collect()
    });
    (0..rounds).map(|_| lanes.iter_mut().filter_map(Iterator::next).collect()).collect()
}

/// Puts so many jobs into the default queue.
pub(super) fn fill(bench: &mut Bench, count: usize, draft: &Draft) -> Vec<JobId> {
    const BATCH: usize = 500;
    let batches = (0..count).step_by(BATCH).map(|from| BATCH.min(count - from));
    let admitted = batches.flat_map(|size| bench.try_enqueue_all(vec![draft.clone(); size]).unwrap());
    admitted.map(|admission| admission.job.id).collect()
}
