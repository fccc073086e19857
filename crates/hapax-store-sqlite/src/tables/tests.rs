//! The indexes after random operations are those that a scan of the tables builds.

use hapax_core::unique::{Anchor, Strategy as OnConflict};
use hapax_core::{
    Chance, Claimant, Directive, Event, Exhaustion, Handback, Incoming, Json, Priority, Retention, Spec,
    SpecPatch, State, StateSet, WorkerError,
};
use hapax_store::{Action, Memo, MemoKey, Op, Remembered};
use proptest::prelude::*;
use std::time::Duration;

use super::*;
use crate::draft;
use crate::index::read;
use crate::rebuild::rebuild;

const QUEUES: [&str; 3] = ["default", "mail", "slow"];
const KEYS: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
struct Draft {
    n: u64,
    key: Option<usize>,
    queue: usize,
    priority: i64,
    states: u8,
    strategy: usize,
    period: Option<i64>,
    anchor: usize,
    scheduled: Option<i64>,
    expires: Option<i64>,
    pending: bool,
}

#[derive(Debug, Clone)]
enum Deed {
    Enqueue(Draft, Option<u8>),
    EnqueueAll(Vec<Draft>, Option<u8>),
    Step(u64, u8),
    Claim(usize, usize),
    Pause(usize, bool),
    Advance(i64),
    Seal,
}

fn drafts() -> impl Strategy<Value = Draft> {
    let policy = (any::<u8>(), 0..4usize, prop::option::of(1..4000i64), 0..3usize);
    let place = (0..QUEUES.len(), -2..3i64, prop::option::of(-500..3000i64), prop::option::of(1..5000i64));
    (0..40u64, prop::option::weighted(0.8, 0..KEYS.len()), policy, place, prop::bool::weighted(0.1)).prop_map(
        |(n, key, (states, strategy, period, anchor), (queue, priority, scheduled, expires), pending)| {
            Draft {
                n,
                key,
                queue,
                priority,
                states: states | 1,
                strategy,
                period,
                anchor,
                scheduled,
                expires,
                pending,
            }
        },
    )
}

fn deeds() -> impl Strategy<Value = Deed> {
    prop_oneof![
        6 => (drafts(), prop::option::weighted(0.2, 0..4u8))
            .prop_map(|(draft, memo)| Deed::Enqueue(draft, memo)),
        2 => (prop::collection::vec(drafts(), 1..4), prop::option::weighted(0.2, 0..4u8))
            .prop_map(|(drafts, memo)| Deed::EnqueueAll(drafts, memo)),
        6 => (0..40u64, 0..8u8).prop_map(|(n, event)| Deed::Step(n, event)),
        3 => (0..QUEUES.len(), 0..4usize).prop_map(|(queue, count)| Deed::Claim(queue, count)),
        1 => (0..QUEUES.len(), any::<bool>()).prop_map(|(queue, paused)| Deed::Pause(queue, paused)),
        2 => (0..3000i64).prop_map(Deed::Advance),
        2 => Just(Deed::Seal),
    ]
}

fn incoming(draft: &Draft, now: i64) -> Incoming {
    let mut spec = draft::spec();
    spec.queue = draft::queue(QUEUES[draft.queue]);
    spec.priority = Priority::new(draft.priority).unwrap();
    spec.scheduled_at = draft.scheduled.map(|after| draft::given(now + after));
    spec.expires_at = draft.expires.map(|after| draft::given(now + after));
    spec.retry.max_attempts = 2;
    spec.retry.on_exhaustion = Exhaustion::DeadLetter;
    let mut incoming = draft::incoming(draft.n, spec);
    if let Some(key) = draft.key {
        let (states, strategy) = (StateSet::from_bits(draft.states), OnConflict::ALL[draft.strategy]);
        let policy = draft::policy(states, strategy, draft.period, Anchor::ALL[draft.anchor]);
        incoming = draft::unique(draft.n, KEYS[key], Spec { unique: Some(policy), ..incoming.spec });
    }
    incoming.pending = draft.pending;
    incoming
}

fn memo(name: Option<u8>) -> Option<Memo> {
    name.map(|name| Memo {
        key: MemoKey(format!("memo {name}").into()),
        fingerprint: [name % 2; 32],
        render: Arc::new(|_| Remembered { status: 200, body: Arc::from(*b"{}") }),
    })
}

fn event(number: u8) -> Event {
    let claimant = Claimant::UNNAMED;
    match number {
        0 | 1 => Event::Acknowledge { claimant, result: Some(Json::from_trusted("{\"x\": 1.0}")) },
        2 | 3 => Event::Fail { claimant, error: error(), handback: Handback::Failed, chance: Chance(7) },
        4 => Event::Cancel,
        5 => Event::Activate,
        6 => Event::Revive {
            patch: SpecPatch { queue: Some(draft::queue("revived")), ..SpecPatch::default() },
        },
        _ => Event::Forget,
    }
}

fn error() -> WorkerError {
    WorkerError {
        kind: "Oops".into(),
        code: "oops".into(),
        message: "it \"broke\"\n".into(),
        retryable: None,
        details: Some(Json::from_trusted("{\"deep\":[1.0, null]}")),
        backtrace: vec!["here".into()],
        aliases: Vec::new(),
        directive: Directive::Policy,
    }
}

fn carry_out(tables: &mut Tables<'_>, deed: Deed, clock: &mut i64) {
    *clock += 10;
    let now = draft::at(*clock);
    let op = |action| Op { now, action };
    match deed {
        Deed::Enqueue(draft, name) => {
            let incoming = Box::new(incoming(&draft, *clock));
            drop(tables.apply(op(Action::Enqueue { incoming, memo: memo(name) })).unwrap());
        }
        Deed::EnqueueAll(drafts, name) => {
            let incoming = drafts.iter().map(|draft| incoming(draft, *clock)).collect();
            drop(tables.apply(op(Action::EnqueueAll { incoming, memo: memo(name) })).unwrap());
        }
        Deed::Step(n, number) => drop(tables.apply(draft::step(now, draft::id(n), event(number))).unwrap()),
        Deed::Claim(queue, count) => {
            drop(tables.claim(&draft::claim(now, &[QUEUES[queue]], count, 1)).unwrap());
        }
        Deed::Pause(queue, true) => {
            drop(tables.apply(op(Action::Pause(draft::queue(QUEUES[queue])))).unwrap());
        }
        Deed::Pause(queue, false) => {
            drop(tables.apply(op(Action::Resume(draft::queue(QUEUES[queue])))).unwrap());
        }
        Deed::Advance(by) => {
            *clock += by;
            drop(tables.advance(draft::at(*clock), 3, Chance(1)).unwrap());
        }
        Deed::Seal => drop(tables.seal().unwrap()),
    }
}

fn rules() -> Rules {
    let retention = Retention { completed: Duration::from_secs(3), ..Retention::default() };
    Rules { visibility_timeout: Duration::from_secs(1), retention }
}

fn empty() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    schema::create(&db).unwrap();
    db
}

fn open(db: &Connection) -> Tables<'_> {
    let (index, last) = rebuild(db, &rules()).unwrap();
    Tables::new(db, rules(), index, last).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn the_rebuilt_index_is_the_live_one(deeds in prop::collection::vec(deeds(), 1..80)) {
        let db = empty();
        let mut tables = open(&db);
        let mut clock = 0;
        for deed in deeds {
            carry_out(&mut tables, deed, &mut clock);
        }
        tables.seal().unwrap();
        let Tables { index, last, .. } = tables;
        let rebuilt = open(&db);
        let (live, scanned) = (index.visible(), rebuilt.index.visible());
        prop_assert!(*read(&live) == *read(&scanned), "{:?}\n{:?}", live, scanned);
        prop_assert_eq!(&index.keys, &rebuilt.index.keys);
        prop_assert_eq!(&index.lines, &rebuilt.index.lines);
        prop_assert_eq!(&index.timers, &rebuilt.index.timers);
        prop_assert_eq!(&index.memos, &rebuilt.index.memos);
        prop_assert!(rebuilt.last.turn <= last.turn);
    }

    #[test]
    fn a_job_that_is_loaded_is_the_job_that_was_stored(deeds in prop::collection::vec(deeds(), 1..60)) {
        let db = empty();
        let mut tables = open(&db);
        let mut clock = 0;
        for deed in deeds {
            carry_out(&mut tables, deed, &mut clock);
        }
        let known: Vec<_> = (0..40).filter_map(|n| tables.find(draft::id(n)).unwrap()).collect();
        tables.seal().unwrap();
        for stored in known {
            let loaded = Loader::new(&db).unwrap().load(stored.seq).unwrap();
            prop_assert_eq!(Some(&*stored), loaded.as_ref());
        }
    }
}

/// The reason for the shape of `index::keys`: ten thousand finished holders, and one load.
#[test]
fn finished_holders_that_do_not_matter_are_not_loaded() {
    let db = empty();
    let mut tables = open(&db);
    let states = StateSet::ALL;
    for n in 0..2000 {
        let now = draft::at(i64::try_from(n).unwrap());
        let mut spec = draft::spec();
        spec.unique =
            Some(draft::policy(StateSet::of(&[State::Pending]), OnConflict::Ignore, None, Anchor::CreatedAt));
        tables.apply(draft::enqueue(now, draft::unique(n, "a", spec))).unwrap().unwrap();
        tables.apply(draft::step(now, draft::id(n), Event::Cancel)).unwrap().unwrap();
    }
    tables.seal().unwrap();
    let key = hapax_core::unique::Key::of_text("a");
    for (anchor, period, found) in [
        (Anchor::CreatedAt, None, 1),
        (Anchor::FinishedAt, Some(500), 1),
        (Anchor::ScheduledAt, Some(500), 1),
        (Anchor::CreatedAt, Some(5), 0),
    ] {
        let policy = draft::policy(states, OnConflict::Ignore, period, anchor);
        let holders = tables.holders(&key, &policy, draft::at(2100)).unwrap();
        assert_eq!(holders.len(), found, "{anchor:?}");
        assert!(holders.iter().all(|holder| holder.id == draft::id(1999)));
    }
}

#[test]
fn one_advance_forgets_all_answers_that_are_too_old() {
    let db = empty();
    let mut tables = open(&db);
    let enqueue = |n: u64, now: Timestamp| {
        let incoming = Box::new(draft::incoming(n, draft::spec()));
        let render = Arc::new(|_: &_| Remembered { status: 200, body: Arc::from(*b"{}") });
        let memo = Memo { key: MemoKey(n.to_string().into()), fingerprint: [0; 32], render };
        Op { now, action: Action::Enqueue { incoming, memo: Some(memo) } }
    };
    for n in 0..3000 {
        tables.apply(enqueue(n, draft::at(0))).unwrap().unwrap();
    }
    tables.apply(enqueue(3000, draft::at(1))).unwrap().unwrap();
    tables.seal().unwrap();
    tables.advance(draft::at(0) + hapax_store::MEMO_KEPT, 0, Chance(0)).unwrap();
    tables.seal().unwrap();
    let left = db.query_row("SELECT group_concat(name) FROM memos", [], |row| row.get::<_, String>(0));
    assert_eq!(left.unwrap(), "3000");
}

#[test]
fn an_ended_job_is_not_kept_in_memory_for_having_been_read() {
    let db = empty();
    let mut tables = open(&db);
    for n in 1..3 {
        tables.apply(draft::enqueue(draft::at(0), draft::incoming(n, draft::spec()))).unwrap().unwrap();
    }
    tables.apply(draft::step(draft::at(0), draft::id(2), Event::Cancel)).unwrap().unwrap();
    tables.seal().unwrap();
    tables.rows.cache.clear();
    for (n, kept) in [(1, true), (2, false)] {
        let seq = tables.find(draft::id(n)).unwrap().unwrap().seq;
        assert_eq!(tables.rows.cache.get(seq).is_some(), kept, "job {n}");
    }
}
