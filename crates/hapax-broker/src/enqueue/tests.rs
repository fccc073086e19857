//! Enqueue, singly and in batches.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hapax_core::unique::{FieldSet, JobKeyMode, Replacement, Strategy, UniquePolicy};
use hapax_core::{Json, State, Verdict};
use hapax_store::{MemoKey, Remembered};

use super::*;
use crate::testing::{draft, rig};

#[tokio::test(start_paused = true)]
async fn a_job_gets_an_id_and_can_be_read_at_once() {
    let rig = rig();
    let job = rig.enqueue(draft()).await;
    assert_eq!(job.state(), State::Available);
    assert_eq!(rig.job(job.id).await, job);
    assert_ne!(rig.enqueue(draft()).await.id, job.id);
}

#[tokio::test(start_paused = true)]
async fn an_id_that_the_client_chose_is_kept_and_taken_once() {
    let rig = rig();
    let id = Some("019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f".parse().unwrap());
    assert_eq!(Some(rig.enqueue(Draft { id, ..draft() }).await.id), id);
    let again = rig.broker.enqueue(Draft { id, ..draft() }, "request", None).await;
    assert!(matches!(again, Err(Error::Refused(Refusal::IdTaken { .. }))), "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn a_rejected_duplicate_is_refused_and_stands_in_the_holders_ledger() {
    let rig = rig();
    let holder = rig.enqueue(draft().unique(Strategy::Reject)).await;
    let refused = rig.broker.enqueue(draft().unique(Strategy::Reject), "request-2", None).await;
    let Err(Error::Refused(Refusal::Duplicate { existing, state, key })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((existing, state, Some(key)), (holder.id, State::Available, holder.key));
    let ledger = rig.job(holder.id).await.ledger;
    assert_eq!(ledger.recent()[0].request_id.as_deref(), Some("request-2"));
}

#[tokio::test(start_paused = true)]
async fn conflicts_are_counted_by_the_strategy_of_the_incoming_job() {
    let rig = rig();
    for strategy in [Strategy::Ignore, Strategy::Ignore, Strategy::Replace, Strategy::ReplaceExceptSchedule] {
        rig.enqueue(draft().unique(strategy)).await;
    }
    let replace = Some(Replacement::everywhere(FieldSet::default()));
    rig.enqueue(draft().policy(UniquePolicy { replace, ..UniquePolicy::default() })).await;
    rig.broker.enqueue(draft().unique(Strategy::Reject), "request", None).await.unwrap_err();
    let counted = rig.counted.conflicts.lock().unwrap().clone();
    assert_eq!(counted, ["ignore", "replace", "replace_except_schedule", "update", "reject"]);
}

#[tokio::test(start_paused = true)]
async fn jobs_that_meet_a_holder_and_are_created_all_the_same_are_counted_too() {
    let rig = rig();
    rig.enqueue(draft().queue_latest()).await;
    rig.take("default").await.unwrap();
    assert_eq!(rig.enqueue(draft().queue_latest()).await.state(), State::Pending);
    rig.enqueue(draft().queue_latest()).await;
    for _ in 0..2 {
        rig.enqueue(draft().job_key("abc", JobKeyMode::Replace).on("mail")).await;
    }
    rig.take("mail").await.unwrap();
    rig.enqueue(draft().job_key("abc", JobKeyMode::Replace)).await;
    let counted = rig.counted.conflicts.lock().unwrap().clone();
    assert_eq!(counted, ["queue_latest", "queue_latest", "job_key", "job_key"]);
    assert_eq!(rig.counted.deduplicated.load(Ordering::Relaxed), 2, "answered by a holder");
}

#[tokio::test(start_paused = true)]
async fn a_payload_that_would_grow_too_large_is_refused_and_changes_nothing() {
    let rig = rig();
    let half = format!("[[\"{}\"]]", "x".repeat(rig.broker.rules().joined_bytes_max / 2));
    let job = || {
        let mut draft = draft().debounced(Duration::from_secs(10));
        draft.spec.args = Json::from_trusted(&half);
        draft
    };
    let holder = rig.enqueue(job()).await;
    let refused = rig.broker.enqueue(job(), "request", None).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::PayloadFull { .. }))), "{refused:?}");
    assert_eq!(rig.job(holder.id).await, holder);
}

#[tokio::test(start_paused = true)]
async fn each_job_of_a_list_stands_for_itself_and_sees_those_before_it() {
    let rig = rig();
    let id = Some(rig.enqueue(draft()).await.id);
    let drafts = vec![
        draft().unique(Strategy::Ignore),
        draft().unique(Strategy::Reject),
        Draft { id, ..draft() },
        draft().unique(Strategy::Ignore),
        draft(),
    ];
    let answered = rig.broker.enqueue_each(drafts, "request", None).await.unwrap();
    let Receipt::Fresh(answers) = answered else { panic!("no memo was given") };
    let verdicts: Vec<_> = answers.iter().map(|answer| answer.as_ref().map(|a| a.verdict.name())).collect();
    let [Ok("created"), Ok("rejected"), Err(Refusal::IdTaken { .. }), Ok("existing"), Ok("created")] =
        verdicts[..]
    else {
        panic!("{verdicts:?}")
    };
    assert_eq!(answers[1].as_ref().unwrap().verdict, Verdict::Rejected);
    assert_eq!(*rig.counted.conflicts.lock().unwrap(), ["reject", "ignore"]);
    assert_eq!(rig.counted.deduplicated.load(Ordering::Relaxed), 1);
    assert_eq!(rig.events(), ["job.enqueued"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_list_without_jobs_asks_nothing_of_the_store() {
    let rig = rig();
    rig.store.fail();
    let answered = rig.broker.enqueue_each(Vec::new(), "request", None).await.unwrap();
    assert_eq!(answered, Receipt::Fresh(Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_all_or_nothing_and_sees_itself() {
    let rig = rig();
    let twice = |strategy| vec![draft(), draft().unique(strategy), draft().unique(strategy)];
    let refused = rig.broker.enqueue_all(twice(Strategy::Reject), "request", None).await;
    let Err(Error::Refused(Refusal::InBatch { index: 2, .. })) = refused else { panic!("{refused:?}") };
    assert_eq!(rig.broker.totals().await.unwrap().counts.of(State::Available), 0);

    let accepted = rig.broker.enqueue_all(twice(Strategy::Ignore), "request", None).await.unwrap();
    let Receipt::Fresh(admissions) = accepted else { panic!("no memo was given") };
    assert_eq!(admissions[2].job.id, admissions[1].job.id);
    assert_eq!(*rig.counted.conflicts.lock().unwrap(), ["reject", "ignore"]);
    assert_eq!(rig.events(), ["job.enqueued", "job.enqueued"]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_was_answered_before_gets_that_answer() {
    let rig = rig();
    let memo = || Memo {
        key: MemoKey("enqueue:1".into()),
        fingerprint: [1; 32],
        render: Arc::new(|_| Remembered { status: 201, body: Arc::from(*b"first") }),
    };
    let first = rig.broker.enqueue(draft(), "request", Some(memo())).await.unwrap();
    assert!(matches!(first, Receipt::Fresh(_)));
    let second = rig.broker.enqueue(draft(), "request", Some(memo())).await.unwrap();
    assert_eq!(second, Receipt::Remembered(Remembered { status: 201, body: Arc::from(*b"first") }));
    assert_eq!(rig.events(), ["job.enqueued"]);
}
