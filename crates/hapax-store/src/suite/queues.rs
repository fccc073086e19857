//! Queues: pausing, listing, counting.

use hapax_core::unique::{Field, Replacement};
use hapax_core::{Event, State};

use super::bench::{Bench, HOUR, SECOND};
use super::draft::{plain, queue, unique};
use super::wait;
use crate::{Page, QueueFacts, QueueQuery};

fn list(bench: &Bench, query: QueueQuery) -> Page<QueueFacts> {
    wait(bench.store().queues(query)).unwrap()
}

fn names(page: &Page<QueueFacts>) -> Vec<&str> {
    page.items.iter().map(|facts| facts.name.as_str()).collect()
}

pub(super) fn a_paused_queue_gives_nothing_until_it_is_resumed(bench: &mut Bench) {
    let id = bench.create(plain());
    let other = bench.create(plain().queue("other"));
    assert!(bench.pause("default").paused);
    let later = bench.create(plain());
    assert_eq!(bench.fetch(&["default", "other"], 5)[0].id, other);
    assert_eq!(bench.fetch_ids(5), []);
    assert!(!bench.resume("default").paused);
    assert_eq!(bench.fetch_ids(5), [id, later]);
}

pub(super) fn a_paused_queue_stays_paused_over_a_restart(bench: &mut Bench) {
    bench.create(plain());
    bench.pause("default");
    bench.reopen();
    assert!(bench.queue("default").unwrap().paused);
    assert_eq!(bench.fetch_ids(5), []);
    bench.resume("default");
    bench.reopen();
    assert_eq!(bench.fetch_ids(5).len(), 1);
}

pub(super) fn pausing_holds_back_deliveries_and_nothing_else(bench: &mut Bench) {
    bench.create(plain());
    let running = bench.fetch_one();
    let scheduled = bench.create(plain().scheduled_at(bench.now + SECOND));
    bench.pause("default");
    bench.heartbeat(&running).unwrap();
    bench.acknowledge(&running).unwrap();
    bench.pass(SECOND);
    bench.advance();
    assert_eq!(bench.state(scheduled), State::Available);
    bench.step(scheduled, Event::Cancel).unwrap();
}

pub(super) fn pausing_or_resuming_an_unknown_queue_makes_it(bench: &mut Bench) {
    let made = bench.pause("a");
    assert_eq!((made.paused, made.created_at), (true, bench.now));
    let made = bench.resume("b");
    assert_eq!((made.paused, made.created_at), (false, bench.now));
    assert_eq!(names(&list(bench, QueueQuery { limit: 9, ..QueueQuery::default() })), ["a", "b"]);
}

pub(super) fn pausing_twice_is_pausing_once(bench: &mut Bench) {
    let first = bench.pause("a");
    bench.pass(SECOND);
    assert_eq!(bench.pause("a"), first);
    assert_eq!(bench.queue("a"), Some(first));
    bench.resume("a");
    assert!(!bench.resume("a").paused);
}

pub(super) fn a_queue_is_made_by_its_first_job_and_stays(bench: &mut Bench) {
    assert_eq!(bench.queue("a"), None);
    let first_used = bench.now;
    let id = bench.create(plain().queue("a"));
    bench.pass(HOUR);
    bench.create(plain().queue("a"));
    assert_eq!(bench.queue("a").unwrap().created_at, first_used);
    for id in bench.ids().to_vec() {
        bench.step(id, Event::Cancel).unwrap();
    }
    bench.pass(HOUR * 1000);
    bench.advance();
    assert_eq!(bench.get(id), None);
    let facts = bench.queue("a").unwrap();
    assert_eq!((facts.created_at, facts.counts.of(State::Cancelled)), (first_used, 0));
}

pub(super) fn a_job_that_is_turned_away_makes_no_queue(bench: &mut Bench) {
    bench.create(unique("k"));
    bench.enqueue(unique("k").queue("elsewhere"));
    assert_eq!(bench.queue("elsewhere"), None);
}

pub(super) fn a_queue_that_a_job_only_passed_through_is_there(bench: &mut Bench) {
    let to_queue = Replacement::everywhere([Field::Queue].into_iter().collect());
    let moved = unique("k").queue("there").replacing(to_queue);
    bench.enqueue_each(vec![unique("k").queue("here"), moved]);
    assert_eq!(bench.queue("here").map(|facts| facts.created_at), Some(bench.now));
    let moved = unique("j").queue("beyond").replacing(to_queue);
    let refused = bench.try_enqueue_all(vec![unique("j").queue("passing"), moved, unique("j")]);
    assert!(refused.is_err());
    assert_eq!(bench.queue("passing"), None, "of a refused batch nothing is left");
}

pub(super) fn queues_are_listed_by_name_in_pages(bench: &mut Bench) {
    for name in ["d", "b", "a", "c"] {
        bench.create(plain().queue(name));
    }
    let all = QueueQuery { after: None, offset: 0, limit: 4 };
    let page = list(bench, all.clone());
    assert_eq!((names(&page), page.total, page.has_more), (vec!["a", "b", "c", "d"], 4, false));
    let page = list(bench, QueueQuery { limit: 2, ..all.clone() });
    assert_eq!((names(&page), page.total, page.has_more), (vec!["a", "b"], 4, true));
    let page = list(bench, QueueQuery { offset: 3, ..all.clone() });
    assert_eq!((names(&page), page.total, page.has_more), (vec!["d"], 4, false));
    let page = list(bench, QueueQuery { after: Some(queue("b")), limit: 1, ..all.clone() });
    assert_eq!((names(&page), page.total, page.has_more), (vec!["c"], 4, true));
    let page = list(bench, QueueQuery { after: Some(queue("bb")), offset: 1, ..all.clone() });
    assert_eq!((names(&page), page.total, page.has_more), (vec!["d"], 4, false));
    let page = list(bench, QueueQuery { after: Some(queue("d")), ..all });
    assert_eq!((names(&page), page.total, page.has_more), (vec![], 4, false));
}

pub(super) fn counts_follow_a_job_through_every_state(bench: &mut Bench) {
    for state in State::ALL {
        bench.create_in(state, plain());
        bench.create_in(state, unique(state.name()));
        bench.fetch(&["default"], 9);
    }
    let counts = bench.totals().counts;
    let seen = State::ALL.map(|state| counts.of(state));
    assert_eq!(seen, [2, 0, 2, 4, 2, 2, 2, 2], "available ones were fetched");
    assert_eq!(bench.queue("default").unwrap().counts, counts);
    assert_eq!(bench.totals().keys_held, 5);
}
