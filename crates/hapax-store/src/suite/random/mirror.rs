//! What the answers of a store amount to: a picture of its contents, drawn from nothing but what it said, in
//! the most naive way. An answer that does not fit the picture breaks a promise.

mod admitted;
mod moved;
mod removals;
mod successors;
mod takeovers;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use hapax_core::{Job, JobId, LeaseToken, Phase, QueueName, Rules, State, Timestamp, next_due};
use proptest::prop_assert;
use proptest::test_runner::TestCaseError;

use super::super::bench::waits_for;
use super::sightings::{Sight, Sightings};

/// Whether a promise was kept.
pub(super) type Check = Result<(), TestCaseError>;

/// A promise that was not kept.
fn broken(promise: String) -> TestCaseError {
    TestCaseError::fail(promise)
}

/// The picture.
pub(super) struct Mirror<'s> {
    pub(super) jobs: BTreeMap<JobId, Job>,
    pub(super) paused: BTreeSet<QueueName>,
    /// Queues, and when they were first used.
    pub(super) queues: BTreeMap<QueueName, Timestamp>,
    /// The moment for which the next answers hold.
    pub(super) now: Timestamp,
    /// The proofs of all deliveries of a job, oldest first.
    tokens: HashMap<JobId, Vec<LeaseToken>>,
    /// Jobs by the order in which they were created and became available.
    places: HashMap<JobId, Place>,
    last_place: u64,
    rules: Rules,
    sightings: &'s RefCell<Sightings>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Place {
    created: u64,
    available: u64,
}

impl<'s> Mirror<'s> {
    pub(super) fn new(rules: Rules, sightings: &'s RefCell<Sightings>) -> Mirror<'s> {
        Mirror {
            jobs: BTreeMap::new(),
            paused: BTreeSet::new(),
            queues: BTreeMap::new(),
            now: Timestamp::EPOCH,
            tokens: HashMap::new(),
            places: HashMap::new(),
            last_place: 0,
            rules,
            sightings,
        }
    }

    pub(super) fn note(&self, sight: Sight) {
        self.sightings.borrow_mut().note(sight);
    }

    pub(super) fn note_if(&self, seen: bool, sight: Sight) {
        if seen {
            self.note(sight);
        }
    }

    /// The proof of the newest delivery but `back`.
    pub(super) fn token(&self, id: JobId, back: usize) -> Option<LeaseToken> {
        self.tokens.get(&id)?.iter().rev().nth(back).copied()
    }

    /// When something is due next.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.jobs.values().filter_map(|job| next_due(job, &self.rules)).min()
    }

    /// The jobs that are due, in the order in which they have to be treated.
    fn due(&self, now: Timestamp) -> Vec<JobId> {
        let due = self.jobs.values().filter_map(|job| Some((next_due(job, &self.rules)?, job.id)));
        let mut due: Vec<_> = due.filter(|(at, _)| *at <= now).collect();
        due.sort_by_key(|(at, id)| (*at, self.places[id].created));
        due.into_iter().map(|(_, id)| id).collect()
    }

    /// The job of the queue whose turn it is.
    fn next_in_line(&self, queue: &QueueName) -> Option<JobId> {
        let here = |job: &&Job| job.state() == State::Available && job.spec.queue == *queue;
        let line = self.jobs.values().filter(here).filter(|_| !self.paused.contains(queue));
        line.min_by_key(|job| (Reverse(job.spec.priority), self.places[&job.id].available)).map(|job| job.id)
    }

    /// Draws a job as an answer showed it, and checks what holds whatever happened.
    fn draw(&mut self, job: &Job) -> Check {
        let old = self.jobs.get(&job.id);
        let was = old.map(Job::state);
        if let Some(old) = old {
            prop_assert!(job.fence >= old.fence, "the fence of {} went back", job.id);
            prop_assert!(job.created_at == old.created_at, "{} was created twice", job.id);
            let over = matches!(old.state(), State::Completed | State::Cancelled);
            prop_assert!(!over || job.phase == old.phase, "{} was over and is {}", job.id, job.state());
        }
        self.queues.entry(job.spec.queue.clone()).or_insert(self.now);
        self.last_place += 1;
        let place = self.places.entry(job.id).or_default();
        if was.is_none() {
            place.created = self.last_place;
        }
        if job.state() == State::Available && was != Some(State::Available) {
            place.available = self.last_place;
        }
        let deliveries = self.tokens.entry(job.id).or_default();
        prop_assert!(job.fence == deliveries.len() as u64, "fence {} after {}", job.fence, deliveries.len());
        if let Phase::Active { lease, .. } = &job.phase {
            prop_assert!(deliveries.last() == Some(&lease.token), "{} is held by a former lease", job.id);
        }
        let known = self.jobs.insert(job.id, job.clone()).and_then(|old| old.reentered_beside);
        self.note_if(job.reentered_beside.is_some() && job.reentered_beside != known, Sight::ReenteredBeside);
        Ok(())
    }

    /// The place of a job in the order of creation.
    pub(super) fn created_place(&self, id: JobId) -> u64 {
        self.places[&id].created
    }

    fn erase(&mut self, id: JobId) {
        self.jobs.remove(&id);
        self.tokens.remove(&id);
        self.places.remove(&id);
    }
}
