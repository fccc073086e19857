//! Random things to do with the tables.

use std::sync::Arc;
use std::time::Duration;

use hapax_core::unique::{
    Anchor, Debounce, JobKey, JobKeyMode, Key, Strategy as OnConflict, UniquePolicy, Uniqueness, WhileActive,
};
use hapax_core::{
    Chance, Claimant, Directive, Event, Exhaustion, Handback, Incoming, Json, Priority, Spec, SpecPatch,
    StateSet, WorkerError,
};
use hapax_store::{Action, Memo, MemoKey, Op, Remembered};
use proptest::prelude::*;

use crate::draft;
use crate::tables::Tables;

/// How many ids there are: few, so that they meet again.
pub(super) const JOBS: u64 = 40;
const QUEUES: [&str; 3] = ["default", "mail", "slow"];
const KEYS: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
pub(super) struct Draft {
    n: u64,
    key: Option<usize>,
    queue: usize,
    priority: i64,
    states: u8,
    wish: Wish,
    period: Option<i64>,
    anchor: usize,
    scheduled: Option<i64>,
    expires: Option<i64>,
    pending: bool,
}

/// How a job with a key wants to be unique.
#[derive(Debug, Clone)]
enum Wish {
    Policy(OnConflict),
    Debounce,
    QueueLatest,
    JobKey(JobKeyMode),
}

#[derive(Debug, Clone)]
pub(super) enum Deed {
    Enqueue(Draft, Option<u8>),
    EnqueueAll(Vec<Draft>, Option<u8>),
    EnqueueEach(Vec<Draft>, Option<u8>),
    Step(u64, u8),
    StepHolders(usize, u8, usize),
    Claim(usize, usize),
    Pause(usize, bool),
    Advance(i64),
    Seal,
}

fn wishes() -> impl Strategy<Value = Wish> {
    prop_oneof![
        4 => (0..4usize).prop_map(|strategy| Wish::Policy(OnConflict::ALL[strategy])),
        1 => Just(Wish::Debounce),
        2 => Just(Wish::QueueLatest),
        2 => (0..3usize).prop_map(|mode| Wish::JobKey(JobKeyMode::ALL[mode])),
    ]
}

fn drafts() -> impl Strategy<Value = Draft> {
    let policy = (any::<u8>(), wishes(), prop::option::of(1..4000i64), 0..3usize);
    let place = (0..QUEUES.len(), -2..3i64, prop::option::of(-500..3000i64), prop::option::of(1..5000i64));
    let key = prop::option::weighted(0.8, 0..KEYS.len());
    (0..JOBS, key, policy, place, prop::bool::weighted(0.1)).prop_map(
        |(n, key, (states, wish, period, anchor), (queue, priority, scheduled, expires), pending)| Draft {
            n,
            key,
            queue,
            priority,
            states: states | 1,
            wish,
            period,
            anchor,
            scheduled,
            expires,
            pending,
        },
    )
}

pub(super) fn deeds() -> impl Strategy<Value = Deed> {
    prop_oneof![
        6 => (drafts(), prop::option::weighted(0.2, 0..4u8))
            .prop_map(|(draft, memo)| Deed::Enqueue(draft, memo)),
        2 => (prop::collection::vec(drafts(), 1..4), prop::option::weighted(0.2, 0..4u8))
            .prop_map(|(drafts, memo)| Deed::EnqueueAll(drafts, memo)),
        1 => (prop::collection::vec(drafts(), 1..4), prop::option::weighted(0.2, 0..4u8))
            .prop_map(|(drafts, memo)| Deed::EnqueueEach(drafts, memo)),
        6 => (0..JOBS, 0..10u8).prop_map(|(n, event)| Deed::Step(n, event)),
        1 => (0..KEYS.len(), 0..10u8, 0..4usize)
            .prop_map(|(key, event, limit)| Deed::StepHolders(key, event, limit)),
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
        let unique = Some(uniqueness(draft, KEYS[key]));
        incoming = draft::unique(draft.n, KEYS[key], Spec { unique, ..*incoming.spec });
    }
    incoming.pending = draft.pending;
    incoming
}

fn uniqueness(draft: &Draft, key: &str) -> Uniqueness {
    let states = StateSet::from_bits(draft.states);
    let anchor = Anchor::ALL[draft.anchor];
    let incomplete = |on_conflict| draft::policy(StateSet::INCOMPLETE, on_conflict, draft.period, anchor);
    match draft.wish {
        Wish::Policy(on_conflict) => draft::policy(states, on_conflict, draft.period, anchor).into(),
        Wish::Debounce => {
            let debounce = Debounce {
                wait: Duration::from_millis(400),
                max_wait: draft.period.map(|millis| Duration::from_millis(millis.unsigned_abs())),
            };
            UniquePolicy { debounce: Some(debounce), ..incomplete(OnConflict::Reject) }.into()
        }
        Wish::QueueLatest => {
            let while_active = Some(WhileActive::QueueLatest);
            UniquePolicy { while_active, ..incomplete(OnConflict::Ignore) }.into()
        }
        Wish::JobKey(mode) => Uniqueness::JobKey(JobKey { name: key.into(), mode }),
    }
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
        7 => Event::Forget,
        8 => Event::Release { reason: Some("it \"stuck\"".into()) },
        _ => Event::RemoveByKey,
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
        rate_limit_until: None,
        aliases: Vec::new(),
        directive: Directive::Policy,
    }
}

pub(super) fn carry_out(tables: &mut Tables<'_>, deed: Deed, clock: &mut i64) {
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
        Deed::EnqueueEach(drafts, name) => {
            let incoming = drafts.iter().map(|draft| incoming(draft, *clock)).collect();
            drop(tables.apply(op(Action::EnqueueEach { incoming, memo: memo(name) })).unwrap());
        }
        Deed::StepHolders(key, number, limit) => {
            let (key, event) = (Key::of_text(KEYS[key]), event(number));
            drop(tables.apply(op(Action::StepHolders { key, states: StateSet::ALL, event, limit })).unwrap());
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
