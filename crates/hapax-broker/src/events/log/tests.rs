//! Pages, filters, cursors, gaps and turns.

use std::pin::pin;
use std::sync::atomic::Ordering::Relaxed;

use hapax_core::{JobId, JobType, Priority, State, Timestamp};
use tokio::time::Instant;

use super::*;
use crate::events::{Aspect, EVENTS_KEPT, JobFact, News, Step};
use crate::testing::{Counted, queue};
use crate::{EventFilter, EventKind, NoObserver};

fn log() -> Arc<EventLog> {
    Arc::new(EventLog::new([1, 2, 3, 4], Arc::new(NoObserver)))
}

fn event(job_type: &str, name: &str) -> Unnumbered {
    let at = Timestamp::from_millis(5000);
    let fact = JobFact::Enqueued { priority: Priority::default(), scheduled_at: None, key: None };
    let (id, job_type) = (JobId::new(at, [0; 10]), JobType::parse(job_type).unwrap());
    let step = Some(Step { from: None, to: State::Available });
    let news = News::Job { id, job_type, state: State::Available, step, fact };
    Unnumbered { at, queue: Some(queue(name)), news, traced: None }
}

fn paused(name: &str) -> Unnumbered {
    Unnumbered {
        at: Timestamp::from_millis(5000),
        queue: Some(queue(name)),
        news: News::QueuePaused,
        traced: None,
    }
}

fn write(log: &Arc<EventLog>, events: Vec<Unnumbered>) {
    log.in_turn(|| ()).0.publish(events);
}

fn query() -> EventQuery {
    EventQuery { limit: 10, ..EventQuery::default() }
}

fn after(cursor: &str) -> EventQuery {
    EventQuery { after: Some(cursor.into()), ..query() }
}

fn in_queue(name: &str) -> EventFilter {
    EventFilter { queues: vec![name.into()], ..EventFilter::default() }
}

fn numbers(page: &EventPage) -> Vec<u64> {
    page.events.iter().map(|notice| notice.event.seq).collect()
}

#[test]
fn pages_follow_one_another_without_holes_or_repeats() {
    let log = log();
    write(&log, (0..7).map(|_| event("a.b", "q")).collect());
    let mut seen = Vec::new();
    let mut page = log.page(&EventQuery { limit: 3, ..query() });
    while page.has_more {
        seen.extend(numbers(&page));
        page = log.page(&EventQuery { limit: 3, ..after(&page.cursor) });
    }
    seen.extend(numbers(&page));
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
    write(&log, vec![event("a.b", "q")]);
    assert_eq!(numbers(&log.page(&after(&page.cursor))), [8]);
}

#[test]
fn pages_that_are_counted_begin_with_the_newest_event() {
    let log = log();
    write(&log, (0..5).map(|number| event("a.b", if number == 3 { "r" } else { "q" })).collect());
    let newest = |filter: EventFilter, since: Option<i64>, skipped| {
        let since = since.map(Timestamp::from_millis);
        let page = log.newest(&EventQuery { filter, since, limit: 2, ..query() }, skipped);
        (page.events.iter().map(|notice| notice.event.seq).collect::<Vec<_>>(), page.total)
    };
    let all = EventFilter::default;
    assert_eq!(newest(all(), None, 0), (vec![5, 4], 5));
    assert_eq!(newest(all(), None, 4), (vec![1], 5));
    assert_eq!(newest(all(), None, 6), (vec![], 5));
    assert_eq!(newest(in_queue("q"), None, 1), (vec![3, 2], 4));
    assert_eq!(newest(all(), Some(5000), 0).1, 5);
    assert_eq!(newest(all(), Some(5001), 0), (vec![], 0));
    let steps = EventFilter { types: vec!["job.*".into(), "job.state_changed".into()], ..all() };
    assert_eq!(newest(steps, None, 0), (vec![5, 5], 10), "of one event first what is told last");
    let cursor = log.newest(&query(), 0).cursor;
    write(&log, vec![event("a.b", "q")]);
    assert_eq!(numbers(&log.page(&after(&cursor))), [6]);
}

#[test]
fn a_look_from_the_newest_event_reaches_the_oldest_that_is_kept() {
    let log = log();
    write(&log, (0..=EVENTS_KEPT).map(|_| event("a.b", "q")).collect());
    let page = log.newest(&EventQuery { limit: 1, ..query() }, EVENTS_KEPT - 1);
    assert_eq!((page.events[0].event.seq, page.total), (2, EVENTS_KEPT));
}

#[test]
fn the_id_of_an_event_is_a_cursor() {
    let log = log();
    write(&log, (0..3).map(|_| event("a.b", "q")).collect());
    let second = log.page(&query()).events[1].id().to_string();
    let page = log.page(&after(&second));
    assert_eq!((numbers(&page), page.gap), (vec![3], false));
}

#[test]
fn filters_are_joined_by_and() {
    let log = log();
    write(&log, vec![event("a.b", "q"), event("a.b", "r"), event("a.c", "q"), paused("q")]);
    let check = |types: &[&str], queues: &[&str], job_types: &[&str], expected: &[u64]| {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        let filter = EventFilter { types: owned(types), queues: owned(queues), job_types: owned(job_types) };
        let query = EventQuery { filter, ..query() };
        assert_eq!(numbers(&log.page(&query)), expected, "{query:?}");
    };
    check(&[], &[], &[], &[1, 2, 3, 4]);
    check(&["job.enqueued"], &[], &[], &[1, 2, 3]);
    check(&["job.*"], &["q"], &[], &[1, 3]);
    check(&["*"], &["q", "r"], &["a.b"], &[1, 2]);
    check(&["queue.paused", "job.started"], &[], &[], &[4]);
    check(&["job"], &[], &[], &[]);
    check(&[], &[], &["a"], &[]);
}

#[test]
fn steps_are_given_to_those_who_ask_for_them_by_name() {
    let log = log();
    write(&log, vec![event("a.b", "q"), paused("q"), event("a.b", "q")]);
    let page = |types: &[&str], limit, after: Option<&str>| {
        let filter =
            EventFilter { types: types.iter().map(ToString::to_string).collect(), ..EventFilter::default() };
        log.page(&EventQuery { after: after.map(str::to_owned), filter, limit, ..query() })
    };
    let told = |page: &EventPage| {
        page.events.iter().map(|notice| (notice.event.seq, notice.aspect)).collect::<Vec<_>>()
    };
    let (step, fact) = (Aspect::Step, Aspect::Fact);
    assert_eq!(told(&page(&["job.*"], 10, None)), [(1, fact), (3, fact)]);
    assert_eq!(told(&page(&["job.state_changed"], 10, None)), [(1, step), (3, step)]);
    let first = page(&["*", "job.state_changed"], 1, None);
    assert_eq!((told(&first), first.has_more), (vec![(1, step)], true));
    // The cursor stands between the two things that are told of one event.
    let rest = page(&["*", "job.state_changed"], 10, Some(&first.cursor));
    assert_eq!((told(&rest), rest.gap), (vec![(1, fact), (2, fact), (3, step), (3, fact)], false));
    let by_name = page(&["*", "job.state_changed"], 10, Some(&rest.events[2].id().to_string()));
    assert_eq!(told(&by_name), [(3, fact)]);
}

#[test]
fn a_page_without_matches_still_moves_the_cursor() {
    let log = log();
    write(&log, (0..3000).map(|_| event("a.b", "q")).collect());
    let none = log.page(&EventQuery { filter: in_queue("r"), ..query() });
    assert_eq!((none.events.len(), none.has_more), (0, false));
    write(&log, vec![event("a.b", "r")]);
    assert_eq!(numbers(&log.page(&after(&none.cursor))), [3001]);
}

#[test]
fn whoever_starts_with_an_empty_log_misses_nothing() {
    let log = log();
    let empty = log.page(&query());
    assert_eq!((empty.events.len(), empty.gap), (0, false));
    write(&log, vec![event("a.b", "q")]);
    let page = log.page(&after(&empty.cursor));
    assert_eq!((numbers(&page), page.gap), (vec![1], false));
}

#[test]
fn a_cursor_of_another_run_is_a_gap() {
    let other = Arc::new(EventLog::new([9; 4], Arc::new(NoObserver)));
    let log = log();
    write(&other, vec![event("a.b", "q")]);
    write(&log, vec![event("a.b", "q"), event("a.b", "q")]);
    for cursor in [&*other.page(&query()).cursor, "evt_nonsense", "42", ""] {
        let page = log.page(&after(cursor));
        assert_eq!((numbers(&page), page.gap), (vec![1, 2], true), "{cursor}");
    }
}

#[test]
fn a_cursor_that_fell_out_of_the_log_is_a_gap() {
    let log = log();
    write(&log, vec![event("a.b", "q"), event("a.b", "q")]);
    let ids: Vec<String> = log.page(&query()).events.iter().map(|notice| notice.id().to_string()).collect();
    write(&log, (0..EVENTS_KEPT - 1).map(|_| event("a.b", "q")).collect());
    let just_kept = log.page(&after(&ids[0]));
    assert_eq!((just_kept.events[0].event.seq, just_kept.gap), (2, false));
    write(&log, vec![event("a.b", "q")]);
    let lost = log.page(&after(&ids[0]));
    assert_eq!((lost.events[0].event.seq, lost.gap), (3, true));
}

#[test]
fn a_cleared_log_goes_on_with_new_numbers() {
    let log = log();
    write(&log, (0..3).map(|_| event("a.b", "q")).collect());
    let page = log.page(&query());
    log.clear();
    assert_eq!(log.page(&query()).events, []);
    write(&log, vec![paused("q")]);
    let next = log.page(&after(&page.cursor));
    assert_eq!((numbers(&next), next.gap), (vec![4], false));
    assert_eq!(next.events[0].kind(), EventKind::QueuePaused);
    assert!(log.page(&after(&page.events[0].id().to_string())).gap);
}

#[test]
fn events_wait_for_their_turn() {
    let log = log();
    let [first, second, third] = [(); 3].map(|()| log.in_turn(|| ()).0);
    third.publish(vec![event("a.c", "q")]);
    assert_eq!(log.page(&query()).events, []);
    first.publish(vec![event("a.a", "q")]);
    assert_eq!(numbers(&log.page(&query())), [1]);
    drop(second);
    let types: Vec<String> =
        log.page(&query()).events.iter().map(|notice| notice.event.job_type().unwrap().to_string()).collect();
    assert_eq!(types, ["a.a", "a.c"]);
}

#[test]
fn events_are_counted_before_their_turn() {
    let counted = Arc::new(Counted::default());
    let log = Arc::new(EventLog::new([1, 2, 3, 4], Arc::clone(&counted) as _));
    let [first, second] = [(); 2].map(|()| log.in_turn(|| ()).0);
    second.publish(vec![event("a.b", "q")]);
    assert_eq!(counted.events.load(Relaxed), 1);
    first.publish(vec![event("a.a", "q"), paused("q")]);
    assert_eq!((counted.events.load(Relaxed), log.page(&query()).events.len()), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_after_an_answer_waits_for_earlier_calls_but_not_for_ever() {
    let log = log();
    log.catch_up().await;
    let [first, second] = [(); 2].map(|()| log.in_turn(|| ()).0);
    second.publish(vec![event("a.b", "q")]);
    let mut waiting = pin!(log.catch_up());
    tokio::select! {
        biased;
        () = &mut waiting => panic!("did not wait"),
        () = std::future::ready(()) => {}
    }
    // What is handed in later is not waited for.
    let later = log.in_turn(|| ()).0;
    write(&log, vec![paused("q")]);
    first.publish(vec![event("a.a", "q")]);
    waiting.await;
    assert_eq!(numbers(&log.page(&query())), [1, 2]);
    let before = Instant::now();
    log.catch_up().await;
    assert_eq!((before.elapsed(), log.page(&query()).events.len()), (LATE_MAX * 2, 2));
    drop(later);
}

#[test]
fn a_call_that_is_stuck_holds_up_only_so_many() {
    let log = log();
    let stuck = log.in_turn(|| ()).0;
    for _ in 0..EARLY_MAX {
        write(&log, vec![paused("q")]);
    }
    assert_eq!(log.page(&query()).events, []);
    write(&log, vec![paused("q")]);
    assert_eq!(log.page(&query()).events.len(), 10);
    let cursor = log.page(&EventQuery { limit: EARLY_MAX * 2, ..query() }).cursor;
    stuck.publish(vec![event("a.b", "q")]);
    write(&log, vec![paused("q")]);
    assert_eq!(log.page(&after(&cursor)).events.len(), 2);
}

#[test]
fn a_call_that_is_stuck_holds_up_others_only_so_long() {
    let log = log();
    let at = |late: Duration| Timestamp::from_millis(5000) + late;
    let [first, stuck] = [(); 2].map(|()| log.in_turn(|| ()).0);
    write(&log, vec![paused("q")]);
    log.overtake(at(Duration::ZERO));
    // Another one holds them up from here on, whose time begins anew.
    drop(first);
    log.overtake(at(LATE_MAX));
    assert_eq!(log.page(&query()).events, []);
    log.overtake(at(LATE_MAX * 2));
    assert_eq!(numbers(&log.page(&query())), [1]);
    stuck.publish(vec![event("a.b", "q")]);
    write(&log, vec![paused("q")]);
    assert_eq!(numbers(&log.page(&query())), [1, 2, 3]);
}

#[test]
fn the_tail_has_every_event_once_and_says_how_many_are_forgotten() {
    let log = log();
    write(&log, vec![event("a.b", "q"), paused("q"), event("a.b", "q")]);
    let seqs = |tail: &EventTail| tail.events.iter().map(|event| event.seq).collect::<Vec<_>>();
    let tail = log.tail(0, 2);
    assert_eq!((tail.missed, seqs(&tail)), (0, vec![1, 2]));
    assert_eq!(seqs(&log.tail(2, 10)), [3]);
    assert_eq!(log.tail(3, 10), EventTail { missed: 0, events: Vec::new() });
    write(&log, (0..EVENTS_KEPT).map(|_| event("a.b", "q")).collect());
    let tail = log.tail(2, 1);
    assert_eq!((tail.missed, seqs(&tail)), (1, vec![4]));
}
