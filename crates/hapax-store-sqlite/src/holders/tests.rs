//! Of the holders of a key, only those are read that matter.

use hapax_core::unique::{Anchor, JobKey, Strategy};
use hapax_core::{Incoming, JobId, Spec, State};
use hapax_store::{Action, Done, Op};

use super::*;
use crate::draft;
use crate::tables::tests::{empty, open};

const MANY: u64 = 10_000;

fn key() -> Key {
    Key::of_text("a")
}

/// A job that no other stands against as long as none of them is pending.
fn lenient(n: u64) -> Incoming {
    let policy = draft::policy(StateSet::of(&[State::Pending]), Strategy::Ignore, None, Anchor::CreatedAt);
    draft::unique(n, "a", Spec { unique: Some(policy.into()), ..draft::spec() })
}

/// Jobs that were called off one after the other.
fn called_off(tables: &mut Tables<'_>) {
    for n in 0..MANY {
        let now = draft::at(i64::try_from(n).unwrap());
        tables.apply(draft::enqueue(now, lenient(n))).unwrap().unwrap();
        tables.apply(draft::step(now, draft::id(n), Event::Cancel)).unwrap().unwrap();
    }
    tables.seal().unwrap();
}

fn step_holders(tables: &mut Tables<'_>, event: Event, limit: usize) -> Result<Vec<JobId>, Refusal> {
    step_holders_in(tables, StateSet::ALL, event, limit)
}

fn step_holders_in(
    tables: &mut Tables<'_>,
    states: StateSet,
    event: Event,
    limit: usize,
) -> Result<Vec<JobId>, Refusal> {
    let action = Action::StepHolders { key: key(), states, event, limit };
    let op = Op { now: draft::at(20_000), action };
    match tables.apply(op).unwrap()? {
        Done::SteppedHolders(changes) => Ok(changes.iter().map(|change| change.job().id).collect()),
        other => panic!("{other:?}"),
    }
}

fn loads(tables: &mut Tables<'_>, work: impl FnOnce(&mut Tables<'_>)) -> usize {
    tables.seal().unwrap();
    let before = tables.rows.loader.count();
    work(tables);
    tables.rows.loader.count() - before
}

/// The reason for the shape of `index::keys`: ten thousand finished holders, and one load.
#[test]
fn finished_holders_that_do_not_matter_are_not_loaded() {
    let db = empty();
    let mut tables = open(&db);
    called_off(&mut tables);
    let cancelled = StateSet::of(&[State::Cancelled]);
    for (states, anchor, period, found) in [
        (StateSet::ALL, Anchor::CreatedAt, None, 1),
        (StateSet::ALL, Anchor::FinishedAt, Some(500), 1),
        (StateSet::ALL, Anchor::ScheduledAt, Some(500), 1),
        (StateSet::ALL, Anchor::CreatedAt, Some(5), 0),
        (StateSet::ALL, Anchor::FinishedAt, Some(5), 0),
        (cancelled, Anchor::FinishedAt, Some(500), 1),
        (StateSet::of(&[State::Discarded]), Anchor::CreatedAt, None, 0),
    ] {
        let watch = draft::policy(states, Strategy::Ignore, period, anchor).watch();
        let loaded = loads(&mut tables, |tables| {
            let holders = tables.holders(&key(), watch, draft::at(10_100)).unwrap();
            assert_eq!(holders.len(), found, "{watch:?}");
            assert!(holders.iter().all(|holder| holder.id == draft::id(MANY - 1)));
        });
        assert_eq!(loaded, found, "{watch:?}");
    }
}

#[test]
fn of_many_that_came_in_one_request_one_is_loaded() {
    let db = empty();
    let mut tables = open(&db);
    let incoming = (0..MANY).map(lenient).collect();
    let op = Op { now: draft::at(0), action: Action::EnqueueEach { incoming, memo: None } };
    tables.apply(op).unwrap().unwrap();
    assert_eq!(step_holders(&mut tables, Event::Cancel, usize::MAX).unwrap().len() as u64, MANY);
    let watch = draft::policy(StateSet::ALL, Strategy::Ignore, None, Anchor::CreatedAt).watch();
    let loaded = loads(&mut tables, |tables| {
        let holders = tables.holders(&key(), watch, draft::at(1)).unwrap();
        assert_eq!(holders.iter().map(|holder| holder.id).collect::<Vec<_>>(), [draft::id(MANY - 1)]);
    });
    assert_eq!(loaded, 1);
}

#[test]
fn a_step_of_holders_loads_those_that_it_changes() {
    let db = empty();
    let mut tables = open(&db);
    called_off(&mut tables);
    let release = Event::Release { reason: None };
    let newest = [draft::id(MANY - 1), draft::id(MANY - 2), draft::id(MANY - 3)];
    let loaded = loads(&mut tables, |tables| {
        assert_eq!(step_holders(tables, release, 3).unwrap(), newest);
    });
    assert_eq!(loaded, 3);
}

#[test]
fn finished_holders_that_nobody_asks_about_are_not_loaded() {
    let db = empty();
    let mut tables = open(&db);
    tables.apply(draft::enqueue(draft::at(-1), lenient(MANY))).unwrap().unwrap();
    called_off(&mut tables);
    let states = JobKey::WATCH.states;
    let loaded = loads(&mut tables, |tables| {
        assert_eq!(step_holders_in(tables, states, Event::Cancel, 9).unwrap(), [draft::id(MANY)]);
        assert_eq!(step_holders_in(tables, states, Event::Cancel, 9), Err(Refusal::KeyNotHeld));
    });
    assert!(loaded <= 1, "{loaded}");
}

#[test]
fn those_that_live_go_first() {
    let db = empty();
    let mut tables = open(&db);
    for n in [1, 2, 3] {
        tables.apply(draft::enqueue(draft::at(0), lenient(n))).unwrap().unwrap();
    }
    tables.claim(&draft::claim(draft::at(1), &["default"], 3, 1)).unwrap();
    tables.apply(draft::ack(draft::at(1), draft::id(3))).unwrap().unwrap();
    let release = Event::Release { reason: None };
    let freed = step_holders(&mut tables, release, 9).unwrap();
    assert_eq!(freed, [draft::id(2), draft::id(1), draft::id(3)]);
}

#[test]
fn equally_new_holders_step_by_id_up_to_the_limit() {
    let db = empty();
    let mut tables = open(&db);
    for n in [3, 1, 4, 2, 5] {
        tables.apply(draft::enqueue(draft::at(0), lenient(n))).unwrap().unwrap();
    }
    let changed = step_holders(&mut tables, Event::Cancel, 2).unwrap();
    assert_eq!(changed, [draft::id(5), draft::id(4)]);
    let changed = step_holders(&mut tables, Event::Cancel, 9).unwrap();
    assert_eq!(changed, [draft::id(3), draft::id(2), draft::id(1)]);
    assert_eq!(step_holders(&mut tables, Event::Cancel, 9), Err(Refusal::KeyNotHeld));
    assert_eq!(step_holders(&mut tables, Event::Release { reason: None }, 0), Err(Refusal::KeyNotHeld));
}

/// Another key with the same first 64 bits.
fn twin() -> Key {
    let mut bytes = *key().bytes();
    bytes[31] ^= 1;
    Key::from_bytes(bytes)
}

#[test]
fn a_key_that_begins_alike_is_another() {
    let db = empty();
    let mut tables = open(&db);
    let enqueue = |n: u64, key: Key, tables: &mut Tables<'_>| {
        let incoming = Incoming { key: Some(key), ..lenient(n) };
        tables.apply(draft::enqueue(draft::at(i64::try_from(n).unwrap()), incoming)).unwrap().unwrap();
    };
    for n in [1, 2, 3, 4] {
        enqueue(n, if n < 3 { key() } else { twin() }, &mut tables);
        if n % 2 == 1 {
            tables.apply(draft::step(draft::at(9), draft::id(n), Event::Cancel)).unwrap().unwrap();
        }
    }
    let watch = draft::policy(StateSet::ALL, Strategy::Ignore, None, Anchor::CreatedAt).watch();
    let mut ids = |key: Key| -> Vec<JobId> {
        let holders = tables.holders(&key, watch, draft::at(10)).unwrap();
        holders.iter().map(|holder| holder.id).collect()
    };
    assert_eq!(ids(key()), [draft::id(2), draft::id(1)]);
    assert_eq!(ids(twin()), [draft::id(4), draft::id(3)]);
    assert_eq!(step_holders(&mut tables, Event::Cancel, 9).unwrap(), [draft::id(2)]);
}
