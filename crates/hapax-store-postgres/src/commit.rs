//! Operations of many callers in one transaction: lock, fetch, let the desk decide, write, commit.

use std::collections::{BTreeSet, HashSet};

use hapax_core::unique::{Key, Uniqueness};
use hapax_core::{Job, JobId, StateSet, Timestamp};
use hapax_store::desk::{Desk, Numbered};
use hapax_store::record::policy;
use hapax_store::{Action, Answer, EntryKey, Happened, MemoKey, Op, Register, Revision, StoreError};
use uuid::Uuid;

use crate::Fault;
use crate::connect::Link;
use crate::entangled::Laid;
use crate::fresh;
use crate::limits;
use crate::load::{self, LoadStatements, Loaded, Wanted};
use crate::locks::{self, Lock};
use crate::memo;
use crate::request;
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
    // The statement that stores new jobs stores nothing beside them.
    if patience == Patience::None
        && !engine.settings.outbox.is_open()
        && let Some(answers) = fresh::store_new(engine, link, requests).await?
    {
        return Ok(answers.into_iter().map(Fate::Answered).collect());
    }
    let transaction = Transaction::new(link, patience);
    let ready = Ready::prepare(engine, &transaction).await.map_err(Fault::failed)?;
    let found = find(&transaction, &ready, requests.iter().flatten()).await.map_err(Fault::failed)?;
    let Found { laid, refused, mut held, memos, mut numbers } = found;
    let now = requests.iter().flatten().last().map_or(Timestamp::from_millis(0), |op| op.now);
    let (mut desk, fates) = match laid {
        OnDesk::Plain(mut desk) => {
            let fates = fates(&mut desk, requests, &refused, &held);
            (*desk, fates)
        }
        OnDesk::Entangled(mut laid) => {
            let work = |desk: &mut Desk| fates(desk, requests, &refused, &held);
            // Few groups have to do with workflows: the others need not make room for what these remember meanwhile.
            let done = Box::pin(laid.carry_out(&transaction, &ready, work)).await.map_err(Fault::failed)?;
            if let Some(done) = done {
                done
            } else {
                // Somebody is at one of the others that are concerned: whoever has to do with any waits for that apart.
                held.note_entangled(&laid);
                let mut desk = laid.desk(&ready.rules);
                let fates = fates(&mut desk, requests, &refused, &held);
                (desk, fates)
            }
        }
    };
    let mut moved = desk.take_moved();
    let mut entries = desk.take_moved_entries();
    for (ops, fate) in requests.iter().zip(&fates) {
        if let Fate::Answered(answers) = fate {
            entries.extend(letters(engine, ops, answers));
        }
    }
    let shares = numbers.give(&mut moved, &transaction, &ready.numbers).await.map_err(Fault::failed)?;
    let mut opened = limits::touched(&moved);
    opened.append(&mut desk.take_opened());
    let rest = Rest { now, desk: &desk, memos: &memos, entries: &entries, opened: &opened, shares: &shares };
    let saving = save(&transaction, &ready.writers, &engine.settings.rules, &moved, rest, Then::Commit);
    let queues = Box::pin(saving).await?;
    engine.word.spread(&moved);
    engine.word.room_in(&queues, &moved);
    Ok(fates)
}

/// What others are to be told of answers, as entries that are new.
pub(crate) fn letters(engine: &Engine, ops: &[Op], answers: &[Answer]) -> Vec<(EntryKey, Revision)> {
    let outbox = &*engine.settings.outbox;
    if !outbox.is_open() {
        return Vec::new();
    }
    let of_one = |(op, answer): (&Op, &Answer)| outbox.letters(Happened::Answered(answer), op.now);
    let letters = ops.iter().zip(answers).flat_map(of_one);
    letters.map(|(key, written)| (key, Some(written))).collect()
}

/// Carries out what nobody else holds.
fn fates(desk: &mut Desk, requests: &[Vec<Op>], refused: &BTreeSet<Lock>, held: &Held) -> Vec<Fate> {
    let fate = |ops: &Vec<Op>| {
        if ops.iter().any(|op| is_held(op, refused, held, desk)) {
            return Fate::Held;
        }
        Fate::Answered(ops.iter().map(|op| desk.apply(op.clone())).collect())
    };
    requests.iter().map(fate).collect()
}

/// The statements of a transaction, ready.
pub(crate) struct Ready {
    pub(crate) lock: tokio_postgres::Statement,
    pub(crate) load: LoadStatements,
    pub(crate) memos: tokio_postgres::Statement,
    keys: tokio_postgres::Statement,
    pub(crate) numbers: tokio_postgres::Statement,
    pub(crate) entries: tokio_postgres::Statement,
    workflows: tokio_postgres::Statement,
    pub(crate) depth: tokio_postgres::Statement,
    pub(crate) oldest: tokio_postgres::Statement,
    pub(crate) lasts: tokio_postgres::Statement,
    pub(crate) writers: Writers,
    pub(crate) rules: hapax_core::Rules,
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
            entries: transaction.prepare(&statements.entries).await?,
            workflows: transaction.prepare(&statements.workflows_of).await?,
            depth: transaction.prepare(&statements.depth).await?,
            oldest: transaction.prepare(&statements.oldest).await?,
            lasts: transaction.prepare(&statements.lasts).await?,
            writers: Writers::prepare(transaction, statements).await?,
            rules: engine.settings.rules.clone(),
        })
    }
}

/// What a transaction has before it decides.
struct Found {
    laid: OnDesk,
    /// Locks that others have.
    refused: BTreeSet<Lock>,
    held: Held,
    memos: Vec<MemoKey>,
    numbers: Numbers,
}

/// The rows that were fetched.
enum OnDesk {
    /// All that can be asked for is there.
    Plain(Box<Desk>),
    /// Some are steps of workflows or stand in lines, and what becomes of them may ask for more.
    Entangled(Box<Laid>),
}

/// Rows that others have locked, by what would miss them.
#[derive(Default)]
struct Held {
    ids: HashSet<Uuid>,
    keys: HashSet<Key>,
    /// Whether those have to wait who bring jobs that have to know more than that.
    entangled: bool,
}

impl Held {
    /// Whoever may ask for more, as if somebody had locked it.
    fn note_entangled(&mut self, laid: &Laid) {
        self.entangled = true;
        for job in laid.jobs().map(|stored| &stored.job).filter(|job| is_entangled(job)) {
            self.ids.insert(uuid(job.id));
            self.keys.extend(job.key);
        }
    }

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
        locks.extend(workflows_to_go_on(transaction, &ready.workflows, ops.clone()).await?);
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
    let mut held = Held::default();
    held.note(&loaded);
    let mut beside = Wanted::default();
    for stored in &loaded.jobs {
        add_neighbours(&mut beside, &stored.job, ops.clone());
    }
    let mut others = Loaded::default();
    if !beside.is_empty() {
        others = beside.load(transaction, &ready.load).await?;
        held.note(&others);
    }
    let has_entangled = loaded.jobs.iter().chain(&others.jobs).any(|stored| is_entangled(&stored.job))
        || ops.clone().any(|op| request::is_entangled(op) || request::closes_a_limit(op));
    let laid = if has_entangled {
        let mut laid = Laid::default();
        for (key, kept) in recalled {
            laid.add_memo(key, kept);
        }
        loaded.jobs.into_iter().chain(others.jobs).for_each(|stored| laid.add(stored));
        OnDesk::Entangled(Box::new(laid))
    } else {
        let mut desk = Desk::new(ready.rules.clone());
        for (key, kept) in recalled {
            desk.lay_memo(key, kept);
        }
        loaded.jobs.into_iter().for_each(|stored| desk.lay(stored));
        lay_new(&mut desk, others);
        OnDesk::Plain(Box::new(desk))
    };
    Ok(Found { laid, refused, held, memos, numbers })
}

/// Whether what becomes of a job may concern others than those who wait for it: the steps of its workflow, or the one before
/// it, for whom those would have to wait who wait for it.
pub(crate) fn is_entangled(job: &Job) -> bool {
    job.spec.workflow.is_some() || job.spec.ordering_key.is_some() || job.waits_for().is_some()
}

/// Who waits for rows takes the keys first to which a step may bring a job back, as those do who enqueue: else one could
/// hold the job and wait for the key's holder, and the other the reverse.
async fn keys_to_come_back_to<'o>(
    transaction: &Transaction<'_>,
    statement: &tokio_postgres::Statement,
    ops: impl Iterator<Item = &'o Op>,
) -> Result<Vec<Lock>, Fault> {
    let ids = stepped(ops);
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

/// Who waits for rows takes the workflows first to which they belong, as those do who call workflows off.
async fn workflows_to_go_on<'o>(
    transaction: &Transaction<'_>,
    statement: &tokio_postgres::Statement,
    ops: impl Iterator<Item = &'o Op>,
) -> Result<Vec<Lock>, Fault> {
    let ids = stepped(ops);
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = transaction.query(statement, &[&ids], "look for workflows").await?;
    let lock = |row: &tokio_postgres::Row| {
        let name: &str = row.try_get(0).map_err(Fault::of("look for workflows"))?;
        Ok(Lock::of_entry(&EntryKey::new(Register::Workflow, name)))
    };
    rows.iter().map(lock).collect()
}

/// The jobs to which something is to happen by name.
fn stepped<'o>(ops: impl Iterator<Item = &'o Op>) -> Vec<Uuid> {
    let step = |op: &Op| match &op.action {
        Action::Step { id, .. } => Some(uuid(*id)),
        _ => None,
    };
    ops.filter_map(step).collect()
}

/// Lays rows that are not there yet.
pub(crate) fn lay_new(desk: &mut Desk, loaded: Loaded) {
    for stored in loaded.jobs {
        if desk.get(stored.job.id).is_none() {
            desk.lay(stored);
        }
    }
}

/// Jobs that are to change, with whom they let go or meet, but for those of which somebody else has locked one: they wait
/// for the next time, for else they would leave behind whoever waits for them.
pub(crate) fn free(jobs: Vec<Numbered>, mut others: Loaded) -> Vec<Numbered> {
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
    others.jobs
}

/// Whether others may wait behind it while it waits itself: in the line of an ordering key, or in that of a recurring job. Of
/// those who wait for a running one with their key there is only ever the latest.
fn waits_in_line(job: &Job) -> bool {
    let policy = job.spec.unique.as_ref().and_then(Uniqueness::policy);
    let is_latest = policy.is_some_and(|policy| policy.while_active.is_some());
    job.waits_for().is_some() && (job.spec.ordering_key.is_some() || !is_latest)
}

/// Lays those. Who waits in a line may be let go, but those behind it are not here, so that it must not end here.
pub(crate) fn lay_free(desk: &mut Desk, jobs: Vec<Numbered>, others: Loaded) {
    for stored in free(jobs, others) {
        if desk.get(stored.job.id).is_some() {
            continue;
        }
        if waits_in_line(&stored.job) {
            desk.lay_out_of_reach(stored);
        } else {
            desk.lay(stored);
        }
    }
}

/// How many places an operation may need.
fn places(op: &Op) -> usize {
    match &op.action {
        Action::Enqueue { .. } => 1,
        Action::EnqueueAll { incoming, .. } | Action::EnqueueEach { incoming, .. } => incoming.len(),
        Action::StartWorkflow { workflow, .. } => workflow.plan.jobs.len(),
        // Most acknowledge or prolong; what becomes available draws its number then.
        Action::Step { .. }
        | Action::StepHolders { .. }
        | Action::Edit { .. }
        | Action::EditTogether { .. }
        | Action::RunCron { .. }
        | Action::CancelWorkflow(_)
        | Action::Pause(_)
        | Action::Resume(_)
        | Action::RemoveQueue(_) => 0,
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
    if held.entangled && request::is_entangled(op) {
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
        Action::StepHolders { .. }
        | Action::Edit { .. }
        | Action::EditTogether { .. }
        | Action::RunCron { .. }
        | Action::StartWorkflow { .. }
        | Action::CancelWorkflow(_)
        | Action::Pause(_)
        | Action::Resume(_)
        | Action::RemoveQueue(_) => false,
    }
}
