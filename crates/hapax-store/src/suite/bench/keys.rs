//! What a case does with keys: lists of jobs, operations on the holders of a key, reads about keys.

use hapax_core::unique::{JobKey, Key};
use hapax_core::{Admission, Event, Job, JobId, Phase, Refusal, StateSet, Verdict};

use super::super::draft::Draft;
use super::super::wait;
use super::{ALL, Bench};
use crate::{Action, Change, Done, HeldPage, HeldQuery, HolderQuery, Holders};

/// The key under which a job key is held.
pub(in super::super) fn job_key_of(name: &str) -> Key {
    JobKey::key(name).unwrap()
}

/// Lets an operator take a key away.
pub(in super::super) fn release() -> Event {
    Event::Release { reason: Some("the host is gone".into()) }
}

/// The job that a successor waits for.
pub(in super::super) fn waits_for(job: &Job) -> Option<JobId> {
    if let Phase::Pending { after } = job.phase { after } else { None }
}

/// What was let go by a change.
pub(in super::super) fn successors_of(change: &Change) -> Vec<Job> {
    match change {
        Change::To { followers, .. } | Change::Removed { followers, .. } => {
            followers.iter().map(|(_, job)| job.clone()).collect()
        }
    }
}

impl Bench {
    /// Enqueues a duplicate that the holder takes over.
    #[track_caller]
    pub(in super::super) fn update(&mut self, holder: JobId, draft: Draft) -> Job {
        let answer = self.enqueue(draft);
        assert!(matches!(answer.verdict, Verdict::Updated(_)), "{:?}", answer.verdict);
        assert_eq!(answer.job.id, holder);
        assert_eq!(answer.job, self.job(holder), "the answer shows what is stored");
        answer.job
    }

    /// Enqueues a list of which each job stands alone.
    #[track_caller]
    pub(in super::super) fn enqueue_each(&mut self, drafts: Vec<Draft>) -> Vec<Result<Admission, Refusal>> {
        let incoming = drafts.into_iter().map(|draft| draft.incoming(self.new_id())).collect();
        match self.act(Action::EnqueueEach { incoming, memo: None }).unwrap() {
            Done::EnqueuedEach(answers) => answers,
            other => panic!("a list was answered by {other:?}"),
        }
    }

    pub(in super::super) fn step_holders(
        &self,
        key: Key,
        event: Event,
        limit: usize,
    ) -> Result<Vec<Change>, Refusal> {
        match self.act(Action::StepHolders { key, states: StateSet::ALL, event, limit })? {
            Done::SteppedHolders(changes) => Ok(changes),
            other => panic!("a step of holders was answered by {other:?}"),
        }
    }

    /// Takes the key away from all who carry it.
    pub(in super::super) fn release(&self, key: Key) -> Result<Vec<Change>, Refusal> {
        self.step_holders(key, release(), ALL)
    }

    /// Removes the job of that name.
    pub(in super::super) fn remove_job_key(&self, name: &str) -> Result<Vec<Change>, Refusal> {
        self.step_holders(job_key_of(name), Event::RemoveByKey, ALL)
    }

    pub(in super::super) fn holders(&self, query: HolderQuery) -> Holders {
        wait(self.store().holders(query)).unwrap()
    }

    pub(in super::super) fn held_page(&self, query: HeldQuery) -> HeldPage {
        wait(self.store().held_keys(query)).unwrap()
    }

    /// All jobs that hold a key and fit the query, in pages of its limit.
    pub(in super::super) fn held(&self, query: &HeldQuery) -> Vec<Job> {
        let mut query = query.clone();
        let mut jobs = Vec::new();
        loop {
            let page = self.held_page(query.clone());
            assert!(page.jobs.len() <= query.limit, "a page is no longer than its limit");
            assert!(page.next.is_none() || page.next > query.after, "a walk gets on");
            jobs.extend(page.jobs);
            match page.next {
                Some(place) => query.after = Some(place),
                None => return jobs,
            }
        }
    }
}
