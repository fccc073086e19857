//! Idempotent requests: the same request is answered the same, and done once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hapax_core::unique::Strategy;
use hapax_core::{Incoming, JobId, Refusal, State};

use super::bench::{Bench, HOUR, INSTANT};
use super::draft::{Draft, plain, unique};
use super::wait;
use crate::{Action, Answer, Done, MEMO_KEPT, Memo, MemoKey, Remembered};

/// A memo under that key for a request with that fingerprint.
fn memo(key: &str, fingerprint: u8) -> Memo {
    Memo { key: MemoKey(key.into()), fingerprint: [fingerprint; 32], render: Arc::new(rendered) }
}

/// A reply that shows what was answered.
fn rendered(answer: &Answer) -> Remembered {
    let (status, text) = match answer {
        Ok(Done::Enqueued(admission)) => (201, format!("{} {}", admission.verdict.name(), admission.job.id)),
        Ok(Done::EnqueuedAll(admissions)) => (207, admissions.len().to_string()),
        Ok(other) => panic!("an enqueue was answered by {other:?}"),
        Err(refusal) => (409, refusal.to_string()),
    };
    Remembered { status, body: text.into_bytes().into() }
}

fn enqueue(bench: &mut Bench, draft: Draft, memo: impl Into<Option<Memo>>) -> Answer {
    let incoming = Box::new(draft.incoming(bench.new_id()));
    bench.act(Action::Enqueue { incoming, memo: memo.into() })
}

fn enqueue_all(bench: &mut Bench, drafts: Vec<Draft>, memo: impl Into<Option<Memo>>) -> Answer {
    let incoming: Vec<Incoming> = drafts.into_iter().map(|draft| draft.incoming(bench.new_id())).collect();
    bench.act(Action::EnqueueAll { incoming, memo: memo.into() })
}

fn newest(bench: &Bench) -> JobId {
    *bench.ids().last().unwrap()
}

/// How many jobs there are.
fn stored(bench: &Bench) -> u64 {
    State::ALL.into_iter().map(|state| bench.totals().counts.of(state)).sum()
}

/// What was done when the answer is given again.
fn replay(answer: &Answer) -> Done {
    Done::Remembered(rendered(answer))
}

pub(super) fn the_same_request_is_done_once_and_answered_twice(bench: &mut Bench) {
    let first = enqueue(bench, plain(), memo("m", 1));
    assert!(matches!(&first, Ok(Done::Enqueued(admission)) if admission.job.id == newest(bench)));
    let again = enqueue(bench, plain(), memo("m", 1));
    assert_eq!(again, Ok(replay(&first)));
    assert_eq!(bench.get(newest(bench)), None);
    assert_eq!(stored(bench), 1);
}

pub(super) fn another_request_under_the_same_key_is_refused(bench: &mut Bench) {
    let first = enqueue(bench, plain(), memo("m", 1));
    assert_eq!(enqueue(bench, plain(), memo("m", 2)), Err(Refusal::IdempotencyMismatch));
    assert_eq!(enqueue(bench, plain(), memo("m", 1)), Ok(replay(&first)), "the first answer stands");
    assert_eq!(stored(bench), 1);
}

pub(super) fn other_keys_and_no_key_are_other_requests(bench: &mut Bench) {
    for memo in [Some(memo("a", 1)), Some(memo("b", 1)), None, None] {
        assert!(matches!(enqueue(bench, plain(), memo), Ok(Done::Enqueued(_))));
    }
    assert_eq!(stored(bench), 4);
}

pub(super) fn an_answer_is_remembered_for_its_time_and_no_longer(bench: &mut Bench) {
    let first = enqueue(bench, plain(), memo("m", 1));
    bench.pass_almost(MEMO_KEPT);
    bench.advance();
    assert_eq!(enqueue(bench, plain(), memo("m", 1)), Ok(replay(&first)));
    bench.pass(INSTANT);
    let second = enqueue(bench, plain(), memo("m", 2));
    assert!(matches!(second, Ok(Done::Enqueued(_))), "the key is free for another request");
    bench.pass(HOUR);
    assert_eq!(enqueue(bench, plain(), memo("m", 2)), Ok(replay(&second)), "which is remembered in turn");
    bench.advance();
    assert_eq!(enqueue(bench, plain(), memo("m", 2)), Ok(replay(&second)), "tidying up leaves it alone");
}

pub(super) fn the_chores_forget_what_is_past_its_time(bench: &mut Bench) {
    enqueue(bench, plain(), memo("m", 1)).unwrap();
    bench.pass(MEMO_KEPT);
    bench.advance();
    bench.set_back(HOUR);
    assert!(matches!(enqueue(bench, plain(), memo("m", 2)), Ok(Done::Enqueued(_))));
}

pub(super) fn an_answer_is_remembered_over_a_restart(bench: &mut Bench) {
    let first = enqueue(bench, plain(), memo("m", 1));
    bench.reopen();
    assert_eq!(enqueue(bench, plain(), memo("m", 1)), Ok(replay(&first)));
    assert_eq!(enqueue(bench, plain(), memo("m", 2)), Err(Refusal::IdempotencyMismatch));
}

pub(super) fn a_refusal_is_remembered_too(bench: &mut Bench) {
    let taken = bench.create(plain());
    let incoming = || Box::new(plain().incoming(taken));
    let refused = bench.act(Action::Enqueue { incoming: incoming(), memo: Some(memo("m", 1)) });
    assert_eq!(refused, Err(Refusal::IdTaken { id: taken, state: State::Available }));
    bench.complete_one();
    let again = bench.act(Action::Enqueue { incoming: incoming(), memo: Some(memo("m", 1)) });
    assert_eq!(again, Ok(replay(&refused)), "as it was then");
}

pub(super) fn a_duplicate_that_is_answered_from_memory_is_not_counted_again(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    let first = enqueue(bench, unique("k"), memo("m", 1));
    bench.complete_one();
    assert_eq!(
        enqueue(bench, unique("k"), memo("m", 1)),
        Ok(replay(&first)),
        "rejected, though the key is free"
    );
    assert_eq!(bench.job(holder).ledger.count(), 1);
}

pub(super) fn a_request_that_replaced_a_job_replaces_no_other(bench: &mut Bench) {
    let replacing = || unique("k").on_conflict(Strategy::Replace);
    bench.create(unique("k"));
    let first = enqueue(bench, replacing(), memo("m", 1));
    let current = newest(bench);
    assert_eq!(enqueue(bench, replacing(), memo("m", 1)), Ok(replay(&first)));
    assert_eq!(bench.state(current), State::Available);
}

pub(super) fn a_batch_is_remembered_as_a_whole(bench: &mut Bench) {
    let first = enqueue_all(bench, vec![plain(), plain()], memo("m", 1));
    assert_eq!(enqueue_all(bench, vec![plain(), plain()], memo("m", 1)), Ok(replay(&first)));
    assert_eq!(enqueue_all(bench, vec![plain()], memo("m", 2)), Err(Refusal::IdempotencyMismatch));
    assert_eq!(stored(bench), 2);
}

pub(super) fn a_refused_batch_is_remembered(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    let refused = enqueue_all(bench, vec![plain(), unique("k")], memo("m", 1));
    assert!(matches!(refused, Err(Refusal::InBatch { index: 1, .. })));
    bench.complete_one();
    bench.reopen();
    assert_eq!(enqueue_all(bench, vec![plain(), unique("k")], memo("m", 1)), Ok(replay(&refused)));
    assert_eq!((stored(bench), bench.job(holder).ledger.count()), (1, 0));
}

pub(super) fn an_answer_is_rendered_once(bench: &mut Bench) {
    let times = Arc::new(AtomicUsize::new(0));
    let counter = times.clone();
    let render = move |answer: &Answer| {
        counter.fetch_add(1, Ordering::SeqCst);
        rendered(answer)
    };
    let memo = Memo { key: MemoKey("m".into()), fingerprint: [1; 32], render: Arc::new(render) };
    for _ in 0..3 {
        enqueue(bench, plain(), memo.clone()).unwrap();
    }
    assert_eq!(times.load(Ordering::SeqCst), 1);
}

pub(super) fn a_reset_forgets_answers(bench: &mut Bench) {
    enqueue(bench, plain(), memo("m", 1)).unwrap();
    wait(bench.store().reset()).unwrap();
    assert!(matches!(enqueue(bench, plain(), memo("m", 2)), Ok(Done::Enqueued(_))));
}
