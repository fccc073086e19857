//! What the rules about several jobs may touch here.

use hapax_core::limit::LimitKey;
use hapax_core::unique::Uniqueness;
use hapax_core::{
    Admission, Event, Incoming, Job, JobId, Order, QueueName, Refusal, Rules, State, Timestamp,
};
use hapax_store::lines::Place as _;
use hapax_store::{Change, Entry, EntryKey, Followed, Ground, Revision, workflow};

use crate::commit::Outcome;
use crate::index::lines::Place;
use crate::tables::Tables;
use crate::{Fault, entry};

impl Ground for Tables<'_> {
    type Trouble = Fault;

    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn job(&mut self, id: JobId) -> Result<Option<Job>, Fault> {
        Ok(self.find(id)?.map(|stored| stored.job.clone()))
    }

    fn entry(&mut self, key: &EntryKey) -> Result<Option<Entry>, Fault> {
        match self.rows.group.entries.get(key) {
            Some(revision) => Ok(revision.clone().map(|written| Entry { key: key.clone(), written })),
            None => entry::load(self.rows.reading()?, key),
        }
    }

    fn put_entry(&mut self, key: EntryKey, revision: Revision) -> Result<(), Fault> {
        let before = self.entry(&key)?.map(|entry| entry.written);
        self.note_entry(&key, before);
        self.index.note_entry(&key, revision.as_ref());
        self.rows.group.entries.insert(key, revision);
        Ok(())
    }

    fn holders(&mut self, incoming: &Incoming, now: Timestamp) -> Result<Vec<Job>, Fault> {
        let watched = incoming.key.zip(incoming.spec.unique.as_ref().map(Uniqueness::watch));
        let Some((key, watch)) = watched else { return Ok(Vec::new()) };
        let counting = self.index.look().counting(&key, watch, now);
        self.load_counting(counting, &key, watch, now)
    }

    fn admit(&mut self, incoming: Incoming, now: Timestamp) -> Outcome<Admission> {
        self.enqueue(incoming, now)
    }

    fn step_alone(&mut self, id: JobId, event: Event, now: Timestamp) -> Outcome<Change> {
        match self.find(id)? {
            Some(stored) => self.take_step_alone(stored, event, now),
            None => Ok(Err(Refusal::NotFound(id))),
        }
    }

    fn put(&mut self, job: Job, now: Timestamp) -> Result<(), Fault> {
        Tables::put(self, job, now)
    }

    fn successors(&mut self, of: JobId) -> Result<Vec<Job>, Fault> {
        let seqs = self.index.successors.of(of);
        seqs.into_iter().map(|seq| Ok(self.rows.load(seq)?.job.clone())).collect()
    }

    fn last_of(&mut self, order: &Order) -> Result<Option<JobId>, Fault> {
        let Some(seq) = self.index.orders.last_of(order) else { return Ok(None) };
        Ok(Some(self.rows.load(seq)?.job.id))
    }

    fn depth(&mut self, queue: &QueueName) -> Result<u64, Fault> {
        Ok(self.index.queue_facts(queue).map_or(0, |facts| facts.counts.waiting()))
    }

    fn oldest_in_line(&mut self, queue: &QueueName, except: &[JobId]) -> Result<Option<JobId>, Fault> {
        let Some(last) = self.index.lines.last(queue) else { return Ok(None) };
        let mut from = last.at(0);
        while let Some(Place(rank, seq)) = self.index.lines.first_from(queue, from) {
            let id = self.rows.load(seq)?.job.id;
            if !except.contains(&id) {
                return Ok(Some(id));
            }
            from = Place(rank, seq + 1);
        }
        Ok(None)
    }

    fn is_limited(&self, queue: &QueueName) -> bool {
        self.index.lines.is_limited(queue)
    }

    fn active_in(&mut self, queue: &QueueName) -> Result<u64, Fault> {
        Ok(self.index.queue_facts(queue).map_or(0, |facts| facts.counts.of(State::Active)))
    }

    fn active(&mut self, key: &LimitKey) -> Result<u64, Fault> {
        Ok(self.index.lines.active(key))
    }

    fn open(&mut self, key: &LimitKey) -> Result<(), Fault> {
        self.index.lines.open(key);
        key.limited_queue().into_iter().for_each(|queue| self.index.lines.call_all(queue));
        Ok(())
    }

    fn unreadable(&self, key: &EntryKey) -> Fault {
        Fault::Entry { register: key.register.name().into(), name: (&*key.name).into() }
    }
}

impl Tables<'_> {
    /// What follows from a change of a job for its workflow.
    pub(crate) fn follow(
        &mut self,
        before: State,
        job: &Job,
        now: Timestamp,
    ) -> Result<Option<Followed>, Fault> {
        if job.spec.workflow.is_none() {
            return Ok(None);
        }
        workflow::follow(self, before, job, now)
    }
}
