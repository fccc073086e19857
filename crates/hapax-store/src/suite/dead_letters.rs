//! The dead-letter list.

use hapax_core::{Directive, Event, Handback, Job, JobId, Priority, Refusal, RetryPolicy, SpecPatch, State};

use super::bench::{Bench, DAY, INSTANT, SECOND, revived};
use super::draft::{Draft, plain, queue};
use super::wait;
use crate::{Change, DeadLetterQuery, LETTER_BYTES_MAX, Page};

/// A dead letter of that queue.
fn bury(bench: &mut Bench, queue: &str) -> JobId {
    bury_one(bench, plain().queue(queue))
}

fn bury_one(bench: &mut Bench, draft: Draft) -> JobId {
    let queue = draft.spec.queue.clone();
    let id = bench.create(draft.dies_at_once());
    let job = bench.fetch(&[queue.as_str()], 1).pop().unwrap();
    bench.fail(&job).unwrap();
    assert!(bench.job(id).phase.is_dead_letter());
    id
}

fn list(bench: &Bench, query: DeadLetterQuery) -> Page<Job> {
    wait(bench.store().dead_letters(query)).unwrap()
}

/// The ids of a page, the total, and whether more come.
fn found(page: &Page<Job>) -> (Vec<JobId>, u64, bool) {
    (page.items.iter().map(|job| job.id).collect(), page.total, page.has_more)
}

fn query(limit: usize) -> DeadLetterQuery {
    DeadLetterQuery { limit, ..DeadLetterQuery::default() }
}

pub(super) fn the_list_runs_from_the_newest_to_the_oldest(bench: &mut Bench) {
    let mut ids: Vec<JobId> = Vec::new();
    for _ in 0..4 {
        ids.insert(0, bury(bench, "a"));
        bench.pass(SECOND);
    }
    let page = list(bench, query(9));
    assert_eq!(found(&page), (ids.clone(), 4, false));
    assert_eq!(page.items, ids.iter().map(|id| bench.job(*id)).collect::<Vec<_>>());
    bench.reopen();
    assert_eq!(found(&list(bench, query(9))), (ids, 4, false));
}

pub(super) fn ids_break_ties(bench: &mut Bench) {
    let mut ids: Vec<JobId> = (0..5).map(|_| bury(bench, "a")).collect();
    ids.sort_by(|a, b| b.cmp(a));
    assert_eq!(found(&list(bench, query(9))), (ids, 5, false));
}

pub(super) fn pages_by_offset(bench: &mut Bench) {
    let mut ids: Vec<JobId> = (0..5).map(|_| bury(bench, "a")).collect();
    ids.sort_by(|a, b| b.cmp(a));
    for (offset, limit, has_more) in [(0, 2, true), (2, 2, true), (4, 2, false), (3, 2, false), (9, 2, false)]
    {
        let expected = ids.iter().copied().skip(offset).take(limit).collect();
        assert_eq!(found(&list(bench, DeadLetterQuery { offset, ..query(limit) })), (expected, 5, has_more));
    }
}

pub(super) fn pages_by_cursor_meet_every_letter_once(bench: &mut Bench) {
    // Two that died at each moment, so that a cursor falls between equals.
    for _ in 0..4 {
        bury(bench, "a");
        bury(bench, "b");
        bench.pass(SECOND);
    }
    let (all, ..) = found(&list(bench, query(9)));
    for limit in 1..=8 {
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = list(bench, DeadLetterQuery { after, ..query(limit) });
            seen.extend(page.items.iter().map(|job| job.id));
            assert_eq!((page.total, page.has_more), (8, seen.len() < 8));
            after = page.items.last().and_then(|job| Some((job.phase.finished_at()?, job.id)));
            if !page.has_more {
                break;
            }
        }
        assert_eq!(seen, all, "pages of {limit}");
    }
}

pub(super) fn a_cursor_need_not_be_in_the_list_any_longer(bench: &mut Bench) {
    let oldest = bury(bench, "a");
    bench.pass(SECOND);
    let middle = bury(bench, "a");
    let after = Some((bench.now, middle));
    bench.pass(SECOND);
    bury(bench, "a");
    bench.step(middle, Event::Forget).unwrap();
    let page = list(bench, DeadLetterQuery { after, ..query(9) });
    assert_eq!(found(&page), (vec![oldest], 2, false));
}

pub(super) fn the_list_of_one_queue(bench: &mut Bench) {
    let a = bury(bench, "a");
    bench.pass(SECOND);
    bury(bench, "b");
    bench.pass(SECOND);
    let a_too = bury(bench, "a");
    let of = |name: &str| DeadLetterQuery { queue: Some(queue(name)), ..query(1) };
    assert_eq!(found(&list(bench, of("a"))), (vec![a_too], 2, true));
    assert_eq!(found(&list(bench, DeadLetterQuery { offset: 1, ..of("a") })), (vec![a], 2, false));
    assert_eq!(found(&list(bench, of("c"))), (vec![], 0, false));
}

pub(super) fn only_dead_letters_are_listed(bench: &mut Bench) {
    for state in State::ALL {
        bench.create_in(state, plain());
        bench.fetch(&["default"], 9);
    }
    bench.create(plain());
    let job = bench.fetch_one();
    bench.fail_with(&job, Directive::DeadLetter, Handback::Failed).unwrap();
    assert_eq!(found(&list(bench, query(9))), (vec![job.id], 1, false));
    assert_eq!(bench.totals().dead_letters, 1);
}

pub(super) fn a_revived_letter_leaves_the_list_and_runs_again(bench: &mut Bench) {
    let id = bury(bench, "a");
    let change = bench.step(id, Event::Revive { patch: SpecPatch::default() }).unwrap();
    assert_eq!(change, revived(bench.job(id)));
    assert_eq!(found(&list(bench, query(9))), (vec![], 0, false));
    let job = bench.fetch(&["a"], 1).pop().unwrap();
    assert_eq!((job.id, job.attempt, job.fence), (id, 1, 2));
    assert_eq!(job.history.entries().len(), 1, "its history stays");
}

pub(super) fn a_letter_is_revived_with_new_values(bench: &mut Bench) {
    let id = bury(bench, "a");
    let retry = RetryPolicy { max_attempts: 9, ..RetryPolicy::default() };
    let args = plain().args("[2]").spec.args;
    let patch = SpecPatch { queue: Some(queue("b")), args: Some(args), meta: None, retry: Some(retry) };
    bench.step(id, Event::Revive { patch }).unwrap();
    assert_eq!(bench.fetch(&["a"], 1), []);
    let job = bench.fetch(&["b"], 1).pop().unwrap();
    assert_eq!((job.spec.args.as_str(), job.spec.retry.max_attempts), ("[2]", 9));
    assert_eq!(job.spec.priority, Priority::default());
    assert_eq!(bench.queue("a").unwrap().counts.of(State::Active), 0);
    assert_eq!(bench.queue("b").unwrap().created_at, bench.now);
}

pub(super) fn a_forgotten_letter_is_gone(bench: &mut Bench) {
    let id = bury(bench, "a");
    let job = bench.job(id);
    assert_eq!(bench.step(id, Event::Forget), Ok(Change::Removed { job, followers: Vec::new() }));
    assert_eq!(bench.get(id), None);
    assert_eq!(bench.step(id, Event::Forget), Err(Refusal::NotFound(id)));
    assert_eq!(bench.totals().dead_letters, 0);
}

pub(super) fn what_is_no_letter_is_neither_revived_nor_forgotten(bench: &mut Bench) {
    for state in State::ALL {
        let id = bench.create_in(state, plain());
        for event in [Event::Forget, Event::Revive { patch: SpecPatch::default() }] {
            assert_eq!(bench.step(id, event), Err(Refusal::NoDeadLetter { id, state }), "{state}");
        }
        bench.fetch(&["default"], 9);
    }
}

pub(super) fn letters_are_kept_for_their_time(bench: &mut Bench) {
    let id = bury(bench, "a");
    bench.pass_almost(DAY * 30);
    bench.advance();
    assert!(bench.get(id).is_some());
    bench.pass(INSTANT);
    bench.advance();
    assert_eq!(bench.get(id), None);
    assert_eq!(found(&list(bench, query(9))), (vec![], 0, false));
}

pub(super) fn a_page_of_letters_ends_after_so_many_bytes(bench: &mut Bench) {
    let large = format!("[\"{}\"]", "x".repeat(LETTER_BYTES_MAX / 4));
    let mut ids: Vec<JobId> = (0..5).map(|_| bury_one(bench, plain().args(&large))).collect();
    ids.sort_by(|a, b| b.cmp(a));
    let page = list(bench, query(9));
    assert_eq!(found(&page), (ids[..4].to_vec(), 5, true), "the one that passes the limit is the last");
    let last = page.items.last().unwrap();
    let after = last.phase.finished_at().map(|at| (at, last.id));
    let rest = list(bench, DeadLetterQuery { after, ..query(9) });
    assert_eq!(found(&rest), (ids[4..].to_vec(), 5, false));
}
