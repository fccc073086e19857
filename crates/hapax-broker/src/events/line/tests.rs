//! Reading at one's own pace, and what is dropped meanwhile.

use hapax_core::Timestamp;

use super::super::Aspect;
use super::super::id::Run;
use super::super::place::Place;
use super::*;
use crate::News;
use crate::testing::queue;

fn id(seq: u64) -> EventId {
    EventId::new(Timestamp::from_millis(5000), Run::new([0; 4]), Place::new(seq, Aspect::Fact))
}

fn push(line: &Line, seqs: impl IntoIterator<Item = u64>) {
    for seq in seqs {
        let at = Timestamp::from_millis(5000);
        line.push(Arc::new(JobEvent {
            seq,
            id: id(seq),
            at,
            queue: Some(queue("q")),
            news: News::QueuePaused,
            traced: None,
        }));
    }
}

fn line(readers: impl IntoIterator<Item = u64>) -> (Line, Vec<Bell>) {
    let line = Line::default();
    let bells = readers.into_iter().map(|number| {
        let bell = Bell::default();
        line.join(number, bell.clone());
        bell
    });
    let bells = bells.collect();
    (line, bells)
}

fn dropped_of(seqs: std::ops::RangeInclusive<u64>) -> Lost {
    let (oldest, newest) = (id(*seqs.start()), id(*seqs.end()));
    let count = seqs.end() - seqs.start() + 1;
    Lost::Counted(Dropped { count, oldest: Some(oldest), newest: Some(newest) })
}

async fn is_silent(bell: &Bell) -> bool {
    tokio::time::timeout(std::time::Duration::from_millis(1), bell.rung()).await.is_err()
}

fn read(line: &Line, number: u64, max: usize) -> (Option<Lost>, Vec<u64>) {
    let (lost, events) = line.read(number, max, Company::Few);
    (lost, events.iter().map(|event| event.seq).collect())
}

#[test]
fn each_reads_at_its_own_pace() {
    let (line, _bells) = line([1, 2]);
    push(&line, [10, 11, 12]);
    assert_eq!(read(&line, 1, 2), (None, vec![10, 11]));
    assert_eq!(read(&line, 1, 2), (None, vec![12]));
    line.join(3, Bell::default());
    push(&line, [13]);
    assert_eq!(read(&line, 1, 9), (None, vec![13]));
    assert_eq!(read(&line, 2, 9), (None, vec![10, 11, 12, 13]));
    assert_eq!(read(&line, 3, 9), (None, vec![13]));
    assert_eq!(read(&line, 4, 9), (None, vec![]), "nobody");
}

#[test]
fn who_is_too_slow_is_told_how_much_was_dropped_and_which() {
    let (line, _bells) = line([1, 2]);
    push(&line, 10..15);
    read(&line, 1, 9);
    read(&line, 2, 1);
    line.drop_through(12);
    line.drop_through(13);
    let dropped = Dropped { count: 3, oldest: Some(id(11)), newest: Some(id(13)) };
    assert_eq!(read(&line, 2, 9), (Some(Lost::Counted(dropped)), vec![14]));
    assert_eq!(read(&line, 2, 9), (None, vec![]), "told once");
    push(&line, [20]);
    assert_eq!(read(&line, 1, 9), (None, vec![20]), "who had read them lost nothing");
}

#[test]
fn what_never_came_to_the_line_counts_as_dropped() {
    let (line, _bells) = line([1]);
    push(&line, [10, 11]);
    read(&line, 1, 1);
    line.skip(Some(7));
    push(&line, [30]);
    let dropped = Dropped { count: 8, oldest: Some(id(11)), newest: None };
    assert_eq!(read(&line, 1, 9), (Some(Lost::Counted(dropped)), vec![30]));
}

#[test]
fn what_nobody_counted_is_told_without_a_number_and_once() {
    let (line, _bells) = line([1, 2]);
    push(&line, [10, 11]);
    read(&line, 1, 2);
    line.skip(None);
    line.join(3, Bell::default());
    push(&line, [30, 31]);
    for number in [1, 2] {
        assert!(!line.is_read(number));
        assert_eq!(read(&line, number, 1), (Some(Lost::Uncounted), vec![30]), "read or not before");
        assert_eq!(read(&line, number, 9), (None, vec![31]));
        assert!(line.is_read(number));
    }
    assert_eq!(read(&line, 3, 9), (None, vec![30, 31]), "who came later missed nothing");
}

#[test]
fn in_a_crowd_who_lags_far_behind_goes_on_with_the_newest() {
    let (line, _bells) = line([1, 2, 3]);
    let newest = CROWD_LAG_MAX as u64 + 1;
    push(&line, 1..newest);
    let (lost, events) = line.read(1, 9, Company::Crowd);
    assert_eq!((lost, events[0].seq), (None, 1), "it does not lag that far");
    push(&line, [newest]);
    let (lost, events) = line.read(2, 9, Company::Crowd);
    let gone = newest - CROWD_KEPT as u64;
    assert_eq!((lost, events[0].seq), (Some(dropped_of(1..=gone)), gone + 1));
    assert_eq!(read(&line, 2, 99), (None, (gone + 10..=newest).collect()));
    assert_eq!(read(&line, 3, 1), (None, vec![1]), "among few it reads everything");
    line.drop_through(5);
    let (lost, events) = line.read(3, 99, Company::Crowd);
    assert_eq!((lost, events[0].seq), (Some(dropped_of(2..=5)), 6), "what is left is not that much");
    push(&line, newest + 1..newest + 1000);
    line.drop_through(20);
    let (lost, events) = line.read(1, 99, Company::Crowd);
    let gone = newest + 999 - CROWD_KEPT as u64;
    assert_eq!((lost, events[0].seq), (Some(dropped_of(10..=gone)), gone + 1), "dropped before, and now");
}

#[tokio::test]
async fn readers_are_called_some_at_a_time() {
    let (line, bells) = line(0..5);
    line.leave(1);
    assert_eq!(line.call(0, 3), Some(4));
    for index in [0, 2, 3] {
        bells[index].rung().await;
    }
    assert_eq!(line.call(4, 3), None);
    bells[4].rung().await;
    assert!(is_silent(&bells[1]).await, "who left is not called");
}

#[tokio::test]
async fn who_has_not_read_everything_yet_is_not_called_again() {
    let (line, bells) = line([1, 2]);
    push(&line, [10, 11]);
    line.call(0, 9);
    bells[0].rung().await;
    bells[1].rung().await;
    assert_eq!(read(&line, 1, 1), (None, vec![10]), "it reads on without being called");
    assert_eq!(read(&line, 2, 9), (None, vec![10, 11]), "it rests");
    push(&line, [12]);
    line.call(0, 9);
    bells[1].rung().await;
    assert!(is_silent(&bells[0]).await);
    assert_eq!(read(&line, 1, 9), (None, vec![11, 12]));
    push(&line, [13]);
    line.call(0, 9);
    bells[0].rung().await;
    assert!(is_silent(&bells[1]).await, "it has not come since it was called");
}

#[tokio::test]
async fn who_rests_is_called_for_what_was_skipped() {
    for missed in [Some(3), None] {
        let (line, bells) = line([1]);
        assert_eq!(read(&line, 1, 9), (None, vec![]));
        assert!(line.skip(missed));
        line.call(0, 9);
        bells[0].rung().await;
    }
}

#[test]
fn a_line_says_once_that_its_readers_are_to_be_called() {
    let (line, _bells) = line([1]);
    let event = |seq| {
        let at = Timestamp::from_millis(5000);
        Arc::new(JobEvent {
            seq,
            id: id(seq),
            at,
            queue: Some(queue("q")),
            news: News::QueuePaused,
            traced: None,
        })
    };
    assert_eq!([line.push(event(1)), line.push(event(2)), line.skip(Some(1))], [true, false, false]);
    line.call(0, 9);
    assert_eq!([line.push(event(3)), line.push(event(4))], [true, false]);
}
