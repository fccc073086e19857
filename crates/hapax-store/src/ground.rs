//! What a store lets its own rules touch while it carries out an operation. Rules about more than one job stand once,
//! over this, and serve every engine.

use hapax_core::limit::LimitKey;
use hapax_core::{Admission, Event, Incoming, Job, JobId, Order, QueueName, Refusal, Rules, Timestamp};

use crate::{Change, Done, Edit, Entry, EntryKey, JointEdit, Register, Revision, Written};

/// The rows of an engine, inside its atomic section.
pub trait Ground {
    /// What the machine may fail with.
    type Trouble;

    /// The operator's settings.
    fn rules(&self) -> &Rules;

    /// The job of that id.
    fn job(&mut self, id: JobId) -> Result<Option<Job>, Self::Trouble>;

    /// The entry of that name.
    fn entry(&mut self, key: &EntryKey) -> Result<Option<Entry>, Self::Trouble>;

    /// Writes an entry, or removes it.
    fn put_entry(&mut self, key: EntryKey, revision: Revision) -> Result<(), Self::Trouble>;

    /// The jobs that count when it is decided whether this one is a duplicate.
    fn holders(&mut self, incoming: &Incoming, now: Timestamp) -> Result<Vec<Job>, Self::Trouble>;

    /// Admits a job.
    fn admit(
        &mut self,
        incoming: Incoming,
        now: Timestamp,
    ) -> Result<Result<Admission, Refusal>, Self::Trouble>;

    /// Lets something happen to a job, without what follows from it for its workflow.
    fn step_alone(
        &mut self,
        id: JobId,
        event: Event,
        now: Timestamp,
    ) -> Result<Result<Change, Refusal>, Self::Trouble>;

    /// Stores a job in the place of what it was.
    fn put(&mut self, job: Job, now: Timestamp) -> Result<(), Self::Trouble>;

    /// The jobs that wait for the end of this one, oldest first.
    fn successors(&mut self, of: JobId) -> Result<Vec<Job>, Self::Trouble>;

    /// The last of a line: the one that came last of those that wait for another, or the only one.
    fn last_of(&mut self, order: &Order) -> Result<Option<JobId>, Self::Trouble>;

    /// How many jobs wait in a queue.
    fn depth(&mut self, queue: &QueueName) -> Result<u64, Self::Trouble>;

    /// The oldest job of the lowest priority that waits for a worker in a queue, but for these.
    fn oldest_in_line(&mut self, queue: &QueueName, except: &[JobId])
    -> Result<Option<JobId>, Self::Trouble>;

    /// Whether an operator limits a queue.
    fn is_limited(&self, queue: &QueueName) -> bool;

    /// How many jobs of a queue run.
    fn active_in(&mut self, queue: &QueueName) -> Result<u64, Self::Trouble>;

    /// How many jobs run that share a rate limit.
    fn active(&mut self, key: &LimitKey) -> Result<u64, Self::Trouble>;

    /// There may be room again for jobs that share a rate limit.
    fn open(&mut self, key: &LimitKey) -> Result<(), Self::Trouble>;

    /// What to say of an entry that cannot be read.
    fn unreadable(&self, key: &EntryKey) -> Self::Trouble;
}

/// Changes an entry.
pub fn edit<G: Ground>(
    ground: &mut G,
    key: EntryKey,
    edit: &Edit,
) -> Result<Result<Done, Refusal>, G::Trouble> {
    let before = ground.entry(&key)?.map(|entry| entry.written);
    let after = match edit.apply(before.as_ref()) {
        Ok(after) => after,
        Err(refusal) => return Ok(Err(refusal)),
    };
    rewrite(ground, &key, before.as_ref(), &after)?;
    let entry = after.map(|written| Entry { key, written });
    Ok(Ok(Done::Edited { entry, was_there: before.is_some() }))
}

/// Changes several entries together.
pub fn edit_together<G: Ground>(
    ground: &mut G,
    keys: Vec<EntryKey>,
    edit: &JointEdit,
) -> Result<Result<Done, Refusal>, G::Trouble> {
    let mut before = Vec::with_capacity(keys.len());
    for key in &keys {
        before.push(ground.entry(key)?.map(|entry| entry.written));
    }
    let after = match edit.apply(&before) {
        Ok(after) => after,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut entries = Vec::with_capacity(keys.len());
    for ((key, before), after) in keys.into_iter().zip(before).zip(after) {
        rewrite(ground, &key, before.as_ref(), &after)?;
        entries.push(after.map(|written| Entry { key, written }));
    }
    Ok(Ok(Done::EditedTogether(entries)))
}

/// Writes an entry, if it says something else now.
fn rewrite<G: Ground>(
    ground: &mut G,
    key: &EntryKey,
    before: Option<&Written>,
    after: &Revision,
) -> Result<(), G::Trouble> {
    if after.as_ref() == before {
        return Ok(());
    }
    ground.put_entry(key.clone(), after.clone())?;
    if key.register == Register::Limit
        && let Ok(limit) = LimitKey::parse_any(&key.name)
    {
        ground.open(&limit)?;
    }
    Ok(())
}
