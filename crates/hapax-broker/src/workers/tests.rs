//! What is known of workers, and what they are told.

use super::*;
use crate::testing::{Rig, at, draft, fetch, pass, rig, settle};
use crate::worker::STALE_AFTER;
use crate::{Fetch, Heartbeat, News};

fn id(name: &str) -> WorkerId {
    WorkerId::parse(name).unwrap()
}

fn by(name: &str, wait: Duration) -> Fetch {
    Fetch { worker: WorkerId::parse(name), ..fetch(&["default"], wait) }
}

#[tokio::test(start_paused = true)]
async fn whoever_fetches_or_beats_is_known_until_it_is_silent_for_long() {
    let rig = rig();
    rig.broker.fetch(by("a", Duration::ZERO)).await.unwrap();
    tokio::time::advance(Duration::from_secs(1)).await;
    rig.broker.worker_beat(&id("b"), Report { active_jobs: Some(2), ..Report::default() });
    let known = rig.broker.workers();
    assert_eq!(known.iter().map(|worker| worker.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(known[0].report.queues.as_ref().unwrap()[0].as_str(), "default");
    assert_eq!((known[0].last_heartbeat_at, known[1].last_heartbeat_at), (None, Some(at(1000))));
    assert_eq!(rig.broker.count_workers(), 2);
    tokio::time::advance(STALE_AFTER).await;
    rig.broker.worker_beat(&id("b"), Report::default());
    assert_eq!((rig.broker.count_workers(), rig.broker.workers().len()), (1, 2));
    tokio::time::advance(WORKER_FORGOTTEN_AFTER).await;
    assert_eq!(rig.broker.workers(), []);
    assert_eq!(rig.broker.worker(&id("b")), None);
}

#[tokio::test(start_paused = true)]
async fn a_quiet_worker_gets_no_jobs_and_others_do() {
    let rig = rig();
    rig.broker.worker_beat(&id("a"), Report::default());
    assert_eq!(rig.broker.order_worker(&id("a"), Order::Quiet).unwrap().order, Order::Quiet);
    assert_eq!(rig.broker.order_worker(&id("nobody"), Order::Quiet), None);
    rig.enqueue(draft()).await;
    assert_eq!(rig.broker.fetch(by("a", Duration::ZERO)).await.unwrap(), []);
    assert_eq!(rig.broker.worker_beat(&id("a"), Report::default()), Order::Quiet);
    assert_eq!(rig.broker.fetch(by("b", Duration::ZERO)).await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_order_only_grows_stricter_until_the_worker_registers_anew() {
    let rig = rig();
    rig.broker.worker_beat(&id("a"), Report::default());
    rig.broker.order_worker(&id("a"), Order::Terminate);
    rig.broker.order_worker(&id("a"), Order::Quiet);
    assert_eq!(rig.broker.worker_beat(&id("a"), Report::default()), Order::Terminate);
    rig.broker.register_worker(&id("a"), Report { pid: Some(7), ..Report::default() });
    let worker = rig.broker.worker(&id("a")).unwrap();
    assert_eq!((worker.order, worker.report.pid), (Order::Running, Some(7)));
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_drains_gets_nothing_until_it_runs_again() {
    let rig = rig();
    rig.enqueue(draft()).await;
    let says = |state: &str| Report { state: Some(state.into()), ..Report::default() };
    assert_eq!(rig.broker.worker_beat(&id("a"), says("drain")), Order::Quiet);
    assert_eq!(rig.broker.fetch(by("a", Duration::ZERO)).await.unwrap(), []);
    assert_eq!(rig.broker.worker_beat(&id("a"), says("running")), Order::Running);
    assert_eq!(rig.broker.fetch(by("a", Duration::ZERO)).await.unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_job_for_a_worker_that_became_quiet_while_it_waited_goes_to_the_next() {
    let rig = rig();
    let quiet = rig.start_fetch(by("a", Duration::from_secs(20)));
    settle().await;
    let next = rig.start_fetch(by("b", Duration::from_secs(20)));
    settle().await;
    rig.broker.order_worker(&id("a"), Order::Quiet);
    let job = rig.enqueue(draft()).await;
    assert_eq!(next.await.unwrap()[0].id, job.id);
    assert!(!quiet.is_finished(), "it waits as long as it wanted to");
    assert_eq!(quiet.await.unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn the_jobs_of_a_worker_that_is_removed_go_back() {
    let rig = rig();
    rig.enqueue(draft()).await;
    rig.enqueue(draft().attempts(1)).await;
    let held = rig.broker.fetch(Fetch { count: 2, ..by("a", Duration::ZERO) }).await.unwrap();
    let (jobs, has_more) = rig.broker.jobs_of_worker(&id("a")).await.unwrap();
    assert_eq!((jobs.len(), has_more), (2, false));
    let gone = rig.broker.deregister_worker(&id("a")).await.unwrap();
    assert_eq!(gone, Deregistered { released: 2, has_more: false });
    assert_eq!(rig.broker.worker(&id("a")), None);
    assert_eq!(rig.job(held[0].id).await.state(), State::Available);
    assert_eq!(rig.job(held[1].id).await.state(), State::Discarded, "that was its last attempt");
    let beat = Heartbeat {
        worker: WorkerId::parse("a"),
        jobs: vec![(held[0].id, None)],
        visibility_timeout: None,
        tenant: None,
    };
    assert_eq!(rig.broker.heartbeat(beat).await.unwrap().lost, [held[0].id]);
}

#[tokio::test(start_paused = true)]
async fn there_is_room_for_a_new_worker_however_many_there_are() {
    let rig = rig();
    for number in 0..=WORKERS_MAX {
        rig.broker.worker_beat(&id(&format!("w{number}")), Report::default());
        if number == 0 {
            tokio::time::advance(Duration::from_millis(1)).await;
        }
    }
    assert_eq!(rig.broker.workers().len(), WORKERS_MAX);
    assert_eq!(rig.broker.worker(&id("w0")), None, "the longest silent one gave way");
    assert!(rig.broker.worker(&id("w10000")).is_some());
}

/// What is told of workers, in order, with what is said about it.
fn told(rig: &Rig) -> Vec<(String, WorkerFact)> {
    let of_worker = |news| match news {
        News::Worker { id, fact } => Some((id.as_str().to_owned(), fact)),
        _ => None,
    };
    rig.all_events().into_iter().filter_map(|event| of_worker(event.news)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_worker_is_told_of_from_its_first_fetch_to_its_silence() {
    let rig = rig();
    let chores = rig.chores();
    let a = |fact| ("a".to_owned(), fact);
    for _ in 0..3 {
        rig.broker.fetch(by("a", Duration::ZERO)).await.unwrap();
    }
    let queues = Some(vec![crate::testing::queue("default")]);
    let mut expected = vec![a(WorkerFact::Started { queues: queues.clone(), concurrency: None })];
    assert_eq!(told(&rig), expected, "a fetch of a known worker tells nothing");
    pass(Duration::from_secs(1)).await;
    let report = Report { active_jobs: Some(2), concurrency: Some(4), ..Report::default() };
    rig.broker.worker_beat(&id("a"), report);
    expected.push(a(WorkerFact::Heartbeat { active_jobs: Some(2), queues: queues.clone() }));
    rig.broker.order_worker(&id("a"), Order::Quiet);
    rig.broker.order_worker(&id("a"), Order::Terminate);
    expected.push(a(WorkerFact::Quiet { active_jobs: Some(2) }));
    pass(STALE_AFTER * 2).await;
    expected.push(a(WorkerFact::Stopped { wound_down: true, uptime: Duration::from_secs(1) }));
    rig.broker.deregister_worker(&id("a")).await.unwrap();
    assert_eq!(told(&rig), expected, "it is told once that it is gone");
    chores.abort();
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_comes_back_or_registers_anew_has_started() {
    let rig = rig();
    let kinds = || told(&rig).into_iter().map(|(_, fact)| fact).collect::<Vec<_>>();
    let started = || WorkerFact::Started { queues: None, concurrency: None };
    let beat = || WorkerFact::Heartbeat { active_jobs: None, queues: None };
    let lost = || WorkerFact::Stopped { wound_down: false, uptime: Duration::ZERO };
    let chores = rig.chores();
    rig.broker.worker_beat(&id("a"), Report::default());
    pass(STALE_AFTER * 2).await;
    rig.broker.worker_beat(&id("a"), Report::default());
    rig.broker.register_worker(&id("a"), Report::default());
    assert_eq!(kinds(), [started(), beat(), lost(), started(), beat(), started()]);
    let says = Report { state: Some("quiet".into()), ..Report::default() };
    rig.broker.worker_beat(&id("a"), says);
    rig.broker.deregister_worker(&id("a")).await.unwrap();
    let gone = WorkerFact::Stopped { wound_down: true, uptime: Duration::ZERO };
    assert_eq!(kinds()[6..], [WorkerFact::Quiet { active_jobs: None }, beat(), gone]);
    chores.abort();
}
