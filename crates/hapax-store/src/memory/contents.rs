//! All that is stored, and the one place that changes it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use hapax_core::unique::{Holder, Key, Watch};
use hapax_core::{Job, JobId, Priority, QueueName, Refusal, Rules, State, Timestamp, next_due};

use super::memos::Memos;
use crate::{Counts, QueueFacts, Totals};

/// A job's number in the order of insertion. Never used twice.
pub(crate) type Seq = u64;

/// A stored job.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) job: Job,
    /// Its place among all that ever became available. A number and not a time, so that the order outlives a
    /// clock that is set back.
    pub(crate) turn: u64,
}

/// A queue that was used at least once.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) paused: bool,
    pub(crate) created_at: Timestamp,
    pub(super) counts: Counts,
    /// The available jobs, next one first.
    pub(super) line: BTreeSet<(Reverse<Priority>, u64, Seq)>,
}

/// Jobs, and every index over them.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(super) rules: Rules,
    rows: BTreeMap<Seq, Row>,
    ids: HashMap<JobId, Seq>,
    keys: HashMap<Key, BTreeSet<Seq>>,
    /// Jobs that carry a key and have not ended.
    held: BTreeSet<Seq>,
    /// Jobs that wait for the end of another, by the other.
    successors: HashMap<JobId, BTreeSet<Seq>>,
    pub(super) queues: BTreeMap<QueueName, Queue>,
    pub(super) timers: BTreeSet<(Timestamp, Seq)>,
    pub(super) dead_letters: BTreeSet<(Timestamp, JobId)>,
    pub(super) totals: Totals,
    pub(crate) memos: Memos,
    last_seq: Seq,
    last_turn: u64,
    /// How to take back what happened since an atomic section began; nothing outside of one.
    undo: Option<Undo>,
    /// What rows were before anything happened to them, for whoever has to write down what changed.
    journal: Option<BTreeMap<Seq, Option<Row>>>,
}

/// What an atomic section changed.
#[derive(Debug, Default)]
struct Undo {
    /// What the rows were before; nothing for a row that was not there.
    rows: BTreeMap<Seq, Option<Row>>,
    /// Queues that were not there.
    queues: Vec<QueueName>,
}

impl Contents {
    pub(super) fn new(rules: Rules) -> Contents {
        Contents {
            rules,
            rows: BTreeMap::new(),
            ids: HashMap::new(),
            keys: HashMap::new(),
            held: BTreeSet::new(),
            successors: HashMap::new(),
            queues: BTreeMap::new(),
            timers: BTreeSet::new(),
            dead_letters: BTreeSet::new(),
            totals: Totals::default(),
            memos: Memos::default(),
            last_seq: 0,
            last_turn: 0,
            undo: None,
            journal: None,
        }
    }

    /// No stored jobs yet, and new ones get numbers above this one. From here on a journal is kept.
    pub(crate) fn above(rules: Rules, number: u64) -> Contents {
        let journal = Some(BTreeMap::new());
        Contents { last_seq: number, last_turn: number, journal, ..Contents::new(rules) }
    }

    /// Takes in a job as it stands elsewhere: no change, so the journal does not show it.
    pub(crate) fn lay(&mut self, seq: Seq, row: Row) {
        self.queue_for(&row.job.spec.queue, row.job.created_at);
        let journal = self.journal.take();
        self.swap(seq, Some(row));
        self.journal = journal;
    }

    /// The rows that changed, as they were and as they are.
    pub(crate) fn take_journal(&mut self) -> Vec<(Seq, Option<Row>, Option<Row>)> {
        let journal = self.journal.replace(BTreeMap::new()).unwrap_or_default();
        journal.into_iter().map(|(seq, before)| (seq, before, self.rows.get(&seq).cloned())).collect()
    }

    pub(super) fn clear(&mut self) {
        *self = Contents::new(self.rules.clone());
    }

    pub(crate) fn get(&self, id: JobId) -> Option<&Job> {
        self.ids.get(&id).and_then(|seq| self.at(*seq))
    }

    pub(super) fn at(&self, seq: Seq) -> Option<&Job> {
        self.rows.get(&seq).map(|row| &row.job)
    }

    /// All jobs that carry the key, oldest first.
    pub(super) fn holders(&self, key: &Key) -> Vec<Job> {
        self.keys.get(key).into_iter().flatten().filter_map(|seq| self.at(*seq)).cloned().collect()
    }

    /// The jobs that carry the key and count at this moment, oldest first. Others are not even copied: a list may bring
    /// thousands of jobs with one key.
    pub(super) fn covered(&self, key: &Key, watch: Watch, now: Timestamp) -> Vec<Job> {
        let carriers = self.keys.get(key).into_iter().flatten().filter_map(|seq| self.at(*seq));
        carriers.filter(|job| watch.covers(Holder::from(*job), now)).cloned().collect()
    }

    /// The jobs that carry a key and have not ended, from that number on.
    pub(super) fn held_from(&self, first: Seq) -> impl Iterator<Item = (Seq, &Job)> {
        self.held.range(first..).filter_map(|seq| self.at(*seq).map(|job| (*seq, job)))
    }

    /// The jobs that wait for the end of this one, oldest first.
    pub(super) fn successors(&self, of: JobId) -> Vec<Job> {
        self.successors.get(&of).into_iter().flatten().filter_map(|seq| self.at(*seq)).cloned().collect()
    }

    /// Stores the job, new or in the place of what was stored under its id.
    pub(super) fn put(&mut self, job: Job, now: Timestamp) {
        let known = self.ids.get(&job.id).copied();
        let old = known.and_then(|seq| self.rows.get(&seq));
        let turn = match old {
            Some(old) if old.job.state() == State::Available || job.state() != State::Available => old.turn,
            _ => self.last_turn + 1,
        };
        let seq = known.unwrap_or(self.last_seq + 1);
        self.last_turn = self.last_turn.max(turn);
        self.last_seq = self.last_seq.max(seq);
        self.queue_for(&job.spec.queue, now);
        self.swap(seq, Some(Row { job, turn }));
    }

    pub(super) fn remove(&mut self, id: JobId) {
        if let Some(seq) = self.ids.get(&id) {
            self.swap(*seq, None);
        }
    }

    /// The queue of that name, made if it was never used.
    pub(crate) fn queue_for(&mut self, name: &QueueName, now: Timestamp) -> &mut Queue {
        if let Some(undo) = &mut self.undo
            && !self.queues.contains_key(name)
        {
            undo.queues.push(name.clone());
        }
        self.queues.entry(name.clone()).or_insert_with(|| Queue {
            paused: false,
            created_at: now,
            counts: Counts::default(),
            line: BTreeSet::new(),
        })
    }

    /// Does all of the work or, if it is refused, nothing. Numbers handed out meanwhile are not used again.
    pub(super) fn atomically<T>(
        &mut self,
        work: impl FnOnce(&mut Contents) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.undo = Some(Undo::default());
        let result = work(self);
        let undo = self.undo.take().unwrap_or_default();
        if result.is_err() {
            undo.rows.into_iter().for_each(|(seq, row)| self.swap(seq, row));
            undo.queues.iter().for_each(|name| drop(self.queues.remove(name)));
        }
        result
    }

    /// The only function that changes a row: whatever is known about rows follows from here.
    fn swap(&mut self, seq: Seq, next: Option<Row>) {
        let previous = self.rows.remove(&seq);
        if let Some(row) = &previous {
            self.unlist(seq, row);
        }
        if let Some(row) = next {
            self.list(seq, &row);
            self.rows.insert(seq, row);
        }
        if let Some(journal) = &mut self.journal {
            journal.entry(seq).or_insert_with(|| previous.clone());
        }
        if let Some(undo) = &mut self.undo {
            undo.rows.entry(seq).or_insert(previous);
        }
    }

    fn list(&mut self, seq: Seq, row: &Row) {
        let (job, state) = (&row.job, row.job.state());
        self.ids.insert(job.id, seq);
        self.timers.extend(next_due(job, &self.rules).map(|at| (at, seq)));
        self.dead_letters.extend(dead_letter(job));
        if let Some(key) = job.key {
            self.keys.entry(key).or_default().insert(seq);
        }
        if job.holds_key() {
            self.held.insert(seq);
        }
        if let Some(other) = job.waits_for() {
            self.successors.entry(other).or_default().insert(seq);
        }
        if let Some(queue) = self.queues.get_mut(&job.spec.queue) {
            queue.counts.add(state);
            if state == State::Available {
                queue.line.insert((Reverse(job.spec.priority), row.turn, seq));
            }
        }
        self.totals.counts.add(state);
        self.totals.keys_held += u64::from(job.holds_key());
        self.totals.dead_letters += u64::from(job.phase.is_dead_letter());
    }

    /// The reverse of `list`.
    fn unlist(&mut self, seq: Seq, row: &Row) {
        let (job, state) = (&row.job, row.job.state());
        self.ids.remove(&job.id);
        if let Some(at) = next_due(job, &self.rules) {
            self.timers.remove(&(at, seq));
        }
        if let Some(entry) = dead_letter(job) {
            self.dead_letters.remove(&entry);
        }
        if let Some(key) = job.key {
            take_out(&mut self.keys, &key, seq);
        }
        self.held.remove(&seq);
        if let Some(other) = job.waits_for() {
            take_out(&mut self.successors, &other, seq);
        }
        if let Some(queue) = self.queues.get_mut(&job.spec.queue) {
            queue.counts.remove(state);
            queue.line.remove(&(Reverse(job.spec.priority), row.turn, seq));
        }
        self.totals.counts.remove(state);
        self.totals.keys_held -= u64::from(job.holds_key());
        self.totals.dead_letters -= u64::from(job.phase.is_dead_letter());
    }
}

fn take_out<K: Hash + Eq>(lists: &mut HashMap<K, BTreeSet<Seq>>, name: &K, seq: Seq) {
    if let Some(seqs) = lists.get_mut(name) {
        seqs.remove(&seq);
        if seqs.is_empty() {
            lists.remove(name);
        }
    }
}

impl Queue {
    pub(super) fn facts(&self, name: &QueueName) -> QueueFacts {
        QueueFacts {
            name: name.clone(),
            paused: self.paused,
            created_at: self.created_at,
            counts: self.counts,
        }
    }
}

/// Where the job stands in the dead-letter list, if it does.
fn dead_letter(job: &Job) -> Option<(Timestamp, JobId)> {
    job.phase.finished_at().filter(|_| job.phase.is_dead_letter()).map(|at| (at, job.id))
}
