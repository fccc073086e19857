//! Deleting queues.

use std::time::Duration;

use hapax_core::{Claimant, OrderingKey, State};

use super::*;
use crate::testing::{Rig, draft, pass, queue, rig, settle};

async fn fill(rig: &Rig, name: &str, jobs: usize) -> Vec<JobId> {
    let mut ids = Vec::new();
    for _ in 0..jobs {
        ids.push(rig.enqueue(draft().on(name)).await.id);
    }
    ids
}

async fn delete(rig: &Rig, name: &str, deletion: Deletion) -> Result<Deleting, Error> {
    rig.broker.delete_queue(&queue(name), Some(deletion)).await
}

fn to(name: &str) -> Deletion {
    Deletion::MoveTo(queue(name))
}

#[tokio::test(start_paused = true)]
async fn a_queue_goes_with_its_settings_its_limit_and_its_pause_and_is_made_anew() {
    let rig = rig();
    let mail = queue("mail");
    rig.broker.pause(mail.clone()).await.unwrap();
    rig.broker.set_queue("mail", |before| QueueSettings { max_depth: Some(1), ..before }).await.unwrap();
    rig.broker.limit_queue_concurrency(&mail, Some(2)).await.unwrap();
    rig.broker.delete_queue(&mail, None).await.unwrap();
    assert_eq!(rig.broker.queue(mail.clone()).await.unwrap(), None);
    assert_eq!(rig.broker.queue_settings("mail").await.unwrap(), None);
    assert_eq!(rig.broker.queue_limit(&mail).await.unwrap(), None);
    assert_eq!(rig.events().last(), Some(&"queue.deleted"));
    fill(&rig, "mail", 2).await;
    assert!(rig.take("mail").await.is_some(), "it is not paused");
    let gone = rig.broker.delete_queue(&queue("never"), None).await.unwrap_err();
    assert!(matches!(gone, Error::Refused(Refusal::NoEntry { .. })), "{gone:?}");
}

#[tokio::test(start_paused = true)]
async fn a_queue_with_living_jobs_is_not_removed_without_a_word_about_them() {
    let rig = rig();
    fill(&rig, "mail", 2).await;
    rig.take("mail").await.unwrap();
    let refused = rig.broker.delete_queue(&queue("mail"), None).await.unwrap_err();
    let in_use = Refusal::QueueInUse { queue: queue("mail"), jobs: 2 };
    assert!(matches!(refused, Error::Refused(refusal) if refusal == in_use));
}

#[tokio::test(start_paused = true)]
async fn jobs_that_wait_are_discarded_and_one_that_runs_ends_where_it_is() {
    let rig = rig();
    let ids = fill(&rig, "mail", 3).await;
    rig.enqueue(draft().on("mail").scheduled(9_000)).await;
    rig.take("mail").await.unwrap();
    let deleting = delete(&rig, "mail", Deletion::Discard).await.unwrap();
    assert_eq!(deleting, Deleting { jobs: 3, is_done: false });
    assert_eq!(rig.job(ids[2]).await.state(), State::Discarded);
    let barred = rig.broker.enqueue(draft().on("mail"), "request", None).await.unwrap_err();
    assert!(matches!(barred, Error::Refused(Refusal::QueueDraining(_))), "{barred:?}");
    assert!(!rig.broker.go_on_deleting().await);
    rig.broker.set_queue("mail", |_| QueueSettings::default()).await.unwrap();
    assert!(rig.broker.settings_of(&queue("mail")).is_draining(), "settings do not end it");
    rig.broker.acknowledge(ids[0], Claimant::UNNAMED, None).await.unwrap();
    rig.broker.go_on_deleting().await;
    assert_eq!(rig.broker.queue_settings("mail").await.unwrap(), None);
    let left = rig.broker.queue(queue("mail")).await.unwrap().unwrap();
    assert_eq!((left.counts.of(State::Completed), left.counts.of(State::Discarded)), (1, 3));
    fill(&rig, "mail", 1).await;
}

#[tokio::test(start_paused = true)]
async fn more_jobs_than_one_turn_treats_are_moved_by_the_chores_in_their_order() {
    let rig = rig();
    let many = ROUND * ROUNDS_MAX + 5;
    let ids = fill(&rig, "old", many).await;
    let last = rig.enqueue(draft().on("new")).await.id;
    let deleting = delete(&rig, "old", to("new")).await.unwrap();
    assert_eq!(deleting, Deleting { jobs: many as u64, is_done: false });
    // As after a restart: what is known is what the store says.
    rig.broker.shared.deletions.forget(&queue("old"));
    let chores = rig.chores();
    settle().await;
    assert_eq!(rig.broker.queue(queue("old")).await.unwrap(), None);
    chores.abort();
    for id in ids.into_iter().chain([last]) {
        let job = rig.take("new").await.unwrap();
        assert_eq!(job.id, id, "in the order in which they came");
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_line_whose_ids_are_in_disorder_moves_in_one_pass() {
    let rig = rig();
    let key = OrderingKey::parse("k").unwrap();
    let mut ids = Vec::new();
    for number in 0..ROUND * 2 {
        // Ids that say nothing about the order: each further from the one before than a page is long.
        let mut draft = draft().on("old");
        let random = u8::try_from((number * 67) % 200).unwrap();
        draft.id = Some(JobId::new(rig.broker.now(), [random; 10]));
        draft.spec.ordering_key = Some(key.clone());
        ids.push(rig.enqueue(draft).await.id);
    }
    delete(&rig, "old", to("new")).await.unwrap();
    let pages = ids.len().div_ceil(ROUND);
    assert!(pages < ROUNDS_MAX && rig.broker.queue(queue("old")).await.unwrap().is_none(), "one pass");
    for id in ids {
        let job = rig.take("new").await.unwrap();
        assert_eq!(job.id, id, "in the order of the line");
        rig.broker.acknowledge(id, Claimant::UNNAMED, None).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_queue_in_which_nothing_can_be_done_is_left_alone_until_something_changes() {
    let rig = rig();
    let draft = || {
        let mut draft = draft().on("old");
        draft.spec.ordering_key = Some(OrderingKey::parse("k").unwrap());
        draft
    };
    let (first, second) = (rig.enqueue(draft()).await.id, rig.enqueue(draft()).await.id);
    rig.take("old").await.unwrap();
    delete(&rig, "old", to("new")).await.unwrap();
    let name = queue("old");
    let rests = async || {
        let counts = rig.broker.queue(queue("old")).await.unwrap().map(|facts| facts.counts);
        rig.broker.shared.deletions.rests(&queue("old"), counts.as_ref(), rig.broker.now())
    };
    assert!(!rig.broker.go_on_deleting().await && rests().await);
    rig.broker.acknowledge(first, Claimant::UNNAMED, None).await.unwrap();
    assert!(!rests().await, "one has ended");
    rig.broker.go_on_deleting().await;
    assert_eq!(rig.job(second).await.spec.queue, queue("new"));
    assert_eq!(rig.broker.queue_settings(name.as_str()).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_is_noted_goes_on_though_its_client_hangs_up() {
    let rig = rig();
    let _chores = rig.chores();
    fill(&rig, "old", 3).await;
    rig.store.hold();
    let broker = rig.broker.clone();
    let asking =
        tokio::spawn(async move { broker.delete_queue(&queue("old"), Some(Deletion::Discard)).await });
    settle().await;
    asking.abort();
    rig.store.release();
    pass(Duration::from_secs(2)).await;
    assert_eq!(rig.broker.queue_settings("old").await.unwrap(), None, "the note goes when it is done");
    assert_eq!(rig.broker.queue(queue("old")).await.unwrap().map(|facts| facts.counts.living()), Some(0));
}

#[tokio::test(start_paused = true)]
async fn jobs_do_not_move_where_no_jobs_are_taken() {
    let rig = rig();
    fill(&rig, "a", 2).await;
    fill(&rig, "b", 1).await;
    rig.broker.set_queue("b", |before| QueueSettings { max_depth: Some(2), ..before }).await.unwrap();
    let full = delete(&rig, "a", to("b")).await.unwrap_err();
    let expected = Refusal::QueueFull { queue: queue("b"), depth: 1, max: 2 };
    assert!(matches!(full, Error::Refused(refusal) if refusal == expected));
    let draining = |before| QueueSettings { max_depth: None, draining: Some(true), ..before };
    rig.broker.set_queue("b", draining).await.unwrap();
    let refused = delete(&rig, "a", to("b")).await.unwrap_err();
    assert!(matches!(refused, Error::Refused(Refusal::QueueDraining(name)) if name == queue("b")));
    assert_eq!(rig.broker.queue_settings("a").await.unwrap(), None, "nothing was written down");
    rig.broker.set_queue("b", |_| QueueSettings::default()).await.unwrap();
    rig.take("a").await.unwrap();
    delete(&rig, "a", to("b")).await.unwrap();
    let circle = delete(&rig, "b", to("a")).await.unwrap_err();
    assert!(matches!(circle, Error::Refused(Refusal::QueueDraining(name)) if name == queue("a")));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_can_be_told_to_do_otherwise() {
    let rig = rig();
    let ids = fill(&rig, "old", 2).await;
    rig.take("old").await.unwrap();
    delete(&rig, "old", to("new")).await.unwrap();
    assert_eq!(rig.job(ids[1]).await.spec.queue, queue("new"));
    delete(&rig, "old", Deletion::Discard).await.unwrap();
    let noted = rig.broker.queue_settings("old").await.unwrap().unwrap();
    assert_eq!(noted.deletion, Some(Deletion::Discard));
}

#[tokio::test(start_paused = true)]
async fn what_a_server_has_not_heard_yet_harms_no_queue_that_was_made_anew() {
    let rig = rig();
    let id = fill(&rig, "mail", 1).await[0];
    let mail = queue("mail");
    assert_eq!(rig.broker.take_turn(&mail, &Deletion::Discard).await.unwrap(), Turn::Wait);
    assert_eq!(rig.job(id).await.state(), State::Available);
    rig.broker.pause(queue("empty")).await.unwrap();
    assert_eq!(rig.broker.take_turn(&queue("empty"), &Deletion::Discard).await.unwrap(), Turn::Wait);
    assert!(rig.broker.queue(queue("empty")).await.unwrap().unwrap().paused);
}
