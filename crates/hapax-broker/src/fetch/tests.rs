//! Fetch, waiting and not.

use std::sync::atomic::Ordering;

use hapax_core::unique::Strategy;
use hapax_core::{Directive, JobId, Json, SpecPatch};
use tokio::time::{Instant, advance};

use super::*;
use crate::Draft;
use crate::testing::{Rig, at, draft, error, fetch, queue, rig, settle};

const MINUTE: Duration = Duration::from_mins(1);

#[tokio::test(start_paused = true)]
async fn queues_are_served_in_the_order_of_the_request() {
    let rig = rig();
    rig.enqueue(draft().on("low")).await;
    let high = rig.enqueue(draft().on("high")).await;
    let jobs = rig.broker.fetch(fetch(&["high", "low"], Duration::ZERO)).await.unwrap();
    assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [high.id]);
    assert_eq!(jobs[0].state(), State::Active);
}

#[tokio::test(start_paused = true)]
async fn two_fetches_never_share_a_lease() {
    let rig = rig();
    rig.enqueue(draft()).await;
    rig.enqueue(draft()).await;
    let token = |job: &Job| match &job.phase {
        Phase::Active { lease, .. } => lease.token,
        other => panic!("{other:?}"),
    };
    let (one, two) = (rig.take("default").await.unwrap(), rig.take("default").await.unwrap());
    assert_ne!(token(&one), token(&two));
}

#[tokio::test(start_paused = true)]
async fn a_job_for_at_most_once_is_delivered_completed() {
    let rig = rig();
    rig.enqueue(draft().at_most_once()).await;
    assert_eq!(rig.take("default").await.unwrap().state(), State::Completed);
    assert_eq!(rig.events(), ["job.enqueued", "job.started", "job.completed"]);
}

#[tokio::test(start_paused = true)]
async fn any_number_of_expired_jobs_does_not_hide_the_one_behind_them() {
    let rig = rig();
    for _ in 0..hapax_store::EXPIRED_PER_CLAIM_MAX * 2 {
        rig.enqueue(draft().expiring(10)).await;
    }
    let alive = rig.enqueue(draft()).await;
    advance(Duration::from_millis(10)).await;
    assert_eq!(rig.take("default").await.map(|job| job.id), Some(alive.id));
}

#[tokio::test(start_paused = true)]
async fn without_a_wait_an_empty_queue_answers_at_once() {
    let rig = rig();
    let started = Instant::now();
    assert_eq!(rig.take("default").await, None);
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_when_the_client_said_and_never_later_than_the_limit() {
    let rig = rig();
    for (asked, waited) in [(Duration::from_secs(3), Duration::from_secs(3)), (MINUTE, FETCH_WAIT_MAX)] {
        let started = Instant::now();
        assert_eq!(rig.broker.fetch(fetch(&["default"], asked)).await.unwrap(), []);
        let late = started.elapsed().checked_sub(waited).unwrap();
        assert!(late <= Duration::from_millis(1), "{late:?}");
    }
}

/// Waits on two queues, lets something happen that makes a job available in the second, and checks that it arrives
/// without time going by.
async fn check_woken(rig: &Rig, by: impl AsyncFnOnce() -> JobId) {
    let waiter = rig.start_fetch(fetch(&["other", "default"], MINUTE));
    settle().await;
    assert!(!waiter.is_finished());
    let started = Instant::now();
    let id = by().await;
    let jobs = waiter.await.unwrap();
    assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [id]);
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_fetch_gets_the_job_that_is_enqueued_later() {
    let rig = rig();
    check_woken(&rig, async || rig.enqueue(draft()).await.id).await;
}

#[tokio::test(start_paused = true)]
async fn a_waiting_fetch_gets_a_job_of_a_batch() {
    let rig = rig();
    let batch = async || {
        let batch = vec![draft().on("elsewhere"), draft(), draft().on("elsewhere")];
        match rig.broker.enqueue_all(batch, "request", None).await.unwrap() {
            crate::Receipt::Fresh(admissions) => admissions[1].job.id,
            crate::Receipt::Remembered(_) => panic!("no memo was given"),
        }
    };
    check_woken(&rig, batch).await;
}

#[tokio::test(start_paused = true)]
async fn a_waiting_fetch_gets_the_job_that_is_activated() {
    let rig = rig();
    let pending = rig.enqueue(draft().pending()).await;
    check_woken(&rig, async || rig.broker.activate(pending.id).await.unwrap().id).await;
}

#[tokio::test(start_paused = true)]
async fn a_waiting_fetch_gets_the_job_that_is_handed_back() {
    let rig = rig();
    rig.enqueue(draft()).await;
    let held = rig.take("default").await.unwrap();
    let requeue = async || {
        let failed =
            rig.broker.fail(held.id, Claimant::UNNAMED, error(Directive::Policy), Handback::Requeue).await;
        failed.unwrap().id
    };
    check_woken(&rig, requeue).await;
}

#[tokio::test(start_paused = true)]
async fn a_waiting_fetch_gets_the_dead_letter_that_is_revived() {
    let rig = rig();
    rig.enqueue(draft()).await;
    let held = rig.take("default").await.unwrap();
    let dead = error(Directive::DeadLetter);
    rig.broker.fail(held.id, Claimant::UNNAMED, dead, Handback::Failed).await.unwrap();
    check_woken(&rig, async || rig.broker.revive(held.id, SpecPatch::default()).await.unwrap().id).await;
}

#[tokio::test(start_paused = true)]
async fn a_waiting_fetch_gets_the_job_of_a_queue_that_is_resumed() {
    let rig = rig();
    rig.broker.pause(queue("default")).await.unwrap();
    let job = rig.enqueue(draft()).await;
    let resume = async || {
        rig.broker.resume(queue("default")).await.unwrap();
        job.id
    };
    check_woken(&rig, resume).await;
}

#[tokio::test(start_paused = true)]
async fn a_waiting_fetch_gets_the_job_that_replaces_another() {
    let rig = rig();
    rig.enqueue(draft().scheduled(60_000).unique(Strategy::Reject)).await;
    check_woken(&rig, async || rig.enqueue(draft().unique(Strategy::Replace)).await.id).await;
}

#[tokio::test(start_paused = true)]
async fn a_waiting_fetch_gets_a_scheduled_job_when_its_time_comes() {
    let rig = rig();
    let _chores = rig.chores();
    let job = rig.enqueue(draft().scheduled(2500)).await;
    let jobs = rig.broker.fetch(fetch(&["default"], MINUTE)).await.unwrap();
    assert_eq!(jobs[0].id, job.id);
    let late = jobs[0].started_at.unwrap().since(at(2500));
    assert!(late <= Duration::from_millis(5), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn a_waiting_fetch_gets_the_job_of_a_lease_that_ran_out() {
    let rig = rig();
    let _chores = rig.chores();
    rig.enqueue(draft()).await;
    let short =
        Fetch { visibility_timeout: Some(Duration::from_secs(5)), ..fetch(&["default"], Duration::ZERO) };
    let lost = rig.broker.fetch(short).await.unwrap().remove(0);
    let jobs = rig.broker.fetch(fetch(&["default"], MINUTE)).await.unwrap();
    assert_eq!((jobs[0].id, jobs[0].attempt), (lost.id, 2));
    let late = jobs[0].started_at.unwrap().since(at(5000));
    assert!(late <= Duration::from_millis(5), "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn one_job_wakes_one_of_many_waiters_the_one_that_waits_longest() {
    let rig = rig();
    let mut waiters = Vec::new();
    for _ in 0..10 {
        waiters.push(rig.start_fetch(fetch(&["default"], MINUTE)));
        settle().await;
    }
    let looks = rig.store.claims.load(Ordering::Relaxed);
    for waiter in waiters {
        let job = rig.enqueue(draft()).await;
        settle().await;
        assert!(waiter.is_finished());
        assert_eq!(waiter.await.unwrap()[0].id, job.id);
    }
    assert_eq!(rig.store.claims.load(Ordering::Relaxed) - looks, 10);
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_left_takes_no_job_with_it() {
    let rig = rig();
    let gone = rig.start_fetch(fetch(&["default"], MINUTE));
    settle().await;
    let stays = rig.start_fetch(fetch(&["default"], MINUTE));
    settle().await;
    gone.abort();
    settle().await;
    let job = rig.enqueue(draft()).await;
    assert_eq!(stays.await.unwrap()[0].id, job.id);
}

#[tokio::test(start_paused = true)]
async fn jobs_on_their_way_to_a_client_that_left_go_back_and_reach_the_next() {
    let rig = rig();
    let job = rig.enqueue(draft()).await;
    rig.store.hold();
    let gone = rig.start_fetch(fetch(&["default"], MINUTE));
    settle().await;
    gone.abort();
    settle().await;
    assert_eq!(rig.job(job.id).await.state(), State::Active);
    let next = rig.start_fetch(fetch(&["default"], MINUTE));
    settle().await;
    rig.store.release();
    let jobs = next.await.unwrap();
    assert_eq!((jobs[0].id, jobs[0].attempt, jobs[0].fence), (job.id, 1, 2));
    assert_eq!(rig.events(), ["job.enqueued", "job.started", "job.enqueued", "job.started"]);
}

#[tokio::test(start_paused = true)]
async fn shutting_down_ends_waits_and_lets_nobody_wait_any_more() {
    let rig = rig();
    let waiter = rig.start_fetch(fetch(&["default"], MINUTE));
    settle().await;
    let started = Instant::now();
    rig.broker.begin_shutdown();
    assert_eq!(waiter.await.unwrap(), []);
    assert_eq!(rig.broker.fetch(fetch(&["default"], MINUTE)).await.unwrap(), []);
    assert_eq!(started.elapsed(), Duration::ZERO);
    let job = rig.enqueue(draft()).await;
    assert_eq!(rig.broker.fetch(fetch(&["default"], MINUTE)).await.unwrap()[0].id, job.id);
}

/// Waiters with overlapping queues come and go while jobs come one by one: whenever everything has come to rest,
/// no job is available in a queue on which somebody waits.
#[tokio::test(start_paused = true)]
async fn no_job_is_ever_left_while_somebody_waits_for_it() {
    const QUEUES: [&str; 3] = ["a", "b", "c"];
    for seed in 0..200 {
        let rig = rig();
        rig.store.sluggish.store(5, Ordering::Relaxed);
        let random = crate::testing::FakeEntropy(seed.into());
        let below = |n: usize| usize::try_from(random.next() % n as u64).unwrap();
        let mut waiters: Vec<(Vec<&str>, tokio::task::JoinHandle<Vec<Job>>)> = Vec::new();
        for _ in 0..60 {
            match below(6) {
                0 | 1 => {
                    let first = below(3);
                    let names: Vec<&str> = (0..=below(3)).map(|i| QUEUES[(first + i) % 3]).collect();
                    let wanted = Fetch { count: 1 + below(3), ..fetch(&names, Duration::from_secs(20)) };
                    waiters.push((names, rig.start_fetch(wanted)));
                }
                2 if !waiters.is_empty() => waiters.swap_remove(below(waiters.len())).1.abort(),
                3 => {
                    let many = (0..=below(4)).map(|_| draft().on(QUEUES[below(3)])).collect();
                    rig.broker.enqueue_all(many, "request", None).await.map(drop).unwrap();
                }
                4 => tokio::task::yield_now().await,
                _ => drop(rig.enqueue(draft().on(QUEUES[below(3)])).await),
            }
        }
        for _ in 0..50 {
            settle().await;
        }
        waiters.retain(|(_, waiter)| !waiter.is_finished());
        for name in QUEUES {
            let facts = rig.broker.queue(queue(name)).await.unwrap();
            let left = facts.map_or(0, |facts| facts.counts.of(State::Available));
            let wanted = waiters.iter().any(|(names, _)| names.contains(&name));
            assert!(left == 0 || !wanted, "seed {seed}: {left} jobs are left in {name}");
        }
    }
}

fn of_tenant(name: &str) -> Draft {
    let mut draft = draft();
    draft.spec.meta = Json::from_trusted(&format!(r#"{{"tenant_id":"{name}"}}"#));
    draft
}

#[tokio::test(start_paused = true)]
async fn a_fetch_of_a_tenant_waits_for_a_job_of_its_own() {
    let rig = rig();
    let own = |name| Fetch { tenant: TenantId::parse(name), ..fetch(&["default"], Duration::from_secs(20)) };
    let (rig_a, rig_b) = (rig.broker.clone(), rig.broker.clone());
    let a = tokio::spawn(async move { rig_a.fetch(own("a")).await.unwrap() });
    let b = tokio::spawn(async move { rig_b.fetch(own("b")).await.unwrap() });
    tokio::task::yield_now().await;
    let first = rig.enqueue(of_tenant("b")).await;
    assert_eq!(b.await.unwrap()[0].id, first.id);
    assert!(!a.is_finished());
    let second = rig.enqueue(of_tenant("a")).await;
    assert_eq!(a.await.unwrap()[0].id, second.id);
}

#[tokio::test(start_paused = true)]
async fn a_fetch_of_a_tenant_takes_no_call_from_others() {
    let rig = rig();
    let tenants = Fetch { tenant: TenantId::parse("a"), ..fetch(&["default"], Duration::from_secs(20)) };
    let (watching, waiting) = (rig.broker.clone(), rig.broker.clone());
    let a = tokio::spawn(async move { watching.fetch(tenants).await.unwrap() });
    let anybody =
        tokio::spawn(
            async move { waiting.fetch(fetch(&["default"], Duration::from_secs(20))).await.unwrap() },
        );
    tokio::task::yield_now().await;
    let job = rig.enqueue(of_tenant("b")).await;
    assert_eq!(anybody.await.unwrap()[0].id, job.id);
    rig.broker.begin_shutdown();
    assert_eq!(a.await.unwrap(), []);
}
