//! Listening while things happen, coming back, being slow, and what it costs those who write.

use std::time::{Duration, Instant};

use hapax_core::{JobId, JobType, Priority, State};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;
use crate::events::Unnumbered;
use crate::testing::queue;
use crate::{Aspect, EVENTS_KEPT, JobFact, News, NoObserver, Step};

const NOW: Timestamp = Timestamp::EPOCH;

fn log() -> Arc<EventLog> {
    Arc::new(EventLog::new([1, 2, 3, 4], Arc::new(NoObserver)))
}

fn job(number: u8) -> JobId {
    JobId::new(Timestamp::from_millis(5000), [number; 10])
}

fn event(number: u8, name: &str) -> Unnumbered {
    let at = Timestamp::from_millis(5000);
    let fact = JobFact::Enqueued { priority: Priority::default(), scheduled_at: None, key: None };
    let (state, job_type) = (State::Available, JobType::parse("a.b").unwrap());
    let step = Some(Step { from: None, to: state });
    Unnumbered {
        at,
        queue: Some(queue(name)),
        news: News::Job { id: job(number), job_type, state, step, fact },
        traced: None,
    }
}

fn write(log: &Arc<EventLog>, events: impl IntoIterator<Item = Unnumbered>) {
    log.in_turn(|| ()).0.publish(events.into_iter().collect());
}

fn herald(log: &Arc<EventLog>) -> JoinHandle<()> {
    let log = Arc::clone(log);
    tokio::spawn(async move { log.switchboard.run(&log.ring).await })
}

/// Waits until the herald has brought everything.
async fn brought(log: &Arc<EventLog>) {
    let newest = log.ring().newest();
    while log.switchboard.routed() < newest {
        tokio::task::yield_now().await;
    }
}

/// As many events as the log keeps and half as many again, in commits that the herald keeps up with.
async fn turn_over(log: &Arc<EventLog>, name: &str) {
    for _ in 0..15 {
        write(log, (0..EVENTS_KEPT / 10).map(|_| event(1, name)));
        brought(log).await;
    }
}

struct Listener {
    subscription: Subscription,
    bell: Bell,
}

fn listen(log: &Arc<EventLog>, channel: Channel, after: Option<&str>) -> Listener {
    let bell = Bell::default();
    Listener { subscription: Subscription::new(log, channel, after, &bell), bell }
}

impl Listener {
    /// The numbers of so many events, as they come.
    async fn hears(&mut self, count: usize) -> Vec<u64> {
        let mut heard = Vec::new();
        while heard.len() < count {
            let Batch { gap, dropped, notices, has_more } = self.subscription.read(Company::Few);
            assert_eq!((gap, dropped), (None, None));
            let facts = notices.iter().filter(|notice| notice.aspect == Aspect::Fact);
            heard.extend(facts.map(|notice| notice.event.seq));
            if notices.is_empty() && !has_more {
                timeout(Duration::from_secs(5), self.bell.rung()).await.expect("a ring");
            }
        }
        assert!(self.reads_nothing(), "and nothing else");
        heard
    }

    fn reads_nothing(&mut self) -> bool {
        let Batch { gap, dropped, notices, has_more: _ } = self.subscription.read(Company::Few);
        gap.is_none() && dropped.is_none() && notices.is_empty()
    }
}

#[tokio::test]
async fn each_channel_carries_what_belongs_to_it() {
    let log = log();
    let _herald = herald(&log);
    let mut one_job = listen(&log, Channel::Job(job(1)), None);
    let mut one_queue = listen(&log, Channel::Queue(queue("q")), None);
    let mut all = listen(&log, Channel::All, None);
    let paused = Unnumbered { at: NOW, queue: Some(queue("q")), news: News::QueuePaused, traced: None };
    write(&log, [event(1, "q"), event(2, "q"), event(1, "r"), paused, event(3, "r")]);
    assert_eq!(one_job.hears(2).await, [1, 3]);
    assert_eq!(one_queue.hears(3).await, [1, 2, 4]);
    assert_eq!(all.hears(5).await, [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn a_step_is_told_before_its_fact_and_both_have_names() {
    let log = log();
    let _herald = herald(&log);
    let mut listener = listen(&log, Channel::All, None);
    write(&log, [event(1, "q")]);
    listener.bell.rung().await;
    let [step, fact] = &listener.subscription.read(Company::Few).notices[..] else { panic!("two notices") };
    assert_eq!([step.kind().name(), fact.kind().name()], ["job.state_changed", "job.enqueued"]);
    assert_ne!(step.id(), fact.id());
    // Coming back with either name, the listener is told what it has not been told.
    let mut back = listen(&log, Channel::All, Some(&step.id().to_string()));
    assert_eq!(back.subscription.read(Company::Few).notices, std::slice::from_ref(fact));
    assert!(!listen(&log, Channel::All, Some(&fact.id().to_string())).subscription.has_history());
}

#[tokio::test]
async fn a_large_commit_reaches_a_listener_without_a_hole() {
    let log = log();
    let _herald = herald(&log);
    let mut listener = listen(&log, Channel::Queue(queue("q")), None);
    write(&log, (0..10_000).map(|_| event(1, "q")));
    write(&log, [event(1, "r"), event(1, "q")]);
    let expected: Vec<u64> = (1..=10_000).chain([10_002]).collect();
    assert_eq!(listener.hears(10_001).await, expected);
}

#[tokio::test]
async fn who_comes_back_is_told_what_happened_meanwhile_and_then_what_happens() {
    let log = log();
    let _herald = herald(&log);
    let mut first = listen(&log, Channel::Queue(queue("q")), None);
    let cursor = first.subscription.cursor(NOW).to_string();
    write(&log, (0..3000).map(|number| event(1, if number % 3 == 0 { "q" } else { "r" })));
    drop(first);
    let mut back = listen(&log, Channel::Queue(queue("q")), Some(&cursor));
    write(&log, [event(1, "q")]);
    let expected: Vec<u64> = (1..=3000).step_by(3).chain([3001]).collect();
    assert_eq!(back.hears(1001).await, expected);
}

#[tokio::test]
async fn who_knows_more_than_the_herald_has_brought_is_not_told_twice() {
    let log = log();
    let mut early = listen(&log, Channel::All, None);
    write(&log, [event(1, "q"), event(2, "q")]);
    let page = log.page(&crate::EventQuery { limit: 1, ..crate::EventQuery::default() });
    let mut back = listen(&log, Channel::All, Some(&page.cursor));
    let _herald = herald(&log);
    assert_eq!(back.hears(1).await, [2]);
    assert_eq!(early.hears(2).await, [1, 2]);
}

#[tokio::test]
async fn a_cursor_that_nobody_remembers_is_a_gap_before_what_is_remembered() {
    let log = log();
    write(&log, [event(1, "q"), event(1, "q")]);
    let known = listen(&log, Channel::All, None).subscription.cursor(NOW).to_string();
    write(&log, (0..EVENTS_KEPT + 5).map(|_| event(1, "r")));
    write(&log, [event(2, "q")]);
    let (at, oldest) = (Timestamp::from_millis(5000), Some(Timestamp::from_millis(5000)));
    let gaps = [
        (known.as_str(), Gap { since: Some(at), until: oldest, missed: Some(6) }),
        ("evt_nonsense", Gap { since: None, until: oldest, missed: None }),
    ];
    for (cursor, expected) in gaps {
        let mut back = listen(&log, Channel::Queue(queue("q")), Some(cursor));
        assert!(back.subscription.has_history());
        assert_eq!(back.subscription.read(Company::Few).gap, Some(expected), "{cursor}");
        assert_eq!(back.hears(1).await, [EVENTS_KEPT as u64 + 8], "{cursor}");
    }
}

#[tokio::test]
async fn who_reads_too_slowly_is_told_how_much_was_dropped_and_goes_on() {
    let log = log();
    let _herald = herald(&log);
    let mut slow = listen(&log, Channel::Queue(queue("q")), None);
    let mut quiet = listen(&log, Channel::Queue(queue("quiet")), None);
    write(&log, [event(1, "q"), event(1, "quiet")]);
    assert_eq!(quiet.hears(1).await, [2]);
    turn_over(&log, "q").await;
    let Batch { dropped: Some(Dropped { count, oldest, newest }), notices, .. } =
        slow.subscription.read(Company::Few)
    else {
        panic!("nothing was dropped")
    };
    let first = notices[0].event.seq;
    assert_eq!(count, first - 1 - 1, "all before the first but the one of the other queue");
    assert!(count < EVENTS_KEPT as u64, "{count}");
    let place = |id: Option<EventId>| id.unwrap().place().1.seq();
    assert_eq!((place(oldest), place(newest)), (1, first - 1));
    write(&log, [event(1, "quiet")]);
    assert_eq!(quiet.hears(1).await.len(), 1, "what happens elsewhere drops nothing of a quiet queue");
}

#[tokio::test]
async fn what_a_replay_has_told_is_not_lost() {
    let log = log();
    let _herald = herald(&log);
    write(&log, [event(1, "q")]);
    let cursor = log.page(&crate::EventQuery { limit: 1, ..crate::EventQuery::default() }).cursor;
    write(&log, (0..10).map(|_| event(1, "q")));
    let mut back = listen(&log, Channel::Queue(queue("q")), Some(&cursor));
    // On its line as well as in the log, which it has still to read.
    write(&log, (0..10).map(|_| event(1, "q")));
    brought(&log).await;
    let told = back.subscription.read(Company::Few);
    assert_eq!((told.gap, told.notices.len()), (None, 2 * 20));
    turn_over(&log, "r").await;
    assert!(back.reads_nothing());
    write(&log, [event(1, "q")]);
    assert_eq!(back.hears(1).await.len(), 1);
    turn_over(&log, "q").await;
    assert!(back.subscription.read(Company::Few).dropped.is_some(), "what comes after that is");
}

#[tokio::test]
async fn a_listener_that_hears_nothing_still_knows_where_it_stands() {
    let log = log();
    let _herald = herald(&log);
    let mut quiet = listen(&log, Channel::Queue(queue("quiet")), None);
    turn_over(&log, "q").await;
    assert!(quiet.reads_nothing());
    let cursor = quiet.subscription.cursor(NOW).to_string();
    assert!(!listen(&log, Channel::All, Some(&cursor)).subscription.has_history());
}

#[tokio::test]
async fn a_herald_that_falls_behind_the_log_says_so_to_everybody() {
    let log = log();
    let mut quiet = listen(&log, Channel::Queue(queue("quiet")), None);
    let mut all = listen(&log, Channel::All, None);
    let _herald = herald(&log);
    write(&log, [event(1, "quiet")]);
    assert_eq!(quiet.hears(1).await, [1]);
    assert_eq!(all.hears(1).await, [1]);
    // The herald gets no turn in between.
    write(&log, (0..EVENTS_KEPT + 10).map(|_| event(1, "q")));
    brought(&log).await;
    let before = quiet.subscription.cursor(NOW).place().1.seq();
    let Batch { gap, dropped, .. } = quiet.subscription.read(Company::Few);
    let at = Some(Timestamp::from_millis(5000));
    assert_eq!(dropped, None, "nobody knows how many of those that were dropped were in its queue");
    assert_eq!(gap, Some(Gap { since: at, until: at, missed: None }));
    assert_eq!(before, 1, "as long as it was not told, it has to come back to what it knows");
    assert!(quiet.subscription.cursor(NOW).place().1.seq() > EVENTS_KEPT as u64);
    assert!(quiet.reads_nothing(), "told once");
    let Batch { gap, dropped, .. } = all.subscription.read(Company::Few);
    let expected = Dropped { count: 10, oldest: None, newest: None };
    assert_eq!((gap, dropped), (None, Some(expected)), "all were for this one");
}

#[tokio::test]
async fn nothing_is_kept_for_those_who_have_gone() {
    let log = log();
    for _ in 0..3 {
        let listeners: Vec<_> =
            (0..100).map(|number| listen(&log, Channel::Job(job(number)), None)).collect();
        drop(listeners);
    }
    assert!(log.switchboard.is_unused());
}

/// The median of the times that publishing one event takes.
fn publishing_takes(log: &Arc<EventLog>) -> Duration {
    let mut times: Vec<Duration> = (0..2001)
        .map(|_| {
            let (ticket, events) = (log.in_turn(|| ()).0, vec![event(1, "q")]);
            #[expect(clippy::disallowed_methods, reason = "measures what listeners cost a writer")]
            let started = Instant::now();
            ticket.publish(events);
            started.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// The herald cannot run here while somebody writes, as there is one thread: what is measured, and what is looked at,
/// is the work of the writer alone.
#[tokio::test]
async fn writing_is_the_same_work_for_one_listener_and_for_ten_thousand() {
    let alone = log();
    let mut one = listen(&alone, Channel::Queue(queue("q")), None);
    let crowded = log();
    let mut many: Vec<_> = (0..10_000).map(|_| listen(&crowded, Channel::Queue(queue("q")), None)).collect();
    let (_herald, _another) = (herald(&alone), herald(&crowded));
    // The first call of a herald that waits wakes its task, on both sides alike.
    tokio::task::yield_now().await;
    let (with_one, with_many) = (publishing_takes(&alone), publishing_takes(&crowded));
    assert!(with_many < with_one * 3 + Duration::from_micros(5), "{with_one:?} and {with_many:?}");
    assert!(many.iter_mut().all(Listener::reads_nothing), "the writer has put nothing on the line");
    assert_eq!(one.hears(2001).await.len(), 2001);
    for listener in &mut many {
        assert_eq!(listener.hears(2001).await.len(), 2001);
    }
}
