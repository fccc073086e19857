//! What is due happens, in order, on time, and once.

use std::sync::atomic::Ordering;
use std::time::Duration;

use hapax_core::{Claimant, Directive, Handback, QueueSettings, State};
use hapax_store::record::queue as record;
use hapax_store::settings::key;
use hapax_store::{Edit, Store, StoreError, Written};
use tokio::sync::oneshot;
use tokio::time::advance;

use super::*;
use crate::News;
use crate::testing::{at, draft, error, fetch, pass, queue, rig, settle};

#[tokio::test(start_paused = true)]
async fn jobs_are_promoted_in_the_order_in_which_they_were_due() {
    let rig = rig();
    for millis in [300, 100, 200] {
        rig.enqueue(draft().scheduled(millis)).await;
    }
    advance(Duration::from_secs(1)).await;
    rig.broker.tick(rig.broker.now()).await.unwrap();
    let mut times = Vec::new();
    while let Some(job) = rig.take("default").await {
        times.push(job.spec.scheduled_at.as_ref().unwrap().at);
    }
    assert_eq!(times, [at(100), at(200), at(300)]);
}

#[tokio::test(start_paused = true)]
async fn a_tick_lets_nothing_happen_early() {
    let rig = rig();
    let job = rig.enqueue(draft().scheduled(100)).await;
    rig.broker.tick(at(99)).await.unwrap();
    assert_eq!(rig.job(job.id).await.state(), State::Scheduled);
    rig.broker.tick(at(100)).await.unwrap();
    assert_eq!(rig.job(job.id).await.state(), State::Available);
}

#[tokio::test(start_paused = true)]
async fn a_tick_goes_on_until_everything_due_has_happened() {
    let rig = rig();
    let many = ADVANCE_MAX * 2 + 1;
    let batch = (0..many).map(|_| draft().scheduled(100)).collect();
    rig.broker.enqueue_all(batch, "request", None).await.unwrap();
    rig.broker.tick(at(100)).await.unwrap();
    let counts = rig.broker.totals().await.unwrap().counts;
    assert_eq!(counts.of(State::Available), many as u64);
}

#[tokio::test(start_paused = true)]
async fn the_first_tick_comes_at_once() {
    let rig = rig();
    let job = rig.enqueue(draft().scheduled(100)).await;
    advance(Duration::from_millis(100)).await;
    let _chores = rig.chores();
    settle().await;
    assert_eq!(rig.job(job.id).await.state(), State::Available);
}

#[tokio::test(start_paused = true)]
async fn a_sleeping_loop_hears_of_something_earlier() {
    let rig = rig();
    let _chores = rig.chores();
    rig.enqueue(draft().scheduled(60_000)).await;
    settle().await;
    let soon = rig.enqueue(draft().scheduled(20)).await;
    let jobs = rig.broker.fetch(fetch(&["default"], Duration::from_secs(5))).await.unwrap();
    assert_eq!(jobs[0].id, soon.id);
    let late = jobs[0].started_at.unwrap().since(at(20));
    assert!(late <= Duration::from_millis(5), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn what_another_server_decided_is_heard_of_however_much_is_due() {
    let rig = rig();
    rig.store.shared.store(true, Ordering::Relaxed);
    let _chores = rig.chores();
    for millis in (0..3_000).step_by(100) {
        rig.enqueue(draft().on("busy").scheduled(millis)).await;
    }
    let draining = QueueSettings { draining: Some(true), ..QueueSettings::default() };
    let body = record::write(&draining);
    let edit = Edit::new(move |_| Ok(Some(Written { body: body.as_str().into(), due_at: None })));
    rig.broker.edit(rig.broker.now(), key("mail"), edit).await.unwrap();
    assert!(!rig.broker.settings_of(&queue("mail")).is_draining());
    pass(Duration::from_millis(1500)).await;
    assert!(rig.broker.settings_of(&queue("mail")).is_draining());
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_ahead_is_noticed_within_a_second() {
    let rig = rig();
    let _chores = rig.chores();
    let job = rig.enqueue(draft().scheduled(3_600_000)).await;
    settle().await;
    rig.clock.jump(3_600_000);
    pass(NAP_MAX + Duration::from_millis(10)).await;
    assert_eq!(rig.job(job.id).await.state(), State::Available);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_back_delays_only_what_is_due_by_it() {
    let rig = rig();
    let _chores = rig.chores();
    settle().await;
    rig.clock.jump(-3_600_000);
    let job = rig.enqueue(draft().scheduled(-3_599_000)).await;
    pass(Duration::from_millis(1010)).await;
    assert_eq!(rig.job(job.id).await.state(), State::Available);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_nobody_started_in_time_expires() {
    let rig = rig();
    let _chores = rig.chores();
    let job = rig.enqueue(draft().expiring(250)).await;
    pass(Duration::from_millis(255)).await;
    assert_eq!(rig.job(job.id).await.state(), State::Discarded);
    assert_eq!(rig.events(), ["job.enqueued", "job.expired"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_worker_was_lost_too_often_is_given_up() {
    let rig = rig();
    let _chores = rig.chores();
    let job = rig.enqueue(draft().attempts(1)).await;
    rig.take("default").await.unwrap();
    pass(rig.broker.rules().visibility_timeout + Duration::from_millis(5)).await;
    assert_eq!(rig.job(job.id).await.state(), State::Discarded);
    assert_eq!(rig.events(), ["job.enqueued", "job.started", "job.failed", "job.discarded"]);
}

#[tokio::test(start_paused = true)]
async fn dead_letters_that_grow_too_old_are_counted_as_they_go() {
    let rig = rig();
    for name in ["a", "a", "b"] {
        rig.enqueue(draft().on(name)).await;
        let job = rig.take(name).await.unwrap();
        let error = error(Directive::DeadLetter);
        rig.broker.fail(job.id, Claimant::UNNAMED, error, Handback::Failed).await.unwrap();
    }
    let gone = rig.enqueue(draft().on("b")).await;
    rig.broker.cancel(gone.id).await.unwrap();
    rig.broker.tick(at(0) + rig.broker.rules().retention.discarded).await.unwrap();
    let pruned = rig.all_events().into_iter().filter_map(|event| match event.news {
        News::LettersPruned { count } => Some((event.queue.unwrap().to_string(), count)),
        _ => None,
    });
    assert_eq!(pruned.collect::<Vec<_>>(), [("a".into(), 2), ("b".into(), 1)]);
}

#[tokio::test(start_paused = true)]
async fn finished_jobs_are_removed_after_their_retention() {
    let rig = rig();
    let job = rig.enqueue(draft()).await;
    rig.broker.cancel(job.id).await.unwrap();
    let end = at(0) + rig.broker.rules().retention.cancelled;
    rig.broker.tick(end - Duration::from_millis(1)).await.unwrap();
    rig.job(job.id).await;
    rig.broker.tick(end).await.unwrap();
    assert!(rig.broker.job(job.id).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_store_ends_the_chores() {
    let rig = rig();
    let chores = rig.chores();
    settle().await;
    rig.store.close().await.unwrap();
    assert!(matches!(chores.await.unwrap(), Err(Error::Store(StoreError::Closed))));
}

#[tokio::test(start_paused = true)]
async fn told_to_stop_the_chores_stop_and_wait_for_calls_without_callers() {
    let rig = rig();
    let (stop, stopped) = oneshot::channel::<()>();
    let broker = rig.broker.clone();
    let chores = tokio::spawn(async move { broker.run_chores(async { drop(stopped.await) }).await });
    rig.store.hold();
    let broker = rig.broker.clone();
    let request = tokio::spawn(async move { broker.pause(queue("default")).await });
    settle().await;
    request.abort();
    settle().await;
    drop(stop);
    settle().await;
    assert!(!chores.is_finished());
    rig.store.release();
    chores.await.unwrap().unwrap();
    assert_eq!(rig.events(), ["queue.paused"]);
}
