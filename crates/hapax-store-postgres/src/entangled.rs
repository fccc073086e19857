//! Operations whose rows cannot be told beforehand: what the end of a job means for its workflow, or for those behind it in
//! a line, is known when it is decided. They are carried out on a desk that says what it lacks, and again when that was fetched.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use hapax_core::{JobId, Order, QueueName, Rules};
use hapax_store::desk::{Desk, Kept, Numbered, Wanting};
use hapax_store::{Entry, EntryKey, MemoKey};

use crate::Fault;
use crate::commit::Ready;
use crate::entry;
use crate::load::{Loaded, Wanted};
use crate::locks::{self, Lock};
use crate::row;
use crate::transaction::Transaction;

/// How often rows are fetched for one group. Each time brings what was not known to be needed before, so a few are
/// enough for any workflow; beyond that something goes round in circles.
const FETCHES_MAX: usize = 20;

/// How many jobs one group takes the places of in a full queue; beyond that it is refused.
const OLDEST_MAX: usize = 100;

/// What lies on a desk, to lay it again.
#[derive(Debug, Default)]
pub(crate) struct Laid {
    jobs: BTreeMap<JobId, Numbered>,
    entries: BTreeMap<EntryKey, Entry>,
    memos: Vec<(MemoKey, Kept)>,
    /// How many jobs wait in queues.
    depths: BTreeMap<QueueName, u64>,
    gaps: Wanting,
}

impl Laid {
    /// Adds a row, unless it is there.
    pub(crate) fn add(&mut self, stored: Numbered) {
        self.jobs.entry(stored.job.id).or_insert(stored);
    }

    pub(crate) fn add_memo(&mut self, key: MemoKey, kept: Kept) {
        self.memos.push((key, kept));
    }

    pub(crate) fn add_entry(&mut self, entry: Entry) {
        self.entries.insert(entry.key.clone(), entry);
    }

    /// The rows as they lie there.
    pub(crate) fn jobs(&self) -> impl Iterator<Item = &Numbered> {
        self.jobs.values()
    }

    /// Takes rows away that shall not be touched.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Numbered) -> bool) {
        self.jobs.retain(|_, stored| keep(stored));
    }

    pub(crate) fn forget_entries(&mut self) {
        self.entries.clear();
    }

    /// A desk with all of it.
    pub(crate) fn desk(&self, rules: &Rules) -> Desk {
        let mut desk = Desk::new(rules.clone());
        self.jobs.values().for_each(|stored| desk.lay(stored.clone()));
        self.entries.values().for_each(|entry| desk.lay_entry(entry.clone()));
        for (key, kept) in &self.memos {
            desk.lay_memo(key.clone(), kept.clone());
        }
        desk.lay_gaps(&self.gaps);
        self.depths.iter().for_each(|(queue, depth)| desk.lay_depth(queue, *depth));
        desk
    }

    /// Does the work on a desk that has all it asks for; nothing if somebody else holds a part of that.
    pub(crate) async fn carry_out<T>(
        &mut self,
        transaction: &Transaction<'_>,
        ready: &Ready,
        work: impl Fn(&mut Desk) -> T,
    ) -> Result<Option<(Desk, T)>, Fault> {
        for _ in 0..FETCHES_MAX {
            let mut desk = self.desk(&ready.rules);
            let done = work(&mut desk);
            let wanting = desk.take_wanting();
            if wanting.is_empty() {
                return Ok(Some((desk, done)));
            }
            if !self.fetch(transaction, ready, wanting).await? {
                return Ok(None);
            }
        }
        Err(Fault::Unreadable("a workflow"))
    }

    /// Fetches how many jobs wait in queues, those that a full one would give up first, and who waits for them; false if
    /// somebody else holds one of the latter.
    async fn measure(
        &mut self,
        transaction: &Transaction<'_>,
        ready: &Ready,
        queues: &BTreeSet<QueueName>,
    ) -> Result<bool, Fault> {
        let failed = Fault::of("measure queues");
        let mut oldest = Vec::new();
        for queue in queues {
            let depth = transaction.query(&ready.depth, &[&queue.as_str()], "measure queues").await?;
            let depth: i64 =
                depth.first().map(|row| row.try_get(0)).transpose().map_err(&failed)?.unwrap_or(0);
            let limit = i64::try_from(OLDEST_MAX).unwrap_or(i64::MAX);
            let rows =
                transaction.query(&ready.oldest, &[&queue.as_str(), &limit], "fetch the oldest jobs").await?;
            for row in &rows {
                let stored = row::read(row, 0)?;
                oldest.push(stored.job.id);
                self.add(stored);
            }
            self.depths.insert(queue.clone(), u64::try_from(depth).unwrap_or(0));
        }
        let waiting = Loaded::successors(transaction, &ready.load, &oldest).await?;
        waiting.jobs.into_iter().for_each(|stored| self.add(stored));
        Ok(waiting.held.is_empty())
    }

    /// Locks and fetches what is missing; false if somebody else holds a part of it. The lock comes before the look: the
    /// look has to see what its last owner wrote.
    pub(crate) async fn fetch(
        &mut self,
        transaction: &Transaction<'_>,
        ready: &Ready,
        wanting: Wanting,
    ) -> Result<bool, Fault> {
        let entries = wanting.entries.iter().map(Lock::of_entry);
        let orders = wanting.orders.iter().map(Lock::of_order);
        let keys = wanting.keys.iter().map(|(key, ..)| Lock::of_key(key));
        let locks: BTreeSet<Lock> =
            entries.chain(keys).chain(orders).chain(wanting.queues.iter().map(Lock::of_queue)).collect();
        if !locks::take(transaction, &ready.lock, &locks).await?.is_empty() {
            return Ok(false);
        }
        let keys: Vec<EntryKey> = wanting.entries.iter().cloned().collect();
        for entry in entry::load(transaction, &ready.entries, &keys).await? {
            self.entries.insert(entry.key.clone(), entry);
        }
        let mut wanted = Wanted::default();
        wanting.jobs.iter().for_each(|id| wanted.add_id(*id));
        wanting.keys.iter().for_each(|(key, watch, now)| wanted.add_key(*key, *watch, *now));
        let lasts = lasts(transaction, ready, &wanting.orders).await?;
        for id in &lasts {
            wanted.add_id(*id);
        }
        let loaded = wanted.look_closely(transaction, &ready.load).await?;
        let lives = |stored: &Numbered| !stored.job.state().is_terminal();
        let living: HashSet<JobId> =
            loaded.jobs.iter().filter(|stored| lives(stored)).map(|stored| stored.job.id).collect();
        // One that ended between the look and the lock is not the last: somebody else may be.
        let is_free = loaded.held.is_empty() && lasts.iter().all(|id| living.contains(id));
        loaded.jobs.into_iter().for_each(|stored| self.add(stored));
        let is_free = self.measure(transaction, ready, &wanting.queues).await? && is_free;
        let Wanting { jobs, entries, keys, queues: _, orders } = wanting;
        self.gaps.orders.extend(orders);
        self.gaps.keys.extend(keys);
        self.gaps.jobs.extend(jobs.into_iter().filter(|id| !self.jobs.contains_key(id)));
        self.gaps.entries.extend(entries.into_iter().filter(|key| !self.entries.contains_key(key)));
        Ok(is_free)
    }
}

/// Who stands at the end of these lines.
async fn lasts(
    transaction: &Transaction<'_>,
    ready: &Ready,
    orders: &BTreeSet<Order>,
) -> Result<Vec<JobId>, Fault> {
    if orders.is_empty() {
        return Ok(Vec::new());
    }
    let (queues, keys): (Vec<&str>, Vec<&str>) =
        orders.iter().map(|order| (order.queue.as_str(), order.key.as_str())).unzip();
    let rows = transaction.query(&ready.lasts, &[&queues, &keys], "look for the last of lines").await?;
    let id = |row: &tokio_postgres::Row| {
        let id: uuid::Uuid = row.try_get(0).map_err(Fault::of("look for the last of lines"))?;
        JobId::from_bytes(*id.as_bytes()).ok_or(Fault::Unreadable("the id of a job in a line"))
    };
    rows.iter().map(id).collect()
}
