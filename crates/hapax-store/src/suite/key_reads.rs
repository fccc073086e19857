//! Reads about keys: who carries one, and which are held.

use hapax_core::unique::{Anchor, Key, Watch};
use hapax_core::{Event, JobId, JobType, State, StateSet, Timestamp};

use super::bench::{ALL, Bench, HOUR, INSTANT, MINUTE, SECOND, job_key_of};
use super::draft::{Draft, job_key, plain, queue, unique};
use crate::{HELD_SCAN_MAX, HeldQuery, HolderQuery, Holders};

/// A draft of `k` that nothing stands against.
fn beside() -> Draft {
    unique("k").states(StateSet::of(&[State::Completed]))
}

fn key() -> Key {
    Key::of_text("k")
}

fn holders(bench: &Bench, covered_by: Option<(Watch, Timestamp)>, limit: usize) -> Holders {
    bench.holders(HolderQuery { key: key(), covered_by, limit })
}

fn ids(holders: &Holders) -> Vec<JobId> {
    holders.jobs.iter().map(|job| job.id).collect()
}

fn watch(states: StateSet, period: Option<std::time::Duration>) -> Watch {
    Watch { states, period, period_from: Anchor::CreatedAt, every_live: true }
}

/// Four holders, one second apart: cancelled, waiting, discarded, waiting.
fn four(bench: &mut Bench) -> [JobId; 4] {
    let cancelled = bench.create_in(State::Cancelled, beside());
    bench.pass(SECOND);
    let oldest_live = bench.create_in(State::Pending, beside());
    bench.pass(SECOND);
    let discarded = bench.create_in(State::Discarded, beside());
    bench.pass(SECOND);
    let newest_live = bench.create_in(State::Scheduled, beside());
    [cancelled, oldest_live, discarded, newest_live]
}

pub(super) fn the_holders_of_a_key_are_shown_newest_first_and_counted(bench: &mut Bench) {
    let [cancelled, pending, discarded, scheduled] = four(bench);
    bench.create(unique("other"));
    bench.create(plain());
    let found = holders(bench, None, ALL);
    assert_eq!(ids(&found), [scheduled, discarded, pending, cancelled]);
    assert_eq!((found.live, found.ended), (2, 2));
    for job in &found.jobs {
        assert_eq!(*job, bench.job(job.id), "whole jobs");
    }
}

pub(super) fn of_equally_new_holders_the_larger_id_is_shown_first(bench: &mut Bench) {
    let mut made: Vec<JobId> = (0..6).map(|_| bench.create(beside())).collect();
    made.sort();
    made.reverse();
    assert_eq!(ids(&holders(bench, None, ALL)), made);
    assert_eq!(ids(&holders(bench, None, 2)), made[..2]);
}

pub(super) fn a_limit_holds_for_the_living_and_for_the_ended(bench: &mut Bench) {
    let [cancelled, pending, discarded, scheduled] = four(bench);
    assert_eq!(ids(&holders(bench, None, 1)), [scheduled, discarded]);
    assert_eq!(ids(&holders(bench, None, 2)), [scheduled, discarded, pending, cancelled]);
    let none = holders(bench, None, 0);
    assert_eq!((none.jobs.len(), none.live, none.ended), (0, 2, 2), "the counts are whole");
}

pub(super) fn all_living_holders_that_count_are_shown_and_the_newest_ended_one(bench: &mut Bench) {
    let [cancelled, pending, discarded, scheduled] = four(bench);
    let all = watch(StateSet::ALL, None);
    assert_eq!(ids(&holders(bench, Some((all, bench.now)), 0)), [scheduled, discarded, pending]);
    let cancelled_only = watch(StateSet::of(&[State::Cancelled]), None);
    assert_eq!(ids(&holders(bench, Some((cancelled_only, bench.now)), 0)), [cancelled]);
    assert_eq!(ids(&holders(bench, Some((cancelled_only, bench.now)), 1)), [scheduled, discarded, cancelled]);
    let pending_only = watch(StateSet::of(&[State::Pending]), None);
    assert_eq!(ids(&holders(bench, Some((pending_only, bench.now)), 0)), [pending]);
}

pub(super) fn a_window_decides_who_counts_for_the_moment_that_is_asked_about(bench: &mut Bench) {
    let older = bench.create(beside());
    bench.pass(MINUTE * 40);
    let newer = bench.create(beside());
    let hour = watch(StateSet::ALL, Some(HOUR));
    let end = bench.now + MINUTE * 20;
    assert_eq!(ids(&holders(bench, Some((hour, end - INSTANT)), 0)), [newer, older]);
    assert_eq!(ids(&holders(bench, Some((hour, end)), 0)), [newer]);
    assert_eq!(ids(&holders(bench, Some((hour, end + HOUR)), 0)), []);
}

pub(super) fn a_key_that_nobody_carries_has_no_holders(bench: &mut Bench) {
    bench.create(unique("other"));
    assert_eq!(holders(bench, None, ALL), Holders::default());
    let holder = bench.create(unique("k"));
    bench.step(holder, super::bench::release()).unwrap();
    assert_eq!(holders(bench, None, ALL), Holders::default(), "a released key is nobody's");
    let removed = bench.create(job_key("k"));
    let named = HolderQuery { key: job_key_of("k"), covered_by: None, limit: ALL };
    assert_eq!(ids(&bench.holders(named.clone())), [removed]);
    bench.remove_job_key("k").unwrap();
    assert_eq!(bench.holders(named), Holders::default());
}

pub(super) fn a_holder_is_seen_in_every_state_of_its_life(bench: &mut Bench) {
    for state in State::ALL {
        bench.renew();
        let holder = bench.create_in(state, unique("k"));
        let found = holders(bench, None, 1);
        assert_eq!(found.jobs, [bench.job(holder)], "{state}");
        assert_eq!(
            (found.live, found.ended),
            (u64::from(!state.is_terminal()), u64::from(state.is_terminal()))
        );
    }
}

/// All of them, in pages of that length.
fn pages(limit: usize) -> HeldQuery {
    HeldQuery { limit, ..HeldQuery::default() }
}

fn held(bench: &Bench, query: &HeldQuery) -> Vec<JobId> {
    bench.held(query).iter().map(|job| job.id).collect()
}

pub(super) fn held_keys_are_listed_in_the_order_of_acceptance(bench: &mut Bench) {
    let first = bench.create(unique("a"));
    bench.create(plain());
    bench.set_back(HOUR);
    let second = bench.create(job_key("b").queue("other"));
    bench.pass(HOUR * 2);
    let third = bench.create(unique("c").scheduled_at(bench.now + HOUR));
    for limit in [1, 2, 3, ALL] {
        assert_eq!(held(bench, &pages(limit)), [first, second, third], "whatever the clock said");
    }
    let mut shown = bench.job(second);
    shown.forget_texts();
    assert_eq!(bench.held(&pages(9))[1], shown, "without its texts");
}

pub(super) fn a_page_says_whether_others_follow(bench: &mut Bench) {
    assert_eq!(bench.held_page(pages(2)).next, None);
    let ids: Vec<_> = (0..5).map(|number: u8| bench.create(unique(&number.to_string()))).collect();
    let mut after = None;
    for expected in [&ids[0..2], &ids[2..4], &ids[4..5]] {
        let page = bench.held_page(HeldQuery { after, ..pages(2) });
        assert_eq!(page.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), expected);
        assert_eq!(page.next.is_some(), expected.len() == 2);
        after = page.next;
    }
    assert_eq!(bench.held_page(pages(5)).next, None, "a full page may be the last");
}

pub(super) fn the_list_of_held_keys_may_be_narrowed(bench: &mut Bench) {
    let plain_one = bench.create(unique("a"));
    let elsewhere = bench.create(unique("b").queue("other"));
    bench.pass(HOUR);
    let other_kind = bench.create(unique("c").kind("work.other"));
    let both = bench.create(unique("d").kind("work.other").queue("other"));
    let kind = Some(JobType::parse("work.other").unwrap());
    let on = Some(queue("other"));
    for limit in [1, 9] {
        let query = HeldQuery { kind: kind.clone(), ..pages(limit) };
        assert_eq!(held(bench, &query), [other_kind, both]);
        let query = HeldQuery { queue: on.clone(), ..pages(limit) };
        assert_eq!(held(bench, &query), [elsewhere, both]);
        let query = HeldQuery { kind: kind.clone(), queue: on.clone(), ..pages(limit) };
        assert_eq!(held(bench, &query), [both]);
        let query = HeldQuery { created_before: Some(bench.now), ..pages(limit) };
        assert_eq!(held(bench, &query), [plain_one, elsewhere], "strictly before");
        let query =
            HeldQuery { created_before: Some(bench.now + INSTANT), queue: on.clone(), ..pages(limit) };
        assert_eq!(held(bench, &query), [elsewhere, both]);
    }
}

pub(super) fn a_job_that_has_ended_leaves_the_list_of_held_keys(bench: &mut Bench) {
    for state in State::ALL {
        bench.renew();
        let holder = bench.create_in(state, unique("k"));
        let expected = if state.is_terminal() { vec![] } else { vec![holder] };
        assert_eq!(held(bench, &pages(9)), expected, "{state}");
    }
}

pub(super) fn a_job_that_comes_back_is_listed_in_its_old_place(bench: &mut Bench) {
    let first = bench.create(job_key("a").dies_at_once());
    let running = bench.fetch_one();
    let second = bench.create(unique("b"));
    bench.fail(&running).unwrap();
    assert_eq!(held(bench, &pages(1)), [second]);
    bench.update(first, job_key("a"));
    assert_eq!(held(bench, &pages(1)), [first, second]);
    bench.step(second, super::bench::release()).unwrap();
    assert_eq!(held(bench, &pages(1)), [first]);
}

pub(super) fn a_walk_loses_and_doubles_nothing_while_others_come_and_go(bench: &mut Bench) {
    let ids: Vec<_> = (0..30).map(|number: u8| bench.create(unique(&number.to_string()))).collect();
    let mut met = Vec::new();
    let mut query = pages(4);
    for round in 0.. {
        let page = bench.held_page(query.clone());
        met.extend(page.jobs.iter().map(|job| job.id));
        let Some(place) = page.next else { break };
        query.after = Some(place);
        if round < 5 {
            // The one met last goes, and one far ahead; one that was met loses its key; another comes.
            bench.step(met[met.len() - 1], Event::Cancel).unwrap();
            bench.step(ids[29 - round], Event::Cancel).unwrap();
            bench.step(met[met.len() - 2], super::bench::release()).unwrap();
            bench.create(unique(&format!("new {round}")));
        }
    }
    let mut distinct = met.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), met.len(), "nothing twice");
    let (old, new): (Vec<JobId>, Vec<JobId>) = met.iter().partition(|id| ids.contains(id));
    let kept = bench.held(&pages(ALL)).iter().map(|job| job.id).filter(|id| !met.contains(id)).count();
    assert_eq!(kept, 0, "whoever holds a key throughout was met");
    assert!(old.is_sorted_by_key(|id| ids.iter().position(|other| other == id)), "in order");
    assert!(!new.is_empty(), "those that came meanwhile stand at the end");
}

pub(super) fn a_rare_type_among_many_takes_several_short_reads(bench: &mut Bench) {
    const LIST: usize = 1000;
    let rare = || unique("rare").kind("work.rare");
    let first = bench.create(rare());
    for list in 0..=HELD_SCAN_MAX / LIST {
        bench.enqueue_each((0..LIST).map(|number| unique(&format!("{list}.{number}"))).collect());
    }
    let last = bench.create(rare().states(StateSet::of(&[State::Completed])));
    let query = HeldQuery { kind: JobType::parse("work.rare").ok(), ..pages(9) };
    let page = bench.held_page(query.clone());
    assert_eq!(page.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [first]);
    assert!(page.next.is_some(), "a short page, and others follow");
    assert_eq!(held(bench, &query), [first, last]);
    assert_eq!(bench.held(&pages(ALL)).len(), LIST * (HELD_SCAN_MAX / LIST + 1) + 2);
}
