//! Callers that leave, and answers that are heard in another order.

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hapax_core::{Claimant, State};

use super::ORPHANS_MAX;
use crate::testing::{at, draft, fetch, rig, settle};

#[tokio::test(start_paused = true)]
async fn a_job_of_a_client_that_hung_up_reaches_the_worker_that_waits() {
    let rig = rig();
    let worker = rig.start_fetch(fetch(&["default"], Duration::from_secs(20)));
    settle().await;
    rig.store.hold();
    let broker = rig.broker.clone();
    let client = tokio::spawn(async move { broker.enqueue(draft(), "request", None).await });
    settle().await;
    client.abort();
    settle().await;
    assert!(!worker.is_finished());
    assert_eq!(rig.events(), Vec::<&str>::new());
    rig.store.release();
    assert_eq!(worker.await.unwrap().len(), 1);
    assert_eq!(rig.events(), ["job.enqueued", "job.started"]);
}

#[tokio::test(start_paused = true)]
async fn a_schedule_of_a_client_that_hung_up_wakes_the_chores() {
    let rig = rig();
    let _chores = rig.chores();
    rig.store.hold();
    let broker = rig.broker.clone();
    let client = tokio::spawn(async move { broker.enqueue(draft().scheduled(20), "request", None).await });
    settle().await;
    client.abort();
    settle().await;
    rig.store.release();
    let jobs = rig.broker.fetch(fetch(&["default"], Duration::from_secs(5))).await.unwrap();
    let late = jobs[0].started_at.unwrap().since(at(20));
    assert!(late <= Duration::from_millis(5), "{late:?}");
}

/// The answers of the store are ready in the order of the calls, but the tasks that wait for them run in any order.
#[tokio::test(start_paused = true)]
async fn events_stand_in_the_order_of_the_calls_whichever_answer_is_heard_first() {
    let rig = rig();
    let context = &mut Context::from_waker(Waker::noop());
    rig.store.hold();
    let mut enqueued = pin!(rig.broker.enqueue(draft(), "request", None));
    assert!(enqueued.as_mut().poll(context).is_pending());
    let mut fetched = pin!(rig.broker.fetch(fetch(&["default"], Duration::ZERO)));
    assert!(fetched.as_mut().poll(context).is_pending());
    rig.store.release();
    settle().await;
    let jobs = fetched.await.unwrap();
    assert_eq!(rig.events(), Vec::<&str>::new());
    rig.broker.acknowledge(jobs[0].id, Claimant::UNNAMED, None).await.unwrap();
    enqueued.await.unwrap();
    assert_eq!(rig.events(), ["job.enqueued", "job.started", "job.completed"]);
    assert_eq!(rig.job(jobs[0].id).await.state(), State::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_long_holds_up_the_events_of_others_for_a_moment_only() {
    let rig = rig();
    let _chores = rig.chores();
    let context = &mut Context::from_waker(Waker::noop());
    rig.store.hold();
    let mut waiting = pin!(rig.broker.enqueue(draft(), "request", None));
    assert!(waiting.as_mut().poll(context).is_pending());
    rig.store.release();
    rig.enqueue(draft()).await;
    assert_eq!(rig.events(), Vec::<&str>::new());
    let nothing = rig.broker.fetch(fetch(&["elsewhere"], Duration::from_secs(3))).await.unwrap();
    assert_eq!((nothing.len(), rig.events()), (0, vec!["job.enqueued"]));
    waiting.await.unwrap();
    assert_eq!(rig.events(), ["job.enqueued", "job.enqueued"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_failed_holds_up_no_events() {
    let rig = rig();
    let context = &mut Context::from_waker(Waker::noop());
    let job = rig.enqueue(draft()).await;
    rig.store.hold();
    let mut refused = pin!(rig.broker.enqueue(draft(), "request", None));
    assert!(matches!(refused.as_mut().poll(context), Poll::Pending));
    let mut cancelled = pin!(rig.broker.cancel(job.id));
    assert!(cancelled.as_mut().poll(context).is_pending());
    rig.store.fail();
    assert!(refused.await.is_err());
    assert!(cancelled.await.is_err());
    assert_eq!(rig.events(), ["job.enqueued"]);
}

#[tokio::test(start_paused = true)]
async fn clients_that_hang_up_are_seen_through_up_to_a_number() {
    let rig = rig();
    let context = &mut Context::from_waker(Waker::noop());
    rig.store.hold();
    for _ in 0..ORPHANS_MAX + 5 {
        let mut enqueued = pin!(rig.broker.enqueue(draft(), "request", None));
        assert!(enqueued.as_mut().poll(context).is_pending());
    }
    assert_eq!(rig.broker.shared.orphans.0.lock().unwrap().len(), ORPHANS_MAX);
    rig.store.release();
    rig.broker.shared.orphans.finish().await;
    assert_eq!(rig.counted.events.load(Ordering::Relaxed), ORPHANS_MAX);
    // The store is not at fault: another client is served, and its event is not held up by those that were forgotten.
    rig.enqueue(draft()).await;
    assert_eq!(rig.counted.events.load(Ordering::Relaxed), ORPHANS_MAX + 1);
}

#[tokio::test(start_paused = true)]
async fn the_end_waits_for_calls_that_lose_their_callers_while_it_waits() {
    let rig = rig();
    rig.store.hold();
    let clients = [(); 2].map(|()| {
        let broker = rig.broker.clone();
        tokio::spawn(async move { broker.enqueue(draft(), "request", None).await })
    });
    settle().await;
    clients[0].abort();
    settle().await;
    let broker = rig.broker.clone();
    let end = tokio::spawn(async move { broker.run_chores(async {}).await });
    settle().await;
    clients[1].abort();
    settle().await;
    assert!(!end.is_finished());
    rig.store.release();
    end.await.unwrap().unwrap();
    assert_eq!(rig.events(), ["job.enqueued", "job.enqueued"]);
}
