//! Where steps come from. The weights keep all states inhabited: mostly small steps in time, so that jobs are
//! fetched and finished before their leases run out, and now and then a day.

use std::time::Duration;

use hapax_core::unique::{
    Anchor, Debounce, Field, FieldSet, JobKeyMode, Replacement, Strategy as OnConflict,
};
use hapax_core::{Delivery, Directive, Exhaustion, Handback, State, StateSet, TimeLimits};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::shape::{End, Shape, When};
use super::step::{Act, MemoWish, Name, Pick, Proof, Step, Trouble};
use super::wish::{KeyName, Policy, Twist, Wish};

/// Sequences of up to so many steps.
pub(super) fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    vec(step(), most / 2..=most)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => act().prop_map(|act| Step::Commit(vec![act])),
        6 => vec(act(), 2..6).prop_map(Step::Commit),
        18 => claim(),
        10 => (prop_oneof![3 => Just(1000), 1 => 0..4usize], any::<u64>())
            .prop_map(|(limit, chance)| Step::Advance { limit, chance }),
        3 => (key_name(), weighted(0.7, wish()), 0..3usize)
            .prop_map(|(key, wish, limit)| Step::Look { key, wish, limit }),
        16 => pass().prop_map(Step::Pass),
        2 => pass().prop_map(Step::SetBack),
        1 => Just(Step::Reopen),
    ]
}

fn claim() -> impl Strategy<Value = Step> {
    (vec(0..4u8, 1..4), 1..5usize, weighted(0.5, 0..3u8), weighted(0.3, span())).prop_map(
        |(queues, count, worker, visibility_timeout)| Step::Claim {
            queues,
            count,
            worker,
            visibility_timeout,
        },
    )
}

fn limits() -> impl Strategy<Value = TimeLimits> {
    (weighted(0.1, span()), weighted(0.1, span()), weighted(0.1, span()), weighted(0.1, span()))
        .prop_map(|(total, enqueue, heartbeat, grace)| TimeLimits { total, enqueue, heartbeat, grace })
}

fn pass() -> impl Strategy<Value = Duration> {
    let millis = prop_oneof![
        20 => 0..2_000u64,
        8 => 2_000..60_000u64,
        2 => 60_000..4_000_000u64,
        1 => 80_000_000..100_000_000u64,
    ];
    millis.prop_map(Duration::from_millis)
}

fn span() -> impl Strategy<Value = Duration> {
    (1..40u64).prop_map(Duration::from_secs)
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        16 => (shape(), name(), weighted(0.15, memo()))
            .prop_map(|(shape, name, memo)| Act::Enqueue { shape: Box::new(shape), name, memo }),
        3 => (vec(shape(), 0..5), weighted(0.15, memo()))
            .prop_map(|(shapes, memo)| Act::EnqueueAll { shapes, memo }),
        3 => (vec((shape(), name()), 0..6), weighted(0.15, memo()))
            .prop_map(|(items, memo)| Act::EnqueueEach { items, memo }),
        1 => (key_name(), 0..4usize).prop_map(|(key, limit)| Act::ReleaseKey { key, limit }),
        1 => pick(State::Completed).prop_map(Act::Release),
        1 => pick(State::Active).prop_map(Act::Release),
        2 => key_name().prop_map(Act::RemoveByKey),
        8 => (pick(State::Active), proof()).prop_map(|(job, proof)| Act::Acknowledge { job, proof }),
        2 => (pick(State::Available), proof()).prop_map(|(job, proof)| Act::Acknowledge { job, proof }),
        1 => (pick(State::Discarded), proof()).prop_map(|(job, proof)| Act::Acknowledge { job, proof }),
        6 => fail(),
        2 => (pick(State::Active), proof(), weighted(0.3, span()))
            .prop_map(|(job, proof, visibility_timeout)| Act::Heartbeat { job, proof, visibility_timeout }),
        3 => (pick(State::Active), proof(), 0..101u8, any::<bool>())
            .prop_map(|(job, proof, percent, saves)| Act::Progress { job, proof, percent, saves }),
        2 => (pick(State::Active), proof()).prop_map(|(job, proof)| Act::SaveCheckpoint { job, proof }),
        1 => (pick(State::Scheduled), proof()).prop_map(|(job, proof)| Act::SaveCheckpoint { job, proof }),
        1 => pick(State::Retryable).prop_map(Act::DropCheckpoint),
        2 => pick(State::Available).prop_map(Act::Cancel),
        1 => pick(State::Active).prop_map(Act::Cancel),
        2 => pick(State::Pending).prop_map(Act::Activate),
        3 => agent(),
        3 => (pick(State::Discarded), weighted(0.3, 0..3u8))
            .prop_map(|(job, queue)| Act::Revive { job, queue }),
        1 => pick(State::Discarded).prop_map(Act::Forget),
        10 => operator(),
        1 => (pick(State::Active), any::<u64>()).prop_map(|(job, chance)| Act::TimePassed { job, chance }),
        1 => (0..3u8).prop_map(Act::Pause),
        2 => (0..3u8).prop_map(Act::Resume),
        2 => (0..4u8).prop_map(Act::RemoveQueue),
    ]
}

fn agent() -> impl Strategy<Value = Act> {
    prop_oneof![
        pick(State::Available).prop_map(Act::PauseAgent),
        pick(State::Active).prop_map(Act::PauseAgent),
        (pick(State::Pending), any::<bool>()).prop_map(|(job, approved)| Act::ResumeAgent { job, approved }),
        pick(State::Active).prop_map(Act::RetryTool),
    ]
}

fn operator() -> impl Strategy<Value = Act> {
    let state = || select(vec![State::Available, State::Active, State::Discarded]);
    prop_oneof![
        2 => pick(State::Discarded).prop_map(Act::Retry),
        1 => pick(State::Retryable).prop_map(Act::Retry),
        1 => pick(State::Completed).prop_map(Act::Delete),
        1 => pick(State::Discarded).prop_map(Act::Delete),
        3 => (pick(State::Available), -2..3i64)
            .prop_map(|(job, priority)| Act::Reprioritize { job, priority }),
        1 => (pick(State::Active), proof()).prop_map(|(job, proof)| Act::Abandon { job, proof }),
        2 => (pick(State::Available), 0..3u8).prop_map(|(job, queue)| Act::Move { job, queue }),
        1 => (pick(State::Scheduled), 0..3u8).prop_map(|(job, queue)| Act::Move { job, queue }),
        1 => pick(State::Retryable).prop_map(Act::LoseQueue),
        1 => (pick(State::Available), state()).prop_map(|(job, state)| Act::CancelIf { job, state }),
        1 => (pick(State::Discarded), state()).prop_map(|(job, state)| Act::RetryIf { job, state }),
    ]
}

fn fail() -> impl Strategy<Value = Act> {
    let directive = prop_oneof![6 => Just(Directive::Policy), 1 => Just(Directive::Discard), 1 => Just(Directive::DeadLetter)];
    let handback = prop_oneof![4 => Just(Handback::Failed), 1 => Just(Handback::Requeue)];
    (pick(State::Active), proof(), directive, weighted(0.1, any::<bool>()), handback, any::<u64>()).prop_map(
        |(job, proof, directive, retryable, handback, chance)| Act::Fail {
            job,
            proof,
            error: Trouble { directive, retryable },
            handback,
            chance,
        },
    )
}

/// Mostly a job in the state in which the act makes sense, sometimes any.
fn pick(state: State) -> impl Strategy<Value = Pick> {
    (weighted(0.85, Just(state)), 0..100usize).prop_map(|(state, nth)| Pick { state, nth })
}

fn name() -> impl Strategy<Value = Name> {
    prop_oneof![30 => Just(Name::New), 1 => pick(State::Available).prop_map(Name::Old)]
}

fn proof() -> impl Strategy<Value = Proof> {
    prop_oneof![
        8 => Just(Proof::Newest),
        2 => Just(Proof::Older),
        2 => Just(Proof::Nothing),
        1 => Just(Proof::Foreign),
        1 => (0..3u8).prop_map(Proof::Worker),
    ]
}

fn memo() -> impl Strategy<Value = MemoWish> {
    (0..3u8, prop_oneof![4 => Just(0u8), 1 => Just(1u8)]).prop_map(|(key, request)| MemoWish { key, request })
}

fn shape() -> impl Strategy<Value = Shape> {
    (
        0..3u8,
        prop_oneof![3 => Just(0), 1 => -2..3i64],
        0..10u8,
        weighted(0.8, wish()),
        when(),
        end(),
        weighted(0.2, 0..9u8),
    )
        .prop_map(|(queue, priority, args, wish, when, end, request)| Shape {
            queue,
            priority,
            args,
            wish,
            when,
            end,
            request,
        })
}

fn when() -> impl Strategy<Value = When> {
    (prop::bool::weighted(0.08), weighted(0.25, -2_000..20_000i64), weighted(0.12, -1_000..30_000i64))
        .prop_map(|(pending, scheduled_in, expires_in)| When { pending, scheduled_in, expires_in })
}

fn end() -> impl Strategy<Value = End> {
    let on_exhaustion = select(vec![Exhaustion::Discard, Exhaustion::DeadLetter]);
    let delivery = prop_oneof![12 => Just(Delivery::AtLeastOnce), 1 => Just(Delivery::AtMostOnce)];
    (0..4u32, on_exhaustion, delivery, weighted(0.15, span()), weighted(0.3, span()), limits()).prop_map(
        |(attempts, on_exhaustion, delivery, timeout, visibility_timeout, limits)| End {
            attempts,
            on_exhaustion,
            delivery,
            timeout,
            visibility_timeout,
            limits,
        },
    )
}

fn key_name() -> impl Strategy<Value = KeyName> {
    prop_oneof![(0..4u8).prop_map(KeyName::Policy), (0..4u8).prop_map(KeyName::Name)]
}

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        3 => policy().prop_map(Wish::Policy),
        1 => (0..3u8, select(JobKeyMode::ALL.to_vec())).prop_map(|(number, mode)| Wish::Name { number, mode }),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    let states = prop_oneof![
        4 => Just(StateSet::INCOMPLETE),
        1 => Just(StateSet::ALL),
        1 => Just(StateSet::SUCCESSFUL),
        1 => Just(StateSet::of(&[State::Active])),
        2 => subsequence(State::ALL.to_vec(), 1..4).prop_map(|states| states.into_iter().collect()),
    ];
    let period = weighted(0.3, (span(), select(Anchor::ALL.to_vec())));
    (0..3u8, states, select(OnConflict::ALL.to_vec()), period, twist()).prop_map(
        |(key, states, on_conflict, period, twist)| Policy { key, states, on_conflict, period, twist },
    )
}

fn twist() -> impl Strategy<Value = Twist> {
    prop_oneof![
        5 => Just(Twist::Nothing),
        2 => replacement().prop_map(Twist::Overwrite),
        2 => debounce().prop_map(Twist::Debounce),
        6 => weighted(0.3, debounce()).prop_map(Twist::QueueLatest),
    ]
}

fn debounce() -> impl Strategy<Value = Debounce> {
    ((200..8_000u64).prop_map(Duration::from_millis), weighted(0.7, span()))
        .prop_map(|(wait, max_wait)| Debounce { wait, max_wait })
}

fn replacement() -> impl Strategy<Value = Replacement> {
    let fields = || subsequence(Field::ALL.to_vec(), 1..5).prop_map(FieldSet::from_iter);
    prop_oneof![
        fields().prop_map(Replacement::everywhere),
        (select(State::ALL.to_vec()), fields())
            .prop_map(|(state, fields)| Replacement::default().with(state, fields)),
    ]
}
