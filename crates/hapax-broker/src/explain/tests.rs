//! Explanations: what the enqueue would have done, without doing it.

use hapax_core::unique::{Standing, Strategy, UniquePolicy};
use hapax_core::{State, StateSet, Verdict};

use hapax_core::unique::Resolution;

use super::*;
use crate::testing::{Rig, draft, rig};

async fn verdict(rig: &Rig, draft: Draft) -> Result<Verdict, Refusal> {
    rig.broker.explain(draft).await.unwrap().explanation.admission.map(|admission| admission.verdict)
}

#[tokio::test(start_paused = true)]
async fn an_explanation_says_what_the_enqueue_would_do_and_does_not_do_it() {
    let rig = rig();
    let plain = rig.broker.explain(draft()).await.unwrap();
    assert_eq!((plain.key, plain.uniqueness, plain.live), (None, None, 0));
    assert_eq!(verdict(&rig, draft().unique(Strategy::Replace)).await, Ok(Verdict::Created));
    let holder = rig.enqueue(draft().unique(Strategy::Reject)).await;
    let replaced = Ok(Verdict::Replaced(vec![holder.id]));
    assert_eq!(verdict(&rig, draft().unique(Strategy::Replace)).await, replaced);
    assert_eq!(verdict(&rig, draft().unique(Strategy::Reject)).await, Ok(Verdict::Rejected));
    assert_eq!(rig.job(holder.id).await, holder, "not even its ledger changed");
    assert_eq!(rig.events(), ["job.enqueued"]);
    assert_eq!(*rig.counted.conflicts.lock().unwrap(), Vec::<&str>::new());
}

#[tokio::test(start_paused = true)]
async fn the_jobs_with_the_key_stand_there_whether_or_not_they_count() {
    let rig = rig();
    let ended = rig.enqueue(draft().unique(Strategy::Reject)).await;
    rig.broker.cancel(ended.id).await.unwrap();
    tokio::time::advance(std::time::Duration::from_millis(5)).await;
    let holder = rig.enqueue(draft().unique(Strategy::Reject)).await;
    let Explained { explanation, live, ended: ended_count, .. } =
        rig.broker.explain(draft().unique(Strategy::Ignore)).await.unwrap();
    assert_eq!((live, ended_count), (1, 1));
    assert_eq!(explanation.resolution, Resolution::Existing(holder.id));
    let seen: Vec<_> = explanation.holders.iter().map(|seen| (seen.job.id, seen.standing)).collect();
    assert_eq!(seen, [(holder.id, Standing::Counts), (ended.id, Standing::OtherState)]);
    assert_eq!(explanation.freed_by.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_holder_on_which_the_decision_depends_is_found_among_many_others() {
    let rig = rig();
    let policy = || UniquePolicy {
        states: StateSet::of(&[State::Cancelled]),
        on_conflict: Strategy::Ignore,
        ..UniquePolicy::default()
    };
    let cancelled = rig.enqueue(draft().policy(policy())).await;
    rig.broker.cancel(cancelled.id).await.unwrap();
    for _ in 0..=EXPLAINED_MAX {
        tokio::time::advance(std::time::Duration::from_millis(1)).await;
        let states = StateSet::of(&[State::Pending]);
        rig.enqueue(draft().policy(UniquePolicy { states, ..policy() })).await;
        rig.take("default").await.unwrap();
    }
    let explained = rig.broker.explain(draft().policy(policy())).await.unwrap();
    assert_eq!(explained.explanation.resolution, Resolution::Existing(cancelled.id));
    assert_eq!(explained.live, EXPLAINED_MAX as u64 + 1);
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_taken_comes_before_everything_else() {
    let rig = rig();
    let id = Some(rig.enqueue(draft().unique(Strategy::Reject)).await.id);
    let refused = verdict(&rig, Draft { id, ..draft().unique(Strategy::Ignore) }).await;
    assert!(matches!(refused, Err(Refusal::IdTaken { state: State::Available, .. })), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_answers_no_commit_still_explains() {
    let rig = rig();
    let holder = rig.enqueue(draft().unique(Strategy::Reject)).await;
    rig.store.hold();
    assert_eq!(verdict(&rig, draft().unique(Strategy::Ignore)).await, Ok(Verdict::Existing));
    assert_eq!(rig.broker.holders(holder.key.unwrap(), 10, None).await.unwrap().jobs, [holder]);
}
