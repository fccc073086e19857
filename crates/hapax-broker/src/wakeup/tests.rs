//! The lists of those who wait, call by call.

use super::*;
use crate::testing::{draft, queue, rig};

fn calls(waiting: &Waiting<'_>) -> usize {
    waiting.wakeups.lists().waiters[&waiting.number].calls.iter().map(|call| call.jobs).sum()
}

fn enlisted<'w>(wakeups: &'w Wakeups, names: &[&str], count: usize) -> Waiting<'w> {
    let queues: Vec<QueueName> = names.iter().map(|name| queue(name)).collect();
    let mut waiting = wakeups.register(&queues, count).unwrap();
    waiting.enlist();
    waiting
}

#[test]
fn as_many_are_called_as_can_take_the_jobs() {
    let wakeups = Wakeups::default();
    let waiters: Vec<_> = [2, 2, 2].map(|count| enlisted(&wakeups, &["a"], count)).into();
    wakeups.call(&queue("a"), 3);
    assert_eq!(waiters.iter().map(calls).collect::<Vec<_>>(), [2, 1, 0]);
}

#[test]
fn who_was_called_is_not_called_again_before_it_looked() {
    let wakeups = Wakeups::default();
    let mut first = enlisted(&wakeups, &["a", "b"], 1);
    let second = enlisted(&wakeups, &["a", "b"], 1);
    wakeups.call(&queue("a"), 1);
    wakeups.call(&queue("b"), 1);
    assert_eq!((calls(&first), calls(&second)), (1, 1));
    first.enlist();
    first.nothing_left();
    wakeups.call(&queue("a"), 1);
    assert_eq!((calls(&first), calls(&second)), (1, 1));
}

#[test]
fn a_call_to_someone_who_leaves_goes_to_the_next() {
    let wakeups = Wakeups::default();
    let leaves = enlisted(&wakeups, &["a"], 5);
    let stays = enlisted(&wakeups, &["a"], 5);
    wakeups.call(&queue("a"), 3);
    drop(leaves);
    assert_eq!(calls(&stays), 3);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_led_to_a_job_of_another_queue_goes_to_the_next() {
    let rig = rig();
    let other = rig.enqueue(draft().on("b")).await;
    let wakeups = Wakeups::default();
    let mut both = enlisted(&wakeups, &["b", "a"], 1);
    let stays = enlisted(&wakeups, &["a"], 1);
    wakeups.call(&queue("a"), 1);
    both.enlist();
    both.took(&[other]);
    drop(both);
    assert_eq!(calls(&stays), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_led_to_its_job_goes_nowhere_else() {
    let rig = rig();
    let job = rig.enqueue(draft().on("a")).await;
    let wakeups = Wakeups::default();
    let mut first = enlisted(&wakeups, &["a"], 1);
    let stays = enlisted(&wakeups, &["a"], 1);
    wakeups.call(&queue("a"), 1);
    first.enlist();
    first.took(&[job]);
    drop(first);
    assert_eq!(calls(&stays), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_comes_after_the_look_goes_to_the_next() {
    let rig = rig();
    let job = rig.enqueue(draft().on("a")).await;
    let wakeups = Wakeups::default();
    let mut first = enlisted(&wakeups, &["a"], 1);
    let stays = enlisted(&wakeups, &["a"], 1);
    wakeups.call(&queue("a"), 1);
    first.took(&[job]);
    drop(first);
    assert_eq!(calls(&stays), 1);
}

#[test]
fn whoever_leaves_leaves_nothing_behind() {
    let wakeups = Wakeups::default();
    drop(enlisted(&wakeups, &["a", "b", "a"], 1));
    let lists = wakeups.lists();
    assert!(lists.waiters.is_empty() && lists.by_queue.is_empty());
}
