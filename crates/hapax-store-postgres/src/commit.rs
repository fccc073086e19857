//! Operations of many callers in one transaction: lock, fetch, let the desk decide, write, commit.

use std::collections::{BTreeSet, HashSet};

use hapax_core::unique::{Key, Uniqueness};
use hapax_core::{Job, JobId, StateSet, Timestamp};
use hapax_store::desk::{Desk, Numbered};
use hapax_store::record::policy;
use hapax_store::{Action, Answer, MemoKey, Op, StoreError};
use uuid::Uuid;

use crate::Fault;
use crate::connect::Link;
use crate::fresh;
use crate::load::{self, LoadStatements, Loaded, Wanted};
use crate::locks::{self, Lock};
use crate::memo;
use crate::row::uuid;
use crate::save::{Numbers, Rest, Then, Writers, save};
use crate::store::Engine;
use crate::transaction::{Patience, Transaction};

/// What became of a request in a group.
#[derive(Debug)]
pub(crate) enum Fate {
    Answered(Vec<Answer>),
    /// Somebody else holds what it needs; nothing of it was done.
    Held,
}

/// Carries out what can be carried out, and commits it. Without patience, that is what nobody else has locked.
pub(crate) async fn together(
    engine: &Engine,
    link: &Link,
    requests: &[Vec<Op>],
    patience: Patience,
) -> Result<Vec<Fate>, StoreError> {
    if patience == Patience::None
        && let Some(answers) = fresh::store_new(engine, link, requests).await?
    {
        return Ok(answers.into_iter().map(Fate::Answered).collect());
    }
    let transaction = Transaction::new(link, patience);
    let ready = Ready::prepare(engine, &transaction).await.map_err(Fault::failed)?;
    let found = find(&transaction, &ready, requests.iter().flatten()).await.map_err(Fault::failed)?;
    let Found { mut desk, refused, held, memos, mut numbers } = found;
    let mut now = Timestamp::from_millis(0);
    let mut fates = Vec::with_capacity(requests.len());
    for ops in requests {
        if ops.iter().any(|op| is_held(op, &refused, &held, &desk)) {
            fates.push(Fate::Held);
            continue;
        }
        now = ops.last().map_or(now, |op| op.now);
        fates.push(Fate::Answered(ops.iter().map(|op| desk.apply(op.clone())).collect()));
    }
    let mut moved = desk.take_moved();
    numbers.give(&mut moved, &transaction, &ready.numbers).await.map_err(Fault::failed)?;
    let rest = Rest { now, desk: &desk, memos: &memos };
    save(&transaction, &ready.writers, &engine.settings.rules, &moved, rest, Then::Commit).await?;
    engine.word.spread(&moved);
    Ok(fates)
}

/// The statements of a transaction, ready.
pub(crate) struct Ready {
    pub(crate) lock: tokio_postgres::Statement,
    pub(crate) load: LoadStatements,
    pub(crate) memos: tokio_postgres::Statement,
    keys: tokio_postgres::Statement,
    pub(crate) numbers: tokio_postgres::Statement,
    pub(crate) writers: Writers,
    rules: hapax_core::Rules,
}

impl Ready {
    pub(crate) async fn prepare(engine: &Engine, transaction: &Transaction<'_>) -> Result<Ready, Fault> {
        let statements = &engine.statements;
        let lock = match transaction.patience {
            Patience::None => &statements.try_lock,
            Patience::UntilTimeout => &statements.lock,
        };
        Ok(Ready {
            lock: transaction.prepare(lock).await?,
            load: LoadStatements::prepare(transaction, statements).await?,
            memos: transaction.prepare(&statements.memos).await?,
            keys: transaction.prepare(&statements.keys).await?,
            numbers: transaction.prepare(&statements.numbers).await?,
            writers: Writers::prepare(transaction, statements).await?,
            rules: engine.settings.rules.clone(),
        })
    }
}

/// What a transaction has before it decides.
struct Found {
    desk: Desk,
    /// Locks that others have.
    refused: BTreeSet<Lock>,
    held: Held,
    memos: Vec<MemoKey>,
    numbers: Numbers,
}

/// Rows that others have locked, by what would miss them.
#[derive(Default)]
struct Held {
    ids: HashSet<Uuid>,
    keys: HashSet<Key>,
}

impl Held {
    fn note(&mut self, loaded: &Loaded) {
        for row in &loaded.held {
            self.ids.extend([row.id].into_iter().chain(row.after));
            self.keys.extend(row.key);
        }
    }
}

/// Begins the transaction and brings what the operations ask for, in one go, or in two if a job may come back to its
/// key.
async fn find<'o>(
    transaction: &Transaction<'_>,
    ready: &Ready,
    ops: impl Iterator<Item = &'o Op> + Clone,
) -> Result<Found, Fault> {
    let mut locks: BTreeSet<Lock> = ops.clone().flat_map(locks::of_op).collect();
    let memos: BTreeSet<MemoKey> = ops.clone().filter_map(memo::of_op).cloned().collect();
    let memos: Vec<MemoKey> = memos.into_iter().collect();
    let mut wanted = Wanted::default();
    for op in ops.clone() {
        wanted.add(op);
    }
    let mut numbers = Numbers::default();
    let is_patient = transaction.patience == Patience::UntilTimeout;
    if is_patient {
        transaction.begin().await?;
        locks.extend(keys_to_come_back_to(transaction, &ready.keys, ops.clone()).await?);
    }
    let (begun, refused, loaded, recalled, drawn) = tokio::join! {
        biased;
        async { if is_patient { Ok(()) } else { transaction.begin().await } },
        locks::take(transaction, &ready.lock, &locks),
        wanted.load(transaction, &ready.load),
        memo::load(transaction, &ready.memos, &memos),
        numbers.draw(transaction, &ready.numbers, ops.clone().map(places).sum()),
    };
    // In the order of the statements: after the first error the database refuses the rest, which says nothing.
    begun?;
    let (refused, loaded, recalled) = (refused?, loaded?, recalled?);
    drawn?;
    let mut desk = Desk::new(ready.rules.clone());
    for (key, kept) in recalled {
        desk.lay_memo(key, kept);
    }
    let mut held = Held::default();
    held.note(&loaded);
    let mut beside = Wanted::default();
    for stored in &loaded.jobs {
        add_neighbours(&mut beside, &stored.job, ops.clone());
    }
    for stored in loaded.jobs {
        desk.lay(stored);
    }
    if !beside.is_empty() {
        let loaded = beside.load(transaction, &ready.load).await?;
        held.note(&loaded);
        lay_new(&mut desk, loaded);
    }
    Ok(Found { desk, refused, held, memos, numbers })
}

/// Who waits for rows takes the keys first to which a step may bring a job back, as those do who enqueue: else one could
/// hold the job and wait for the key's holder, and the other the reverse.
async fn keys_to_come_back_to<'o>(
    transaction: &Transaction<'_>,
    statement: &tokio_postgres::Statement,
    ops: impl Iterator<Item = &'o Op>,
) -> Result<Vec<Lock>, Fault> {
    let step = |op: &Op| match &op.action {
        Action::Step { id, .. } => Some(uuid(*id)),
        _ => None,
    };
    let ids: Vec<Uuid> = ops.filter_map(step).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = transaction.query(statement, &[&ids], "look for keys").await?;
    let lock = |row: &tokio_postgres::Row| {
        let failed = Fault::of("look for keys");
        let key: &[u8] = row.try_get(0).map_err(&failed)?;
        let key = key.try_into().map(Key::from_bytes).map_err(|_| Fault::Unreadable("the key of a job"))?;
        let policy: &str = row.try_get(1).map_err(&failed)?;
        let unique = policy::read(policy).map_err(|_| Fault::Unreadable("the policy of a job"))?;
        Ok((unique.watch().states != StateSet::INCOMPLETE).then(|| Lock::of_key(&key)))
    };
    rows.iter().filter_map(|row| lock(row).transpose()).collect()
}

/// Lays rows that are not there yet.
pub(crate) fn lay_new(desk: &mut Desk, loaded: Loaded) {
    for stored in loaded.jobs {
        if desk.get(stored.job.id).is_none() {
            desk.lay(stored);
        }
    }
}

/// Lays jobs that are to change with whom they let go or meet, but for those of which somebody else has locked one: they wait
/// for the next time, for else they would leave behind whoever waits for them.
pub(crate) fn lay_free(desk: &mut Desk, jobs: Vec<Numbered>, mut others: Loaded) {
    let is_entangled = |job: &Job| {
        let id = uuid(job.id);
        let holds_up =
            |held: &load::Held| held.after == Some(id) || (held.key.is_some() && held.key == job.key);
        others.held.iter().any(holds_up)
    };
    let entangled = jobs.iter().filter(|stored| is_entangled(&stored.job));
    let entangled: HashSet<JobId> = entangled.map(|stored| stored.job.id).collect();
    // They may have been fetched once more, among the others.
    others.jobs.extend(jobs);
    others.jobs.retain(|stored| !entangled.contains(&stored.job.id));
    lay_new(desk, others);
}

/// How many places an operation may need.
fn places(op: &Op) -> usize {
    match &op.action {
        Action::Enqueue { .. } => 1,
        Action::EnqueueAll { incoming, .. } | Action::EnqueueEach { incoming, .. } => incoming.len(),
        // Most acknowledge or prolong; what becomes available draws its number then.
        Action::Step { .. } | Action::StepHolders { .. } | Action::Pause(_) | Action::Resume(_) => 0,
    }
}

/// A job whose policy does not name every live state, or names one in which a job has ended, may come back to its key
/// by any step: whoever else holds that key has to be seen then.
fn add_neighbours<'o>(wanted: &mut Wanted, job: &Job, ops: impl Iterator<Item = &'o Op>) {
    let Some((key, watch)) = job.key.zip(job.spec.unique.as_ref().map(Uniqueness::watch)) else { return };
    if watch.states == StateSet::INCOMPLETE {
        return;
    }
    for op in ops {
        if matches!(&op.action, Action::Step { id, .. } if *id == job.id) {
            wanted.add_key(key, watch, op.now);
        }
    }
}

fn is_held(op: &Op, refused: &BTreeSet<Lock>, held: &Held, desk: &Desk) -> bool {
    if !refused.is_empty() && locks::of_op(op).iter().any(|lock| refused.contains(lock)) {
        return true;
    }
    if held.ids.is_empty() {
        return false;
    }
    let has_id = |id: JobId| held.ids.contains(&uuid(id));
    let has_key = |key: Option<&Key>| key.is_some_and(|key| held.keys.contains(key));
    let of_incoming = |incoming: &hapax_core::Incoming| has_id(incoming.id) || has_key(incoming.key.as_ref());
    match &op.action {
        Action::Enqueue { incoming, .. } => of_incoming(incoming),
        Action::EnqueueAll { incoming, .. } | Action::EnqueueEach { incoming, .. } => {
            incoming.iter().any(of_incoming)
        }
        Action::Step { id, .. } => has_id(*id) || has_key(desk.get(*id).and_then(|job| job.key.as_ref())),
        Action::StepHolders { .. } | Action::Pause(_) | Action::Resume(_) => false,
    }
}
