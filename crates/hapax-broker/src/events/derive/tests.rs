//! The events of each transition.

use hapax_core::unique::Strategy;
use hapax_core::{Claimant, Directive, Handback, JobId, Json, SpecPatch, WorkerId};

use super::*;
use crate::testing::{Rig, at, draft, error, queue, rig};
use crate::{EventFilter, EventQuery, Heartbeat, Notice};

async fn held(rig: &Rig) -> JobId {
    rig.enqueue(draft()).await;
    rig.take("default").await.unwrap().id
}

/// From where to where jobs went, as one text each.
fn steps(rig: &Rig) -> Vec<String> {
    let filter = EventFilter { types: vec!["job.state_changed".into()], ..EventFilter::default() };
    let told = rig.broker.events(&EventQuery { filter, limit: 1000, ..EventQuery::default() }).events;
    let step = |notice: Notice| {
        let Step { from, to } = notice.event.step().unwrap();
        format!("{} → {}", from.map_or("", State::name), to.name())
    };
    told.into_iter().map(step).collect()
}

fn facts(rig: &Rig) -> Vec<JobFact> {
    let fact = |news| match news {
        News::Job { fact, .. } => Some(fact),
        News::Cron { .. }
        | News::Workflow { .. }
        | News::Webhook { .. }
        | News::Worker { .. }
        | News::Bulk(_)
        | News::TurnedAway { .. }
        | News::LettersPruned { .. }
        | News::QueuePaused
        | News::QueueResumed
        | News::QueueDeleted => None,
    };
    rig.all_events().into_iter().filter_map(|event| fact(event.news)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_done() {
    let rig = rig();
    rig.enqueue(draft().unique(Strategy::Reject)).await;
    tokio::time::advance(Duration::from_millis(30)).await;
    let id = rig.take("default").await.unwrap().id;
    tokio::time::advance(Duration::from_millis(120)).await;
    let result = Json::from_trusted(r#"{"ok":true}"#);
    rig.broker.acknowledge(id, Claimant::UNNAMED, Some(result.clone())).await.unwrap();
    let [enqueued, started, completed] = &facts(&rig)[..] else { panic!("{:?}", rig.events()) };
    assert!(matches!(enqueued, JobFact::Enqueued { scheduled_at: None, key: Some(_), .. }));
    let (worker, waited) = (WorkerId::parse("worker-1"), Duration::from_millis(30));
    assert_eq!(*started, JobFact::Started { worker, attempt: 1, waited });
    let duration = Duration::from_millis(120);
    assert_eq!(*completed, JobFact::Completed { attempt: 1, duration, result: Some(result) });
}

#[tokio::test(start_paused = true)]
async fn a_long_result_is_left_out() {
    let rig = rig();
    let id = held(&rig).await;
    let long = Json::from_trusted(&format!("\"{}\"", "x".repeat(EVENT_RESULT_BYTES_MAX)));
    rig.broker.acknowledge(id, Claimant::UNNAMED, Some(long)).await.unwrap();
    assert!(matches!(facts(&rig)[2], JobFact::Completed { result: None, .. }));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_fails_and_will_be_tried_again() {
    let rig = rig();
    let id = held(&rig).await;
    tokio::time::advance(Duration::from_millis(5)).await;
    rig.broker.fail(id, Claimant::UNNAMED, error(Directive::Policy), Handback::Failed).await.unwrap();
    let error = Arc::new(EventError { code: "oops".into(), message: "it broke".into(), retryable: true });
    let duration = Some(Duration::from_millis(5));
    let (attempt, max_attempts, next_retry_at) = (1, 3, at(1005));
    assert_eq!(
        facts(&rig)[2..],
        [
            JobFact::Failed { attempt, duration, error: Arc::clone(&error) },
            JobFact::Retrying { attempt, max_attempts, next_retry_at, error },
        ]
    );
    rig.broker.tick(next_retry_at).await.unwrap();
    assert!(matches!(facts(&rig)[4..], [JobFact::Enqueued { .. }]));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_given_up_and_revived() {
    let rig = rig();
    let id = held(&rig).await;
    let long = hapax_core::WorkerError { message: "é".repeat(1000).into(), ..error(Directive::DeadLetter) };
    rig.broker.fail(id, Claimant::UNNAMED, long, Handback::Failed).await.unwrap();
    let JobFact::Discarded { total_attempts: 1, last_error } = &facts(&rig)[3] else {
        panic!("{:?}", rig.events())
    };
    assert_eq!(*last_error.message, "é".repeat(MESSAGE_MAX));
    assert!(!last_error.retryable);
    rig.broker.revive(id, SpecPatch::default()).await.unwrap();
    let dead = ["job.failed", "job.discarded", "dead_letter.added"];
    assert_eq!(rig.events()[2..5], dead);
    assert_eq!(rig.events()[5..], ["job.enqueued", "dead_letter.retried"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_handed_back_did_not_fail() {
    let rig = rig();
    let id = held(&rig).await;
    rig.broker.fail(id, Claimant::UNNAMED, error(Directive::Policy), Handback::Requeue).await.unwrap();
    assert_eq!(rig.events(), ["job.enqueued", "job.started", "job.enqueued"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_worker_is_lost_failed_and_a_late_acknowledgement_completes_it() {
    let rig = rig();
    let id = held(&rig).await;
    rig.broker.tick(at(0) + rig.broker.rules().visibility_timeout).await.unwrap();
    let [.., JobFact::Failed { attempt: 1, duration: None, error }, JobFact::Enqueued { .. }] =
        &facts(&rig)[..]
    else {
        panic!("{:?}", rig.events())
    };
    assert_eq!(&*error.code, "visibility_timeout");
    rig.broker.acknowledge(id, Claimant::UNNAMED, None).await.unwrap();
    assert!(matches!(facts(&rig)[4..], [JobFact::Completed { duration: Duration::ZERO, .. }]));
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_tells_the_new_deadline() {
    let rig = rig();
    let id = held(&rig).await;
    let visibility_timeout = Some(Duration::from_secs(7));
    rig.broker
        .heartbeat(Heartbeat { worker: None, jobs: vec![(id, None)], visibility_timeout, tenant: None })
        .await
        .unwrap();
    let worker = WorkerId::parse("worker-1");
    assert_eq!(facts(&rig)[2], JobFact::Heartbeat { worker, attempt: 1, visible_until: at(7000) });
}

#[tokio::test(start_paused = true)]
async fn jobs_that_wait_and_expire() {
    let rig = rig();
    rig.enqueue(draft().scheduled(500)).await;
    rig.enqueue(draft().pending().expiring(1000)).await;
    rig.broker.tick(at(1000)).await.unwrap();
    let [scheduled, enqueued, expired] = &facts(&rig)[..] else { panic!("{:?}", rig.events()) };
    assert_eq!(*scheduled, JobFact::Scheduled { scheduled_at: at(500) });
    assert!(matches!(enqueued, JobFact::Enqueued { scheduled_at: Some(_), .. }));
    assert_eq!(*expired, JobFact::Expired { created_at: at(0), ttl: Duration::from_secs(1) });
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_called_off() {
    let rig = rig();
    let job = rig.enqueue(draft()).await;
    rig.broker.cancel(job.id).await.unwrap();
    assert_eq!(facts(&rig)[1], JobFact::Cancelled { from: State::Available, by: CancelledBy::Request });
    let event = rig.all_events().remove(1);
    let News::Job { id, state, .. } = event.news else { panic!("{event:?}") };
    assert_eq!((id, state), (job.id, State::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn a_holder_is_called_off_before_its_replacement_is_enqueued() {
    let rig = rig();
    for _ in 0..2 {
        rig.enqueue(draft().unique(Strategy::Replace)).await;
    }
    assert_eq!(rig.events(), ["job.enqueued", "job.cancelled", "job.enqueued"]);
    assert_eq!(facts(&rig)[1], JobFact::Cancelled { from: State::Available, by: CancelledBy::Replacement });
}

#[tokio::test(start_paused = true)]
async fn duplicates_that_change_nothing_and_refusals_are_no_events() {
    let rig = rig();
    rig.enqueue(draft().unique(Strategy::Ignore)).await;
    rig.enqueue(draft().unique(Strategy::Ignore)).await;
    rig.broker.enqueue(draft().unique(Strategy::Reject), "request", None).await.unwrap_err();
    assert_eq!(rig.events(), ["job.enqueued"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_waited_for_the_end_of_another_goes_on_after_it() {
    let rig = rig();
    rig.enqueue(draft().queue_latest()).await;
    let running = rig.take("default").await.unwrap();
    rig.enqueue(draft().queue_latest()).await;
    assert_eq!(rig.events(), ["job.enqueued", "job.started"], "who waits for another has not arrived");
    rig.broker.acknowledge(running.id, Claimant::UNNAMED, None).await.unwrap();
    assert_eq!(rig.events()[2..], ["job.completed", "job.enqueued"]);
}

#[tokio::test(start_paused = true)]
async fn a_successor_with_a_start_time_is_scheduled_and_the_chores_hear_of_it() {
    let rig = rig();
    let _chores = rig.chores();
    rig.enqueue(draft().queue_latest()).await;
    let running = rig.take("default").await.unwrap();
    let successor = rig.enqueue(draft().queue_latest().scheduled(50)).await;
    rig.broker.cancel(running.id).await.unwrap();
    assert_eq!(rig.events()[2..], ["job.cancelled", "job.scheduled"]);
    crate::testing::pass(Duration::from_millis(55)).await;
    assert_eq!(rig.job(successor.id).await.state(), State::Available);
}

#[tokio::test(start_paused = true)]
async fn a_look_that_finds_a_job_expired_lets_its_successor_go() {
    let rig = rig();
    let timeout = rig.broker.rules().visibility_timeout;
    let minute = Duration::from_mins(1);
    let expiry = i64::try_from((timeout + minute).as_millis()).unwrap();
    rig.enqueue(draft().queue_latest().expiring(expiry)).await;
    rig.take("default").await.unwrap();
    let successor = rig.enqueue(draft().queue_latest()).await;
    tokio::time::advance(timeout).await;
    rig.broker.tick(at(0) + timeout).await.unwrap();
    tokio::time::advance(minute).await;
    assert_eq!(rig.take("default").await.unwrap().id, successor.id);
    assert_eq!(rig.events()[4..], ["job.discarded", "job.enqueued", "job.started"]);
}

#[tokio::test(start_paused = true)]
async fn queues_that_are_paused_and_resumed() {
    let rig = rig();
    rig.broker.pause(queue("mail")).await.unwrap();
    rig.broker.resume(queue("mail")).await.unwrap();
    assert_eq!(rig.events(), ["queue.paused", "queue.resumed"]);
    assert!(rig.all_events().iter().all(|event| event.queue == Some(queue("mail"))));
}

#[tokio::test(start_paused = true)]
async fn every_step_of_a_life_is_told_with_where_it_began() {
    let rig = rig();
    let id = held(&rig).await;
    rig.broker.fail(id, Claimant::UNNAMED, error(Directive::Policy), Handback::Failed).await.unwrap();
    rig.broker.tick(at(1000)).await.unwrap();
    let id = rig.take("default").await.unwrap_or_else(|| panic!("{id} came back")).id;
    rig.broker
        .heartbeat(Heartbeat { worker: None, jobs: vec![(id, None)], visibility_timeout: None, tenant: None })
        .await
        .unwrap();
    rig.broker.acknowledge(id, Claimant::UNNAMED, None).await.unwrap();
    assert_eq!(
        steps(&rig),
        [
            " → available",
            "available → active",
            "active → retryable",
            "retryable → available",
            "available → active",
            "active → completed"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_step_without_a_word_of_its_own_is_told_as_a_step() {
    let rig = rig();
    let job = rig.enqueue(draft().pending()).await;
    rig.broker.activate(job.id).await.unwrap();
    rig.broker.cancel(job.id).await.unwrap();
    assert_eq!(steps(&rig), [" → pending", "pending → available", "available → cancelled"]);
    assert_eq!(rig.events(), ["job.enqueued", "job.cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_done_when_it_is_taken_was_active_in_between() {
    let rig = rig();
    let mut once = draft();
    once.spec.delivery = hapax_core::Delivery::AtMostOnce;
    rig.enqueue(once).await;
    rig.take("default").await.unwrap();
    assert_eq!(steps(&rig), [" → available", "available → active", "active → completed"]);
}
