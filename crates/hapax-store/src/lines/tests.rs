//! Lines, and lines within them.

use hapax_core::QueueName;
use hapax_core::limit::LimitKey;

use super::{Lines, Place, Stand};

/// Hundreds are priorities.
impl Place for u32 {
    fn turn(self) -> u64 {
        u64::from(self % 100)
    }

    fn at(self, turn: u64) -> u32 {
        self / 100 * 100 + u32::try_from(turn).unwrap_or(100).min(100)
    }
}

fn mail() -> QueueName {
    QueueName::parse("mail").unwrap()
}

fn key(name: &str) -> LimitKey {
    LimitKey::parse(name).unwrap()
}

/// Puts jobs in line: their places, and the limits that they share.
fn lines(jobs: &[(u32, Option<&str>)]) -> Lines<u32> {
    let mut lines = Lines::default();
    for (place, name) in jobs {
        let (queue, key) = (mail(), name.map(key));
        let stand = Stand { queue: &queue, key: key.as_ref(), place: Some(*place), is_active: false };
        lines.replace(None, Some(stand));
    }
    lines
}

fn start(lines: &mut Lines<u32>, place: u32, name: Option<&str>) {
    let (queue, key) = (mail(), name.map(key));
    let waits = Stand { queue: &queue, key: key.as_ref(), place: Some(place), is_active: false };
    lines.replace(Some(waits), Some(Stand { place: None, is_active: true, ..waits }));
}

fn end(lines: &mut Lines<u32>, name: Option<&str>) {
    let (queue, key) = (mail(), name.map(key));
    let runs = Stand { queue: &queue, key: key.as_ref(), place: None, is_active: true };
    lines.replace(Some(runs), Some(Stand { is_active: false, ..runs }));
}

fn next(lines: &Lines<u32>) -> Option<u32> {
    lines.first(&mail())
}

#[test]
fn the_first_place_goes_first_whatever_limit_it_shares() {
    let mut lines = lines(&[(3, None), (2, Some("a")), (1, Some("b")), (4, Some("a"))]);
    let mut order = Vec::new();
    assert_eq!(lines.first_few(&mail(), 9), [1, 2, 3], "one of each limit");
    while let Some(place) = next(&lines) {
        order.push(place);
        start(&mut lines, place, [None, Some("b"), Some("a"), None, Some("a")][place as usize]);
    }
    assert_eq!(order, [1, 2, 3, 4]);
    assert_eq!((lines.active(&key("a")), lines.active(&key("b"))), (2, 1));
}

#[test]
fn a_line_that_is_set_aside_comes_back_when_there_may_be_room() {
    let mut lines = lines(&[(1, Some("a")), (2, Some("a")), (3, Some("a")), (9, None)]);
    start(&mut lines, 1, Some("a"));
    lines.set_aside(&mail(), &key("a"));
    assert_eq!(next(&lines), Some(9), "others go on");
    lines.take_calls();
    end(&mut lines, Some("a"));
    assert_eq!(next(&lines), Some(2));
    assert_eq!(lines.take_calls().get(&mail()), Some(&1), "and somebody is called");
    assert_eq!(lines.active(&key("a")), 0);
}

#[test]
fn whoever_comes_to_the_front_of_a_line_is_looked_at() {
    let mut lines = lines(&[(5, Some("a"))]);
    lines.set_aside(&mail(), &key("a"));
    let (queue, name) = (mail(), key("a"));
    let newcomer = Stand { queue: &queue, key: Some(&name), place: Some(4), is_active: false };
    lines.replace(None, Some(newcomer));
    assert_eq!(next(&lines), Some(4), "its own limits may leave room");
    lines.set_aside(&mail(), &key("a"));
    lines.replace(Some(newcomer), None);
    assert_eq!(next(&lines), Some(5));
    let behind = Stand { place: Some(6), ..newcomer };
    lines.set_aside(&mail(), &key("a"));
    lines.replace(None, Some(behind));
    assert_eq!(next(&lines), None, "whoever comes behind them is not");
}

#[test]
fn the_end_of_the_line_is_seen_whether_there_is_room_or_not() {
    let mut lines = lines(&[(1, None), (7, Some("a")), (5, Some("a"))]);
    lines.set_aside(&mail(), &key("a"));
    assert_eq!(
        (lines.last(&mail()), lines.first_from(&mail(), 2), lines.len(&mail())),
        (Some(7), Some(5), 3)
    );
}

#[test]
fn nothing_is_left_of_those_who_have_gone() {
    let mut lines = lines(&[(1, Some("a"))]);
    start(&mut lines, 1, Some("a"));
    end(&mut lines, Some("a"));
    assert!(lines.queues.is_empty() && lines.gates.is_empty());
    assert!(lines == Lines::default());
}

#[test]
fn an_end_in_a_queue_that_is_limited_calls_somebody() {
    let mut lines = lines(&[(1, None)]);
    lines.set_limited(mail(), true);
    start(&mut lines, 1, None);
    assert!(lines.take_calls().is_empty());
    end(&mut lines, None);
    assert_eq!(lines.take_calls().get(&mail()), Some(&1));
}

#[test]
fn the_first_of_a_limit_is_the_one_of_its_highest_priority() {
    let mut lines =
        lines(&[(101, Some("a")), (2, Some("a")), (3, Some("a")), (102, Some("b")), (103, Some("a"))]);
    assert_eq!(lines.first_few(&mail(), 9), [2, 102], "one of each limit");
    lines.set_aside(&mail(), &key("a"));
    assert_eq!(lines.first_few(&mail(), 9), [102]);
    start(&mut lines, 2, Some("a"));
    assert_eq!(lines.first_few(&mail(), 9), [3, 102], "another is the first");
    start(&mut lines, 3, Some("a"));
    assert_eq!(lines.first_few(&mail(), 9), [101, 102]);
}

#[test]
fn whoever_shares_fairly_joins_the_front_of_its_priority() {
    let fair = |lines: &Lines<u32>, name: &str, place: u32| lines.fair_turn(&mail(), &key(name), place);
    let mut lines = lines(&[(2, Some("a")), (102, Some("a")), (104, Some("a")), (106, None)]);
    assert_eq!((fair(&lines, "b", 108), fair(&lines, "a", 108), fair(&lines, "b", 208)), (3, 7, 8));
    lines.set_aside(&mail(), &key("a"));
    assert_eq!(fair(&lines, "b", 108), 7, "there is no room for those before it");
    assert_eq!(fair(&lines, "a", 108), 7, "of its key it is the last");
    assert_eq!(fair(&lines, "b", 104), 4, "of those before it there is no front");
}

#[test]
fn one_that_runs_on_elsewhere_makes_room_where_it_was() {
    let mut lines = lines(&[(1, Some("a")), (2, Some("a"))]);
    start(&mut lines, 1, Some("a"));
    lines.set_aside(&mail(), &key("a"));
    let (mail, other, a, b) = (mail(), QueueName::parse("other").unwrap(), key("a"), key("b"));
    let runs = Stand { queue: &mail, key: Some(&a), place: None, is_active: true };
    lines.replace(Some(runs), Some(runs));
    assert_eq!(next(&lines), None, "whoever stays where it is makes none");
    lines.replace(Some(runs), Some(Stand { queue: &other, key: Some(&b), ..runs }));
    assert_eq!(next(&lines), Some(2));
    assert_eq!((lines.active(&a), lines.active(&b)), (0, 1));
}

#[test]
fn whoever_looks_past_the_first_sees_all_for_whom_there_may_be_room() {
    let mut lines = lines(&[
        (101, Some("a")),
        (2, Some("a")),
        (3, Some("a")),
        (4, None),
        (102, Some("b")),
        (103, Some("a")),
        (104, None),
        (5, Some("c")),
    ]);
    lines.set_aside(&mail(), &key("c"));
    assert_eq!(lines.first_of_all(&mail(), 9), [2, 3, 4, 101, 102, 103, 104]);
    assert_eq!(lines.first_of_all(&mail(), 5), [2, 3, 4, 101, 102]);
    assert!(lines.first_of_all(&mail(), 0).is_empty());
}

#[test]
fn whoever_is_turned_away_behind_the_first_is_called_and_closes_nothing() {
    let mut lines = lines(&[(1, Some("a")), (2, Some("a")), (3, Some("a"))]);
    start(&mut lines, 1, Some("a"));
    lines.turn_away(&mail(), &key("a"), 3);
    assert_eq!(next(&lines), Some(2));
    lines.take_calls();
    end(&mut lines, Some("a"));
    assert_eq!(lines.take_calls().get(&mail()), Some(&1));
    lines.turn_away(&mail(), &key("a"), 2);
    assert_eq!(next(&lines), None, "the first closes it");
    lines.turn_away(&mail(), &key("a"), 3);
    for place in [2, 3] {
        start(&mut lines, place, Some("a"));
        end(&mut lines, Some("a"));
    }
    assert!(lines.queues.is_empty() && lines.gates.is_empty());
}
