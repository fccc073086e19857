//! All that is stored, and the one place that changes it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::ops::Bound;

use hapax_core::limit::{LimitKey, turn_behind};
use hapax_core::unique::{Holder, Key, Watch};
use hapax_core::{Job, JobId, Order, Priority, QueueName, Refusal, Rules, State, Timestamp, next_due};

use super::entries::Entries;
use super::memos::Memos;
use crate::lines::{self, Lines, Stand};
use crate::sharers::{Sharers, shared_limit};
use crate::succession::takes_turn;
use crate::{Counts, EntryKey, Happened, Outbox, QueueFacts, Revision, Totals, Written, limit};

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
    pub(crate) counts: Counts,
}

/// A place in line: the higher priority first, then the lower turn.
pub(crate) type Place = (Reverse<Priority>, u64, Seq);

impl lines::Place for Place {
    fn turn(self) -> u64 {
        self.1
    }

    fn at(self, turn: u64) -> Place {
        (self.0, turn, 0)
    }
}

/// Jobs, and every index over them.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(super) rules: Rules,
    rows: BTreeMap<Seq, Row>,
    ids: BTreeMap<JobId, Seq>,
    keys: HashMap<Key, BTreeSet<Seq>>,
    /// Jobs that carry a key and have not ended.
    held: BTreeSet<Seq>,
    /// Jobs that wait for the end of another, by the other.
    successors: HashMap<JobId, BTreeSet<Seq>>,
    /// Lines of jobs that have not ended, by what they have in common: first the one that does not wait for another.
    orders: HashMap<Order, BTreeSet<(bool, u64, Seq)>>,
    pub(crate) queues: BTreeMap<QueueName, Queue>,
    pub(crate) lines: Lines<Place>,
    /// Jobs that share rate limits and have not ended.
    pub(super) sharers: Sharers<Seq>,
    pub(super) timers: BTreeSet<(Timestamp, Seq)>,
    pub(super) dead_letters: BTreeSet<(Timestamp, JobId)>,
    pub(super) totals: Totals,
    pub(crate) memos: Memos,
    pub(crate) entries: Entries,
    last_seq: Seq,
    last_turn: u64,
    /// Jobs that took turns since an operation began and share fairly, with what they drew.
    sharing: Vec<(Seq, u64)>,
    /// How to take back what happened since an atomic section began; nothing outside of one.
    undo: Option<Undo>,
    /// Queues that jobs were put into and that were not there, if a journal is kept.
    new_queues: BTreeSet<QueueName>,
    /// What rows were before anything happened to them, for whoever has to write down what changed.
    journal: Option<BTreeMap<Seq, Option<Row>>>,
    /// The same for entries.
    entry_journal: BTreeMap<EntryKey, Revision>,
    /// How many jobs that share a rate limit run in the whole store, but for those that started here,
    pub(crate) active_elsewhere: HashMap<LimitKey, u64>,
    /// and how many of a queue.
    pub(crate) active_in_elsewhere: HashMap<QueueName, u64>,
    /// How many of those were laid here,
    laid_active: HashMap<LimitKey, u64>,
    /// by limit and by queue.
    laid_active_in: HashMap<QueueName, u64>,
    /// Rate limits for which there may be room.
    pub(crate) opened: BTreeSet<LimitKey>,
    /// How many jobs more (or fewer) wait in queues than are here.
    pub(crate) elsewhere: HashMap<QueueName, i64>,
    /// Jobs that no claim takes, because not everybody lies here who waits for them.
    pub(crate) not_to_claim: HashSet<Seq>,
    /// What was asked for and may be elsewhere: only a desk does not hold everything.
    pub(crate) gaps: Gaps,
}

/// What an atomic section changed.
#[derive(Debug, Default)]
struct Undo {
    /// What the rows were before; nothing for a row that was not there.
    rows: BTreeMap<Seq, Option<Row>>,
    /// Queues that were not there.
    queues: Vec<QueueName>,
    /// What the entries said before.
    entries: BTreeMap<EntryKey, Revision>,
}

/// What an operation asked a desk for that nobody has laid there or said to be missing.
#[derive(Debug, Default, Clone)]
pub(crate) struct Gaps {
    /// What is known not to be anywhere.
    pub(crate) absent_jobs: HashSet<JobId>,
    pub(crate) absent_entries: HashSet<EntryKey>,
    /// Keys whose holders lie here, as far as there are any.
    pub(crate) known_keys: HashSet<Key>,
    /// What was asked for.
    pub(crate) keys: Vec<(Key, Watch, Timestamp)>,
    pub(crate) jobs: BTreeSet<JobId>,
    pub(crate) entries: BTreeSet<EntryKey>,
    pub(crate) queues: BTreeSet<QueueName>,
    pub(crate) orders: BTreeSet<Order>,
    /// Lines of which the last lies here, if there is one.
    pub(crate) known_orders: HashSet<Order>,
}

impl Contents {
    pub(super) fn new(rules: Rules) -> Contents {
        Contents {
            rules,
            rows: BTreeMap::new(),
            ids: BTreeMap::new(),
            keys: HashMap::new(),
            held: BTreeSet::new(),
            successors: HashMap::new(),
            orders: HashMap::new(),
            queues: BTreeMap::new(),
            lines: Lines::default(),
            sharers: Sharers::default(),
            timers: BTreeSet::new(),
            dead_letters: BTreeSet::new(),
            totals: Totals::default(),
            memos: Memos::default(),
            entries: Entries::default(),
            last_seq: 0,
            last_turn: 0,
            sharing: Vec::new(),
            undo: None,
            new_queues: BTreeSet::new(),
            journal: None,
            entry_journal: BTreeMap::new(),
            active_elsewhere: HashMap::new(),
            active_in_elsewhere: HashMap::new(),
            laid_active: HashMap::new(),
            laid_active_in: HashMap::new(),
            opened: BTreeSet::new(),
            elsewhere: HashMap::new(),
            not_to_claim: HashSet::new(),
            gaps: Gaps::default(),
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
        if row.job.state() == State::Active {
            *self.laid_active_in.entry(row.job.spec.queue.clone()).or_default() += 1;
            if let Some(key) = shared_limit(&row.job) {
                *self.laid_active.entry(key.clone()).or_default() += 1;
            }
        }
        let journal = self.journal.take();
        self.swap(seq, Some(row));
        self.journal = journal;
    }

    /// The rows that changed, as they were and as they are.
    pub(crate) fn take_journal(&mut self) -> Vec<(Seq, Option<Row>, Option<Row>)> {
        let journal = self.journal.replace(BTreeMap::new()).unwrap_or_default();
        journal.into_iter().map(|(seq, before)| (seq, before, self.rows.get(&seq).cloned())).collect()
    }

    /// Queues that jobs were put into, if only for a moment, and that were not there.
    pub(crate) fn new_queues(&self) -> impl Iterator<Item = &QueueName> {
        self.new_queues.iter()
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

    /// The jobs whose ids lie between these.
    pub(super) fn between(
        &self,
        ids: (Bound<JobId>, Bound<JobId>),
    ) -> impl DoubleEndedIterator<Item = (JobId, &Job)> {
        self.ids.range(ids).filter_map(|(id, seq)| self.at(*seq).map(|job| (*id, job)))
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

    /// The last of a line, as far as it lies here.
    pub(super) fn last_of(&self, order: &Order) -> Option<JobId> {
        let (_, _, seq) = self.orders.get(order)?.last()?;
        self.at(*seq).map(|job| job.id)
    }

    /// Stores the job, new or in the place of what was stored under its id.
    pub(super) fn put(&mut self, job: Job, now: Timestamp) {
        let known = self.ids.get(&job.id).copied();
        let old = known.and_then(|seq| self.rows.get(&seq));
        let turn = match old {
            Some(old) if !takes_turn(&old.job, &job) => old.turn,
            _ => turn_behind(self.last_turn),
        };
        let seq = known.unwrap_or(self.last_seq + 1);
        if turn > self.last_turn && job.state() == State::Available && job.spec.fair_key().is_some() {
            self.sharing.push((seq, turn));
        }
        self.last_turn = self.last_turn.max(turn);
        self.last_seq = self.last_seq.max(seq);
        if self.journal.is_some() && !self.queues.contains_key(&job.spec.queue) {
            self.new_queues.insert(job.spec.queue.clone());
        }
        self.queue_for(&job.spec.queue, now);
        self.swap(seq, Some(Row { job, turn }));
    }

    /// Gives those their turns that share fairly, when all has happened that an operation does: so that it does not matter in
    /// which order it was done. On a desk they are given where everybody is seen.
    pub(super) fn share(&mut self) {
        for (seq, drawn) in std::mem::take(&mut self.sharing) {
            let Some(row) = self.rows.get(&seq).filter(|row| row.turn == drawn && !self.is_partial()) else {
                continue;
            };
            let (Some(key), Some(place)) = (row.job.spec.fair_key(), stand(seq, row).place) else { continue };
            let turn = self.lines.fair_turn(&row.job.spec.queue, key, place);
            if turn != drawn {
                let job = row.job.clone();
                self.swap(seq, Some(Row { job, turn }));
            }
        }
    }

    pub(super) fn remove(&mut self, id: JobId) {
        if let Some(seq) = self.ids.get(&id) {
            self.swap(*seq, None);
            if self.is_partial() {
                // What was removed is known not to be elsewhere.
                self.gaps.absent_jobs.insert(id);
            }
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
            for name in &undo.queues {
                self.queues.remove(name);
                self.new_queues.remove(name);
            }
            undo.entries.into_iter().for_each(|(key, before)| drop(self.set_entry(&key, before)));
        }
        result
    }

    /// Writes an entry, or removes it.
    pub(super) fn put_entry(&mut self, key: EntryKey, revision: Revision) {
        let before = self.set_entry(&key, revision);
        if let Some(undo) = &mut self.undo {
            undo.entries.entry(key.clone()).or_insert_with(|| before.clone());
        }
        if self.journal.is_some() {
            self.entry_journal.entry(key).or_insert(before);
        }
    }

    /// An entry as it stands elsewhere.
    pub(crate) fn lay_entry(&mut self, key: &EntryKey, written: Written) {
        drop(self.set_entry(key, Some(written)));
    }

    fn set_entry(&mut self, key: &EntryKey, revision: Revision) -> Revision {
        if let Some(queue) = limit::limited_queue(key) {
            self.lines.set_limited(queue, revision.is_some());
        }
        self.entries.put(key.clone(), revision)
    }

    /// Stores what others are to be told of what happened, in the same step.
    pub(super) fn keep_letters(&mut self, outbox: &dyn Outbox, happened: Happened<'_>, now: Timestamp) {
        if outbox.is_open() {
            let letters = outbox.letters(happened, now);
            for (key, written) in letters {
                self.put_entry(key, Some(written));
            }
        }
    }

    /// The entries that are not what they were, as they are.
    pub(crate) fn take_entry_journal(&mut self) -> Vec<(EntryKey, Revision)> {
        let journal = std::mem::take(&mut self.entry_journal).into_iter();
        let changed = journal.map(|(key, before)| (before, self.entries.get(&key).cloned(), key));
        changed.filter(|(before, after, _)| before != after).map(|(_, after, key)| (key, after)).collect()
    }

    /// How many jobs run that share a rate limit, here and elsewhere.
    pub(super) fn active_of(&self, key: &LimitKey) -> u64 {
        let here = self.lines.active(key);
        let Some(elsewhere) = self.active_elsewhere.get(key) else { return here };
        elsewhere + here.saturating_sub(self.laid_active.get(key).copied().unwrap_or(0))
    }

    /// The same for all jobs of a queue.
    pub(super) fn active_of_queue(&self, name: &QueueName) -> u64 {
        let here = self.queues.get(name).map_or(0, |queue| queue.counts.of(State::Active));
        let Some(elsewhere) = self.active_in_elsewhere.get(name) else { return here };
        elsewhere + here.saturating_sub(self.laid_active_in.get(name).copied().unwrap_or(0))
    }

    /// Whether it holds a part of what is stored, so that what is not here may be elsewhere.
    pub(super) fn is_partial(&self) -> bool {
        self.journal.is_some()
    }

    /// The only function that changes a row: whatever is known about rows follows from here.
    fn swap(&mut self, seq: Seq, next: Option<Row>) {
        let previous = self.rows.remove(&seq);
        let before = previous.as_ref().map(|row| stand(seq, row));
        self.lines.replace(before, next.as_ref().map(|row| stand(seq, row)));
        let sharer = |row| sharer(seq, row);
        self.sharers.replace(previous.as_ref().and_then(sharer), next.as_ref().and_then(sharer));
        if let Some(key) = before.filter(|stand| stand.is_active).and_then(|stand| stand.key) {
            self.opened.insert(key.clone());
        }
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
        if let Some(order) = job.stands_in() {
            self.orders.entry(order).or_default().insert((job.waits_for().is_some(), row.turn, seq));
        }
        if let Some(queue) = self.queues.get_mut(&job.spec.queue) {
            queue.counts.add(state);
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
            take_out(&mut self.keys, &key, &seq);
        }
        self.held.remove(&seq);
        if let Some(other) = job.waits_for() {
            take_out(&mut self.successors, &other, &seq);
        }
        if let Some(order) = job.stands_in() {
            take_out(&mut self.orders, &order, &(job.waits_for().is_some(), row.turn, seq));
        }
        if let Some(queue) = self.queues.get_mut(&job.spec.queue) {
            queue.counts.remove(state);
        }
        self.totals.counts.remove(state);
        self.totals.keys_held -= u64::from(job.holds_key());
        self.totals.dead_letters -= u64::from(job.phase.is_dead_letter());
    }
}

fn take_out<K: Hash + Eq, P: Ord>(lists: &mut HashMap<K, BTreeSet<P>>, name: &K, place: &P) {
    if let Some(places) = lists.get_mut(name) {
        places.remove(place);
        if places.is_empty() {
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

/// Where the job stands in line.
fn stand(seq: Seq, row: &Row) -> Stand<'_, Place> {
    let Row { job, turn } = row;
    Stand {
        queue: &job.spec.queue,
        key: job.spec.rate_limit.as_deref().map(|limit| &limit.key),
        place: (job.state() == State::Available).then_some((Reverse(job.spec.priority), *turn, seq)),
        is_active: job.state() == State::Active,
    }
}

fn sharer(seq: Seq, row: &Row) -> Option<(&LimitKey, Seq, State)> {
    shared_limit(&row.job).map(|key| (key, seq, row.job.state()))
}

/// Where the job stands in the dead-letter list, if it does.
fn dead_letter(job: &Job) -> Option<(Timestamp, JobId)> {
    job.phase.finished_at().filter(|_| job.phase.is_dead_letter()).map(|at| (at, job.id))
}
