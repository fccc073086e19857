//! Fair shares: keys take turns in a queue, however many jobs each of them has.

use hapax_core::limit::Share;
use hapax_core::{Directive, Handback, Job, JobId};

use super::bench::{Bench, MINUTE};
use super::draft::{Draft, plain};
use super::limits::at_a_time;
use super::race::{RACERS, fill, race};

/// Jobs one after the other, by the names of their keys; `-` for one that has none.
fn create(bench: &mut Bench, names: &str) -> Vec<JobId> {
    names.chars().map(|name| bench.create(draft(name))).collect()
}

fn draft(name: char) -> Draft {
    if name == '-' { plain() } else { plain().fair(&name.to_string()) }
}

fn name(job: &Job) -> char {
    let key = job.spec.rate_limit.as_ref().map(|limit| limit.key.as_str());
    key.and_then(|key| key.chars().next()).unwrap_or('-')
}

/// The keys of those who are next, each taken when the one before it has been.
fn taken(bench: &mut Bench, count: usize) -> String {
    (0..count).flat_map(|_| bench.fetch(&["default"], 1)).map(|job| name(&job)).collect()
}

/// The same, all taken at once.
fn taken_at_once(bench: &mut Bench, count: usize) -> String {
    bench.fetch(&["default"], count).iter().map(name).collect()
}

pub(super) fn a_key_with_a_thousand_jobs_does_not_hold_up_another(bench: &mut Bench) {
    fill(bench, 1000, &plain().fair("a"));
    create(bench, "bbb");
    assert_eq!(taken(bench, 2), "ab", "its first is the second");
    bench.reopen();
    assert_eq!(taken(bench, 5), "ababa");
    assert_eq!(taken_at_once(bench, 3), "aaa");
}

pub(super) fn keys_take_turns(bench: &mut Bench) {
    create(bench, "aaaabbbbcc");
    assert_eq!(taken(bench, 5), "abcab");
    bench.reopen();
    assert_eq!(taken_at_once(bench, 9), "cabab");
    create(bench, "aabbbbbbaa");
    assert_eq!(taken_at_once(bench, 20), "ababbababb");
}

pub(super) fn jobs_of_one_request_share_as_if_they_came_one_by_one(bench: &mut Bench) {
    let drafts = "aaa-bbbc".chars().map(draft).collect();
    bench.try_enqueue_all(drafts).unwrap();
    assert_eq!(taken_at_once(bench, 4), "abca");
    assert_eq!(taken_at_once(bench, 9), "bab-");
}

pub(super) fn jobs_of_a_key_stay_in_their_order(bench: &mut Bench) {
    let names = "aab-aabbb-ab";
    let ids = create(bench, names);
    let first_half = bench.fetch_ids(5);
    bench.reopen();
    let order: Vec<JobId> = first_half.into_iter().chain(bench.fetch_ids(99)).collect();
    for key in ['a', 'b', '-'] {
        let of_key = |id: &JobId| names.chars().zip(&ids).any(|(name, other)| name == key && other == id);
        let (came, went) = (ids.iter().filter(|id| of_key(id)), order.iter().filter(|id| of_key(id)));
        assert!(came.eq(went), "those of {key}");
    }
}

pub(super) fn keys_take_turns_within_a_priority(bench: &mut Bench) {
    create(bench, "aaa");
    let urgent: Vec<JobId> =
        [9, 9, 9].iter().map(|priority| bench.create(plain().fair("a").priority(*priority))).collect();
    let other = bench.create(plain().fair("b").priority(9));
    create(bench, "b");
    assert_eq!(bench.fetch_ids(4), [urgent[0], other, urgent[1], urgent[2]]);
    assert_eq!(taken_at_once(bench, 9), "abaa");
}

pub(super) fn keys_take_turns_within_a_queue(bench: &mut Bench) {
    let elsewhere: Vec<JobId> = (0..3).map(|_| bench.create(plain().fair("a").queue("elsewhere"))).collect();
    create(bench, "bba");
    assert_eq!(taken_at_once(bench, 9), "bab");
    let ids: Vec<JobId> = bench.fetch(&["elsewhere"], 9).iter().map(|job| job.id).collect();
    assert_eq!(ids, elsewhere);
}

pub(super) fn those_that_do_not_share_keep_their_places(bench: &mut Bench) {
    create(bench, "----aa");
    assert_eq!(taken_at_once(bench, 9), "-a-a--", "all of them together are like one key");
    create(bench, "aaa-b");
    bench.create(plain().fair("a").sharing(Share::Line));
    create(bench, "ba");
    assert_eq!(taken_at_once(bench, 9), "ababa-aa");
}

pub(super) fn a_retry_takes_a_turn_of_its_key(bench: &mut Bench) {
    let ids = create(bench, "aaabbb");
    let first = bench.fetch_one();
    bench.fail_with(&first, Directive::Policy, Handback::Requeue).unwrap();
    let again = bench.fetch_ids(9);
    assert_eq!(again, [ids[3], ids[1], ids[4], ids[2], ids[5], ids[0]], "behind those of its key");
    let job = bench.job(ids[5]);
    bench.fail(&job).unwrap();
    create(bench, "aaa");
    bench.pass_and_advance(MINUTE);
    assert_eq!(taken_at_once(bench, 9), "abaa", "its pause is over");
}

pub(super) fn a_lapsed_lease_takes_a_turn_of_its_key(bench: &mut Bench) {
    bench.create(plain().fair("b").visibility_timeout(MINUTE));
    assert_eq!(taken(bench, 1), "b");
    create(bench, "aaaa");
    bench.pass_and_advance(MINUTE);
    assert_eq!(taken_at_once(bench, 9), "abaaa");
}

pub(super) fn jobs_take_turns_when_their_time_has_come(bench: &mut Bench) {
    let later = bench.now + MINUTE;
    for name in ["b", "b", "c"] {
        bench.create(plain().fair(name).scheduled_at(later));
    }
    create(bench, "aaaa");
    bench.pass_and_advance(MINUTE);
    bench.reopen();
    assert_eq!(taken_at_once(bench, 9), "abcabaa");
}

pub(super) fn one_that_waited_for_another_takes_a_turn_of_its_key(bench: &mut Bench) {
    let [first, second] = [(); 2].map(|()| bench.create(plain().fair("b").ordered("o")));
    let running = bench.fetch_one();
    assert_eq!(running.id, first);
    create(bench, "aaa");
    bench.acknowledge(&running).unwrap();
    let ids = bench.fetch_ids(2);
    assert_eq!(ids[1], second);
    assert_eq!(taken_at_once(bench, 9), "aa");
}

pub(super) fn a_key_without_room_holds_nobody_up(bench: &mut Bench) {
    let draft = plain().limited("a", at_a_time(1)).sharing(Share::Fair);
    fill(bench, 5, &draft);
    create(bench, "bbb");
    assert_eq!(taken_at_once(bench, 2), "ab");
    assert_eq!(taken(bench, 2), "bb");
    let running = bench.fetch_ids(1);
    assert_eq!(running, []);
    // Those for whom there is no room are not the front that newcomers would join forever.
    create(bench, "bbbbb");
    let mut order = String::new();
    for _ in 0..6 {
        create(bench, "c");
        order += &taken(bench, 1);
    }
    assert_eq!(order, "bcbcbc");
}

pub(super) fn whoever_comes_back_does_not_starve_others(bench: &mut Bench) {
    create(bench, "aaaaaabc");
    let mut order = String::new();
    for _ in 0..12 {
        let job = bench.fetch_one();
        bench.acknowledge(&job).unwrap();
        order.push(name(&job));
        if name(&job) != 'a' {
            bench.create(draft(name(&job)));
        }
    }
    assert_eq!(order, "abcabcabcabc");
}

pub(super) fn one_that_is_called_off_leaves_its_turn_to_nobody(bench: &mut Bench) {
    let ids = create(bench, "aaabb");
    bench.step(ids[0], hapax_core::Event::Cancel).unwrap();
    create(bench, "c");
    assert_eq!(taken_at_once(bench, 9), "babca", "whoever is at the front joined one who has left");
}

pub(super) fn those_who_come_at_once_share_as_well(bench: &mut Bench) {
    let rounds = 20;
    fill(bench, RACERS * rounds, &plain().fair("b"));
    let came = race(bench, rounds, |racer, _| racer.enqueue(plain().fair("a")).job.id);
    bench.add_ids(came.into_iter().flatten());
    assert_eq!(taken_at_once(bench, 2 * RACERS * rounds), "ba".repeat(RACERS * rounds));
}
