//! Looking at keys and taking them away.

use std::sync::atomic::Ordering;
use std::time::Duration;

use hapax_core::unique::{Releaser, Strategy, UniquePolicy};
use hapax_core::{JobType, State, StateSet};

use super::*;
use crate::testing::{at, draft, fetch, rig, settle};

#[tokio::test(start_paused = true)]
async fn a_key_that_was_taken_away_is_free_and_its_job_goes_on() {
    let rig = rig();
    let holder = rig.enqueue(draft().unique(Strategy::Reject)).await;
    let key = holder.key.unwrap();
    rig.take("default").await.unwrap();
    let released = rig.broker.release(key, Some("stuck".into()), None).await.unwrap();
    assert_eq!((released.jobs.len(), released.remaining), (1, 0));
    let job = rig.job(holder.id).await;
    assert_eq!((job.state(), job.key), (State::Active, None));
    let note = job.released.unwrap();
    assert_eq!((note.key, note.by, note.reason.as_deref()), (key, Releaser::Operator, Some("stuck")));
    assert_ne!(rig.enqueue(draft().unique(Strategy::Reject)).await.id, holder.id);
    assert_eq!(rig.counted.released.load(Ordering::Relaxed), 1);
    assert_eq!(rig.events(), ["job.enqueued", "job.started", "job.enqueued"], "losing a key is no heartbeat");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_nobody_carries_is_not_found() {
    let rig = rig();
    let key = Key::of_text("nobody's");
    let looked = rig.broker.holders(key, 10, None).await;
    assert!(matches!(looked, Err(Error::Refused(Refusal::KeyNotHeld))), "{looked:?}");
    let released = rig.broker.release(key, None, None).await;
    assert!(matches!(released, Err(Error::Refused(Refusal::KeyNotHeld))), "{released:?}");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_job_goes_on_when_it_loses_its_key() {
    let rig = rig();
    let running = rig.enqueue(draft().queue_latest()).await;
    rig.take("default").await.unwrap();
    let successor = rig.enqueue(draft().queue_latest()).await;
    let worker = rig.start_fetch(fetch(&["default"], Duration::from_secs(30)));
    settle().await;
    rig.broker.release(running.key.unwrap(), None, None).await.unwrap();
    assert_eq!(worker.await.unwrap()[0].id, successor.id);
    assert_eq!(rig.events(), ["job.enqueued", "job.started", "job.enqueued", "job.started"]);
}

#[tokio::test(start_paused = true)]
async fn the_chores_hear_of_a_finished_job_that_protects_nothing_any_more() {
    let rig = rig();
    let period = Some(Duration::from_hours(24 * 30));
    let policy = UniquePolicy { states: StateSet::ALL, period, ..UniquePolicy::default() };
    let job = rig.enqueue(draft().policy(policy)).await;
    rig.broker.cancel(job.id).await.unwrap();
    rig.broker.shared.alarm.silence();
    rig.broker.release(job.key.unwrap(), None, None).await.unwrap();
    let removal = at(0) + rig.broker.rules().retention.cancelled;
    assert_eq!(rig.broker.shared.alarm.due(), Some(removal));
}

#[tokio::test(start_paused = true)]
async fn held_keys_are_listed_by_age_and_type() {
    let rig = rig();
    let first = rig.enqueue(draft().unique(Strategy::Reject)).await;
    tokio::time::advance(Duration::from_secs(1)).await;
    let mut other = draft().unique(Strategy::Reject);
    other.key = Some(Key::of_text("another"));
    other.spec.kind = JobType::parse("b").unwrap();
    let second = rig.enqueue(other).await;
    rig.enqueue(draft()).await;
    let listed = async |query| {
        let page = rig.broker.held_keys(query).await.unwrap();
        page.jobs.iter().map(|job| job.id).collect::<Vec<_>>()
    };
    let all = HeldQuery { limit: 10, ..HeldQuery::default() };
    assert_eq!(listed(all.clone()).await, [first.id, second.id]);
    assert_eq!(listed(HeldQuery { kind: Some(second.spec.kind.clone()), ..all.clone() }).await, [second.id]);
    assert_eq!(listed(HeldQuery { created_before: Some(at(1)), ..all }).await, [first.id]);
}
