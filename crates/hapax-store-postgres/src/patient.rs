//! One request in a transaction of its own, operation after operation, waiting for the locks of others. For what met
//! a lock in the commit lane, and for the operations that are too rare to share a transaction.

use std::collections::BTreeSet;

use hapax_core::unique::{Key, Uniqueness};
use hapax_core::{Event, JobId, Transition, decide, reentry_key};
use hapax_store::desk::{Desk, Moved};
use hapax_store::{Action, Answer, MemoKey, Op, StoreError};

use crate::Fault;
use crate::commit::{self, Fate, Ready, lay_new};
use crate::connect::Link;
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
        match attempt(engine, &link, &request).await {
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
            StoreError::Unknown(_) | StoreError::Closed => Trouble::Final(error),
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
    let (mut answers, mut all_moved) = (Vec::with_capacity(ops.len()), Vec::new());
    for op in ops {
        answers.push(carry_out(engine, &transaction, &ready, op, &mut all_moved).await?);
    }
    transaction.commit().await.map_err(Fault::at_commit)?;
    engine.word.spread(&all_moved);
    Ok(answers)
}

async fn carry_out(
    engine: &Engine,
    transaction: &Transaction<'_>,
    ready: &Ready,
    op: &Op,
    all_moved: &mut Vec<Moved>,
) -> Result<Answer, Trouble> {
    match &op.action {
        Action::Pause(name) => return Ok(Ok(queue::pause(engine, transaction, name, true, op.now).await?)),
        Action::Resume(name) => return Ok(Ok(queue::pause(engine, transaction, name, false, op.now).await?)),
        Action::Enqueue { .. }
        | Action::EnqueueAll { .. }
        | Action::EnqueueEach { .. }
        | Action::Step { .. }
        | Action::StepHolders { .. } => {}
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
    let mut desk = Desk::new(engine.settings.rules.clone());
    lay_new(&mut desk, wanted.load(transaction, &ready.load).await?);
    let mut beside = Wanted::default();
    add_who_is_met(engine, &mut beside, &desk, op);
    lay_new(&mut desk, beside.load(transaction, &ready.load).await?);
    let recalled = memo::load(transaction, &ready.memos, &memos).await?;
    for (key, kept) in recalled {
        desk.lay_memo(key, kept);
    }
    let answer = desk.apply(op.clone());
    let mut moved = desk.take_moved();
    Numbers::default().give(&mut moved, transaction, &ready.numbers).await?;
    let rest = Rest { now: op.now, desk: &desk, memos: &memos };
    save(transaction, &ready.writers, &engine.settings.rules, &moved, rest, Then::GoOn).await?;
    all_moved.append(&mut moved);
    Ok(answer)
}

/// The key of a job that has ended and may live again: whoever decides about the key has to wait.
async fn key_to_be_brought_back(
    engine: &Engine,
    transaction: &Transaction<'_>,
    op: &Op,
) -> Result<Option<Key>, Fault> {
    let Action::Step { id, event: Event::Revive { .. } } = &op.action else { return Ok(None) };
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
fn add_who_is_met(engine: &Engine, wanted: &mut Wanted, desk: &Desk, op: &Op) {
    let Action::Step { id, event } = &op.action else { return };
    let Some(job) = desk.get(*id) else { return };
    if let Ok(Transition::To(next)) = decide(job, event.clone(), op.now, &engine.settings.rules)
        && let Some(key) = reentry_key(job.state(), &next)
        && let Some(watch) = next.spec.unique.as_ref().map(Uniqueness::watch)
    {
        wanted.add_key(*key, watch, op.now);
    }
}
