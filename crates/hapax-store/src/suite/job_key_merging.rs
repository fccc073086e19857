//! Merging: payloads that are arrays grow, all others are replaced, and nothing grows without end.

use hapax_core::unique::JobKeyMode;
use hapax_core::{Refusal, Rules, State};

use super::bench::{Bench, HOUR, SECOND};
use super::draft::{Draft, job_key, unique};
use super::picture::Picture;
use super::place::Place;

/// The arguments of the only job of the name, after one with the old ones took over the new.
fn merged(bench: &mut Bench, place: Place, mode: JobKeyMode, old: &str, new: &str) -> String {
    bench.renew();
    let holder = bench.create_at(place, job_key("k").args(old));
    let job = bench.update(holder, job_key("k").args(new).mode(mode));
    bench.reopen();
    assert_eq!(bench.job(holder).spec.args, job.spec.args);
    job.spec.args.as_str().to_owned()
}

/// Whatever the job waits for, in either mode that writes.
#[track_caller]
fn becomes(bench: &mut Bench, old: &str, new: &str, expected: &str) {
    for place in Place::all() {
        for mode in [JobKeyMode::Replace, JobKeyMode::PreserveRunAt] {
            assert_eq!(merged(bench, place, mode, old, new), expected, "{place:?} {mode:?}: {old} and {new}");
        }
    }
}

pub(super) fn an_array_is_appended_to_an_array(bench: &mut Bench) {
    becomes(bench, "[[1]]", "[[2]]", "[[1,2]]");
    becomes(bench, "[[]]", "[[2]]", "[[2]]");
    becomes(bench, "[[1]]", "[[]]", "[[1]]");
    becomes(bench, "[[[1]]]", "[[[2],[3]]]", "[[[1],[2],[3]]]");
    becomes(bench, r#"[[{"id":1}]]"#, r#"[["two",null]]"#, r#"[[{"id":1},"two",null]]"#);
}

pub(super) fn an_array_takes_the_place_of_anything_else(bench: &mut Bench) {
    for old in [r#"[{"id":1}]"#, "[1]", "[]", "[[1],[2]]", r#"{"a":[1]}"#] {
        becomes(bench, old, "[[3]]", "[[3]]");
    }
}

pub(super) fn anything_else_takes_the_place_of_an_array(bench: &mut Bench) {
    for new in [r#"[{"id":1}]"#, "[1]", "[]", "[[1],[2]]", r#"{"a":[1]}"#, r#"["[1]"]"#] {
        becomes(bench, "[[3]]", new, new);
    }
}

pub(super) fn what_is_no_array_is_replaced(bench: &mut Bench) {
    becomes(bench, r#"[{"a":1}]"#, r#"[{"b":2}]"#, r#"[{"b":2}]"#);
    becomes(bench, r#"{"a":[1]}"#, r#"{"a":[2]}"#, r#"{"a":[2]}"#);
    becomes(bench, "[[1],[2]]", "[[3],[4]]", "[[3],[4]]");
}

pub(super) fn every_item_keeps_its_own_text(bench: &mut Bench) {
    let old = r#"[ [ 1.0, 1e3 , 12345678901234567890, {"b" : 1, "a":-0} ] ]"#;
    let new = r#"[["\u00e9",1E3]]"#;
    let expected = r#"[[1.0, 1e3 , 12345678901234567890, {"b" : 1, "a":-0},"\u00e9",1E3]]"#;
    assert_eq!(merged(bench, Place::Scheduled, JobKeyMode::Replace, old, new), expected);
}

pub(super) fn arrays_grow_in_the_order_of_their_arrival(bench: &mut Bench) {
    let holder = bench.create(job_key("k").args("[[0]]").scheduled_at(bench.now + HOUR));
    for number in 1..20 {
        bench.pass(SECOND);
        let draft = job_key("k").mode(JobKeyMode::PreserveRunAt).args(&format!("[[{number}]]"));
        bench.update(holder, draft);
    }
    let items: Vec<String> = (0..20).map(|number: u8| number.to_string()).collect();
    assert_eq!(bench.job(holder).spec.args.as_str(), format!("[[{}]]", items.join(",")));
    assert_eq!(bench.job(holder).ledger.count(), 19);
}

pub(super) fn unsafe_dedupe_merges_nothing(bench: &mut Bench) {
    let holder = bench.create(job_key("k").args("[[1]]"));
    bench.enqueue(job_key("k").args("[[2]]").mode(JobKeyMode::UnsafeDedupe));
    assert_eq!(bench.job(holder).spec.args.as_str(), "[[1]]");
}

pub(super) fn no_other_strategy_merges(bench: &mut Bench) {
    use hapax_core::unique::{Field, FieldSet, Replacement, Strategy};
    let fields = Replacement::everywhere(FieldSet::default().with(Field::Args));
    let incoming = || unique("k").args("[[2]]");
    for draft in [incoming().on_conflict(Strategy::ReplaceExceptSchedule), incoming().replacing(fields)] {
        bench.renew();
        let holder = bench.create_in(State::Scheduled, unique("k").args("[[1]]"));
        assert_eq!(bench.update(holder, draft).spec.args.as_str(), "[[2]]");
    }
}

fn limit(bench: &mut Bench, joined_bytes_max: usize) {
    bench.restart(Rules { joined_bytes_max, ..bench.rules().clone() });
}

/// A named job whose only argument is an array with one text of so many bytes; its arguments have six bytes more.
fn sized(bytes: usize) -> Draft {
    job_key("k").args(&format!("[[\"{}\"]]", "x".repeat(bytes)))
}

pub(super) fn a_payload_that_would_grow_too_large_is_refused_and_changes_nothing(bench: &mut Bench) {
    limit(bench, 30);
    for place in Place::all() {
        bench.renew();
        let holder = bench.create_at(place, sized(10));
        let before = Picture::of(bench);
        // Together: four brackets, a comma, and two texts in quotes.
        let refusal = Refusal::PayloadFull { id: Some(holder), bytes: 4 + 1 + 12 + 14, max: 30 };
        assert_eq!(bench.try_enqueue(sized(12).queue("made")), Err(refusal), "{place:?}");
        assert_eq!(Picture::of(bench), before, "{place:?}: no entry in a ledger, no queue, nothing");
    }
}

pub(super) fn a_payload_may_grow_to_the_limit(bench: &mut Bench) {
    limit(bench, 30);
    let holder = bench.create(sized(10));
    let job = bench.update(holder, sized(11));
    assert_eq!(job.spec.args.as_str().len(), 30);
    let refusal = Refusal::PayloadFull { id: Some(holder), bytes: 33, max: 30 };
    assert_eq!(bench.try_enqueue(sized(0)), Err(refusal));
    bench.update(holder, job_key("k").args("[[]]"));
}

pub(super) fn a_payload_that_is_not_joined_may_be_larger_than_the_limit(bench: &mut Bench) {
    limit(bench, 30);
    let large = format!("[{{\"text\":\"{}\"}}]", "x".repeat(100));
    let holder = bench.create(sized(10));
    bench.update(holder, job_key("k").args(&large));
    bench.update(holder, sized(100));
    let new = bench.create(job_key("new").args(&large));
    bench.update(new, job_key("new").args(&large));
}

pub(super) fn a_payload_that_is_full_refuses_a_batch_and_one_item_of_a_list(bench: &mut Bench) {
    limit(bench, 30);
    let holder = bench.create(sized(10));
    let full = Refusal::PayloadFull { id: Some(holder), bytes: 31, max: 30 };
    let batch = bench.try_enqueue_all(vec![job_key("a"), sized(12)]);
    assert_eq!(batch, Err(Refusal::InBatch { index: 1, refusal: Box::new(full.clone()) }));
    assert_eq!(bench.totals().keys_held, 1);
    let list = bench.enqueue_each(vec![job_key("a"), sized(12), sized(1)]);
    assert_eq!(list[1], Err(full));
    assert!(list[0].is_ok() && list[2].is_ok());
    assert_eq!(bench.job(holder).ledger.count(), 1);
}

pub(super) fn a_payload_that_is_full_within_a_batch_names_no_job_that_is_not_stored(bench: &mut Bench) {
    limit(bench, 30);
    let batch = bench.try_enqueue_all(vec![job_key("a"), sized(10), sized(12)]);
    let full = Box::new(Refusal::PayloadFull { id: None, bytes: 31, max: 30 });
    assert_eq!(batch, Err(Refusal::InBatch { index: 2, refusal: full }));
    assert_eq!(bench.totals().keys_held, 0);
    let list = bench.enqueue_each(vec![sized(10), sized(12)]);
    let first = list[0].as_ref().unwrap().job.id;
    assert_eq!(list[1], Err(Refusal::PayloadFull { id: Some(first), bytes: 31, max: 30 }), "which is stored");
}
