//! One request in a transaction of its own, operation after operation, waiting for the locks of others. For what met
//! a lock in the commit lane, and for the operations that are too rare to share a transaction.

use std::collections::BTreeSet;

use hapax_core::unique::{Key, Uniqueness};
use hapax_core::{Event, Job, JobId, QueueName, Transition, decide, reentry_key};
use hapax_store::desk::Moved;
use hapax_store::{Action, Answer, MemoKey, Op, StoreError};

use crate::Fault;
use crate::commit::{self, Fate, Ready};
use crate::connect::Link;
use crate::entangled::Laid;
use crate::limits;
use crate::load::Wanted;
use crate::locks::{self, Lock};
use crate::memo;
use crate::queue;
use crate::request;
use crate::save::{Numbers, Rest, Then, save};
use crate::store::Engine;
use crate::transaction::{Patience, Transaction};

/// How often a request starts anew because the database undid it for the sake of others.
const TRIES_MAX: usize = 20;

/// Sees a request through.
pub(crate) async fn alone(engine: &Engine, ops: Vec<Op>) -> Result<Vec<Answer>, StoreError> {
    let request = [ops];
    // Few at a time: they hold connections while they wait.
    let places = if request::are_simple(&request[0]) { &engine.patient } else { &engine.rare };
    let _place = places.acquire().await.map_err(|_| StoreError::Closed)?;
    for _ in 0..TRIES_MAX {
        let link = engine.pool.connection().await.map_err(Fault::failed)?;
        match Box::pin(attempt(engine, &link, &request)).await {
            Ok(answers) => {
                link.keep();
                return Ok(answers);
            }
            Err(Trouble::OfTheMoment) => {}
            Err(Trouble::Final(error)) => return Err(error),
        }
    }
    Err(Fault::Held.failed())
}

/// Why an attempt came to nothing.
enum Trouble {
    /// The database undid it; the next attempt may succeed.
    OfTheMoment,
    Final(StoreError),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Trouble {
        if fault.is_of_the_moment() {
            Trouble::OfTheMoment
        } else if fault.is_of_a_lock() {
            Trouble::Final(Fault::Held.failed())
        } else {
            Trouble::Final(fault.failed())
        }
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Trouble {
        match &error {
            StoreError::Failed(source) => match source.downcast_ref::<Fault>() {
                Some(fault) if fault.is_of_the_moment() => Trouble::OfTheMoment,
                Some(fault) if fault.is_of_a_lock() => Trouble::Final(Fault::Held.failed()),
                _ => Trouble::Final(error),
            },
            StoreError::Unknown(_) | StoreError::Closed | StoreError::Damaged { .. } => Trouble::Final(error),
        }
    }
}

async fn attempt(engine: &Engine, link: &Link, request: &[Vec<Op>; 1]) -> Result<Vec<Answer>, Trouble> {
    let [ops] = request;
    if request::are_simple(ops) {
        let fates = commit::together(engine, link, request, Patience::UntilTimeout).await?;
        return match fates.into_iter().next() {
            Some(Fate::Answered(answers)) => Ok(answers),
            // A row that was found and went before it could be locked.
            Some(Fate::Held) | None => Err(Trouble::OfTheMoment),
        };
    }
    let transaction = Transaction::new(link, Patience::UntilTimeout);
    let ready = Ready::prepare(engine, &transaction).await?;
    transaction.begin().await?;
    // All at once and in order, whatever the order of the operations.
    locks::take(&transaction, &ready.lock, &ops.iter().flat_map(locks::of_op).collect()).await?;
    let (mut answers, mut done_so_far) = (Vec::with_capacity(ops.len()), DoneSoFar::default());
    for op in ops {
        answers.push(Box::pin(carry_out(engine, &transaction, &ready, op, &mut done_so_far)).await?);
    }
    transaction.commit().await.map_err(Fault::at_commit)?;
    let DoneSoFar { moved, queues } = done_so_far;
    engine.word.spread(&moved);
    engine.word.room_in(&queues, &moved);
    Ok(answers)
}

/// What others are to hear of when it is committed.
#[derive(Default)]
struct DoneSoFar {
    moved: Vec<Moved>,
    /// Queues in which a rate limit may leave room.
    queues: BTreeSet<QueueName>,
}

async fn carry_out(
    engine: &Engine,
    transaction: &Transaction<'_>,
    ready: &Ready,
    op: &Op,
    done_so_far: &mut DoneSoFar,
) -> Result<Answer, Trouble> {
    match &op.action {
        Action::Pause(name) => return pause(engine, transaction, ready, op, name, true).await,
        Action::Resume(name) => return pause(engine, transaction, ready, op, name, false).await,
        Action::RemoveQueue(name) => return remove_queue(engine, transaction, ready, op, name).await,
        Action::Enqueue { .. }
        | Action::EnqueueAll { .. }
        | Action::EnqueueEach { .. }
        | Action::Step { .. }
        | Action::StepHolders { .. }
        | Action::Edit { .. }
        | Action::EditTogether { .. }
        | Action::RunCron { .. }
        | Action::StartWorkflow { .. }
        | Action::CancelWorkflow(_) => {}
    }
    let mut locks: BTreeSet<Lock> = locks::of_op(op).into_iter().collect();
    locks.extend(key_to_be_brought_back(engine, transaction, op).await?.as_ref().map(Lock::of_key));
    locks::take(transaction, &ready.lock, &locks).await?;
    let memos: Vec<MemoKey> = memo::of_op(op).cloned().into_iter().collect();
    let mut wanted = Wanted::default();
    wanted.add(op);
    for id in carriers(engine, transaction, op).await? {
        wanted.add_id(id);
    }
    let mut laid = Laid::default();
    let loaded = wanted.load(transaction, &ready.load).await?;
    let mut beside = Wanted::default();
    for stored in &loaded.jobs {
        add_who_is_met(engine, &mut beside, &stored.job, op);
    }
    let others = beside.load(transaction, &ready.load).await?;
    loaded.jobs.into_iter().chain(others.jobs).for_each(|stored| laid.add(stored));
    let recalled = memo::load(transaction, &ready.memos, &memos).await?;
    for (key, kept) in recalled {
        laid.add_memo(key, kept);
    }
    let done = laid.carry_out(transaction, ready, |desk| desk.apply(op.clone())).await?;
    let Some((mut desk, answer)) = done else { return Err(Trouble::OfTheMoment) };
    let mut moved = desk.take_moved();
    let mut entries = desk.take_moved_entries();
    entries.extend(commit::letters(engine, std::slice::from_ref(op), std::slice::from_ref(&answer)));
    let shares = Numbers::default().give(&mut moved, transaction, &ready.numbers).await?;
    let mut opened = limits::touched(&moved);
    opened.append(&mut desk.take_opened());
    let rest =
        Rest { now: op.now, desk: &desk, memos: &memos, entries: &entries, opened: &opened, shares: &shares };
    let queues = save(transaction, &ready.writers, &engine.settings.rules, &moved, rest, Then::GoOn).await?;
    done_so_far.queues.extend(queues);
    done_so_far.moved.append(&mut moved);
    Ok(answer)
}

/// Lets a queue give out jobs or not, and keeps what others are to be told of that.
async fn pause(
    engine: &Engine,
    transaction: &Transaction<'_>,
    ready: &Ready,
    op: &Op,
    name: &QueueName,
    paused: bool,
) -> Result<Answer, Trouble> {
    let answer = Ok(queue::pause(engine, transaction, name, paused, op.now).await?);
    let letters = commit::letters(engine, std::slice::from_ref(op), std::slice::from_ref(&answer));
    ready.writers.put_entries(transaction, &letters).await?;
    Ok(answer)
}

/// Forgets a queue, and keeps what others are to be told of that.
async fn remove_queue(
    engine: &Engine,
    transaction: &Transaction<'_>,
    ready: &Ready,
    op: &Op,
    name: &QueueName,
) -> Result<Answer, Trouble> {
    let answer = queue::remove(engine, transaction, name).await?;
    let letters = commit::letters(engine, std::slice::from_ref(op), std::slice::from_ref(&answer));
    ready.writers.put_entries(transaction, &letters).await?;
    Ok(answer)
}

/// The key of a job that has ended and may live again: whoever decides about the key has to wait.
async fn key_to_be_brought_back(
    engine: &Engine,
    transaction: &Transaction<'_>,
    op: &Op,
) -> Result<Option<Key>, Fault> {
    let Action::Step { id, event } = &op.action else { return Ok(None) };
    if !matches!(event.bare(), Event::Revive { .. } | Event::Retry) {
        return Ok(None);
    }
    let statement = transaction.prepare(&engine.statements.key_of).await?;
    let rows = transaction.query(&statement, &[&crate::row::uuid(*id)], "look for a key").await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let key: Option<&[u8]> = row.try_get(0).map_err(Fault::of("look for a key"))?;
    Ok(key.and_then(|bytes| bytes.try_into().ok()).map(Key::from_bytes))
}

/// The jobs that carry the key of an operation on holders, in its states.
async fn carriers(engine: &Engine, transaction: &Transaction<'_>, op: &Op) -> Result<Vec<JobId>, Fault> {
    let Action::StepHolders { key, states, .. } = &op.action else { return Ok(Vec::new()) };
    let states: Vec<&str> = states.iter().map(hapax_core::State::name).collect();
    let statement = transaction.prepare(&engine.statements.carriers).await?;
    let rows = transaction.query(&statement, &[&key.bytes().as_slice(), &states], "look for holders").await?;
    let id = |row: &tokio_postgres::Row| {
        let uuid: uuid::Uuid = row.try_get(0).map_err(Fault::of("look for holders"))?;
        let damaged = Fault::Damaged { column: "id", id: uuid, found: "no UUID of version 7" };
        JobId::from_bytes(*uuid.as_bytes()).ok_or(damaged)
    };
    rows.iter().map(id).collect()
}

/// The other holders of a key to which the step brings a job back.
fn add_who_is_met(engine: &Engine, wanted: &mut Wanted, job: &Job, op: &Op) {
    let Action::Step { id, event } = &op.action else { return };
    if *id != job.id {
        return;
    }
    if let Ok(Transition::To(next)) = decide(job, event.clone(), op.now, &engine.settings.rules)
        && let Some(key) = reentry_key(job.state(), &next)
        && let Some(watch) = next.spec.unique.as_ref().map(Uniqueness::watch)
    {
        wanted.add_key(*key, watch, op.now);
    }
}
