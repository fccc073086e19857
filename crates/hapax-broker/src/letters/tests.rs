//! Dead letters that fit, and what they are together.

use std::time::Duration;

use hapax_core::{Claimant, Directive, Handback, KindPattern, WorkerError};

use super::*;
use crate::Draft;
use crate::testing::{Rig, draft, error, queue, rig};

async fn bury(rig: &Rig, name: &str, kind: &str) -> JobId {
    bury_one(rig, draft().on(name), kind).await
}

async fn bury_one(rig: &Rig, draft: Draft, kind: &str) -> JobId {
    let job = rig.enqueue(draft).await;
    rig.take(job.spec.queue.as_str()).await.unwrap();
    let error = WorkerError { kind: kind.into(), ..error(Directive::DeadLetter) };
    rig.broker.fail(job.id, Claimant::UNNAMED, error, Handback::Failed).await.unwrap();
    tokio::time::advance(Duration::from_secs(1)).await;
    job.id
}

fn of_error(kind: &str) -> JobFilter {
    JobFilter { error_type: Some(kind.into()), ..JobFilter::default() }
}

#[tokio::test(start_paused = true)]
async fn letters_that_fit_are_found_newest_first() {
    let rig = rig();
    let a = bury(&rig, "a", "Timeout").await;
    let b = bury(&rig, "b", "Refused").await;
    let c = bury(&rig, "a", "Timeout").await;
    let ids = |letters: &Letters| letters.jobs.iter().map(|job| job.id).collect::<Vec<_>>();
    let all = rig.broker.letters(&JobFilter::default(), None, 0, 9).await.unwrap();
    assert_eq!((ids(&all), all.next, all.total), (vec![c, b, a], None, 3));
    let first = rig.broker.letters(&of_error("Timeout"), None, 0, 1).await.unwrap();
    assert_eq!(ids(&first), [c]);
    let rest = rig.broker.letters(&of_error("Timeout"), first.next, 0, 1).await.unwrap();
    assert_eq!((ids(&rest), rest.next), (vec![a], None));
    let other = JobFilter { kind: KindPattern::parse("other.*").ok(), ..JobFilter::default() };
    assert_eq!(ids(&rig.broker.letters(&other, None, 0, 9).await.unwrap()), []);
    let on_b = JobFilter { queue: Some(queue("b")), ..JobFilter::default() };
    assert_eq!(rig.broker.letters(&on_b, None, 0, 9).await.unwrap().total, 1);
}

#[tokio::test(start_paused = true)]
async fn of_large_letters_only_some_are_kept() {
    let rig = rig();
    let args = format!("[\"{}\"]", "x".repeat(LETTERS_KEPT_BYTES / 2));
    let mut ids = Vec::new();
    for _ in 0..4 {
        let mut large = draft();
        large.spec.args = hapax_core::Json::from_trusted(&args);
        ids.insert(0, bury_one(&rig, large.on("a"), "Timeout").await);
    }
    let found = |letters: &Letters| letters.jobs.iter().map(|job| job.id).collect::<Vec<_>>();
    let first = rig.broker.letters(&JobFilter::default(), None, 1, 9).await.unwrap();
    assert_eq!(found(&first), ids[1..3], "what is left out takes no room");
    let rest = rig.broker.letters(&JobFilter::default(), first.next, 0, 9).await.unwrap();
    assert_eq!((found(&rest), rest.next), (ids[3..].to_vec(), None));
}

#[tokio::test(start_paused = true)]
async fn letters_are_selected_in_the_order_in_which_they_died() {
    let rig = rig();
    let a = bury(&rig, "a", "Timeout").await;
    bury(&rig, "a", "Refused").await;
    let c = bury(&rig, "a", "Timeout").await;
    let selection = rig.broker.select_letters(&of_error("Timeout"), None).await.unwrap();
    assert_eq!(selection, Selection { ids: vec![a, c], next: None });
}

#[tokio::test(start_paused = true)]
async fn letters_are_counted_by_queue_and_by_error() {
    let rig = rig();
    assert_eq!(rig.broker.letter_stats().await.unwrap(), LetterStats::default());
    let start = rig.broker.now();
    bury(&rig, "a", "Timeout").await;
    bury(&rig, "b", "Refused").await;
    bury(&rig, "a", "Refused").await;
    let stats = rig.broker.letter_stats().await.unwrap();
    assert_eq!((stats.total, stats.looked_at), (3, 3));
    assert_eq!(stats.by_queue, BTreeMap::from([(queue("a"), 2), (queue("b"), 1)]));
    let errors = [(Some("Timeout".into()), 1), (Some("Refused".into()), 2)];
    assert_eq!(stats.by_error_type, BTreeMap::from(errors));
    assert_eq!((stats.oldest_at, stats.newest_at), (Some(start), Some(start + Duration::from_secs(2))));
}

#[tokio::test(start_paused = true)]
async fn only_so_many_types_of_errors_are_told_apart() {
    let rig = rig();
    for number in 0..ERROR_TYPES_MAX + 5 {
        bury(&rig, "a", &format!("Error{number}")).await;
    }
    let stats = rig.broker.letter_stats().await.unwrap();
    assert_eq!(stats.by_error_type.len(), ERROR_TYPES_MAX + 1);
    assert_eq!(stats.by_error_type[&None], 5);
    assert_eq!(stats.looked_at, 105);
}
