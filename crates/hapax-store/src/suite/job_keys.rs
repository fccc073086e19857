//! Job keys: what an incoming job does to the one that has its name, cell by cell, while no worker holds that one.

use hapax_core::unique::{JobKeyMode, Ledger};
use hapax_core::{Job, JobId, Phase, State, Timestamp, Verdict};

use super::bench::{Bench, HOUR, MINUTE, SECOND};
use super::draft::{Draft, job_key, unique};
use super::place::Place;

/// The modes that write.
const WRITING: [JobKeyMode; 2] = [JobKeyMode::Replace, JobKeyMode::PreserveRunAt];

/// A job of the name that differs from a plain one in every attribute but its start.
fn different(name: &str) -> Draft {
    job_key(name)
        .kind("work.other")
        .queue("other")
        .priority(7)
        .args("[2]")
        .meta(r#"{"m":2}"#)
        .tags(&["new"])
        .attempts(9)
        .timeout(HOUR)
        .visibility_timeout(MINUTE)
}

/// The job as it was, whatever it turned away since.
fn without_ledger(job: Job) -> Job {
    Job { ledger: Ledger::default(), ..job }
}

/// When it was asked to start.
fn start(job: &Job) -> Option<Timestamp> {
    job.spec.scheduled_at.as_ref().map(|given| given.at)
}

/// The outcomes that a holder's ledger shows.
fn outcomes(bench: &Bench, holder: JobId) -> Vec<&'static str> {
    bench.job(holder).ledger.recent().iter().map(|entry| entry.outcome).collect()
}

pub(super) fn a_free_name_creates_in_every_mode(bench: &mut Bench) {
    for mode in JobKeyMode::ALL {
        let id = bench.create(job_key(mode.name()).mode(mode));
        assert_eq!((bench.state(id), bench.job(id).key.is_some()), (State::Available, true));
    }
    assert_eq!(bench.totals().keys_held, 3);
}

pub(super) fn completed_and_cancelled_jobs_do_not_keep_their_name(bench: &mut Bench) {
    for state in [State::Completed, State::Cancelled] {
        for mode in JobKeyMode::ALL {
            bench.renew();
            let over = bench.create_in(state, job_key("k"));
            let before = bench.job(over);
            let next = bench.create(job_key("k").mode(mode));
            assert_ne!(next, over);
            assert_eq!(bench.job(over), before, "{state} {mode:?}");
        }
    }
}

pub(super) fn unsafe_dedupe_leaves_every_job_as_it_is(bench: &mut Bench) {
    for place in Place::all() {
        bench.renew();
        let holder = bench.create_at(place, job_key("k").args("[[1]]"));
        let before = bench.job(holder);
        let incoming = different("k").args("[[2]]").mode(JobKeyMode::UnsafeDedupe);
        let answer = bench.enqueue(incoming.scheduled_at(bench.now + HOUR * 3));
        assert_eq!((answer.verdict, answer.job.id), (Verdict::Existing, holder), "{place:?}");
        assert_eq!(without_ledger(bench.job(holder)), without_ledger(before), "{place:?}");
        assert_eq!(outcomes(bench, holder), ["existing"]);
    }
}

pub(super) fn unsafe_dedupe_leaves_a_running_job_as_it_is(bench: &mut Bench) {
    let holder = bench.create_in(State::Active, job_key("k"));
    let before = bench.job(holder);
    let answer = bench.enqueue(different("k").mode(JobKeyMode::UnsafeDedupe));
    assert_eq!((answer.verdict, answer.job.id), (Verdict::Existing, holder));
    assert_eq!(without_ledger(bench.job(holder)), without_ledger(before.clone()));
    bench.fail(&before).unwrap();
    assert_eq!(bench.state(holder), State::Retryable, "it keeps its retries");
}

pub(super) fn replace_gives_a_job_that_waits_every_new_attribute(bench: &mut Bench) {
    for place in Place::UNTRIED {
        bench.renew();
        let holder = bench.create_at(place, job_key("k"));
        let created_at = bench.job(holder).created_at;
        bench.pass(SECOND);
        let incoming = different("k");
        let job = bench.update(holder, incoming.clone());
        assert_eq!(*job.spec, incoming.spec, "{place:?}");
        assert_eq!(job.phase, Phase::Available { lapsed: None }, "{place:?}: it has no start to wait for");
        assert_eq!((job.created_at, job.attempt), (created_at, 0));
        assert_eq!(bench.fetch(&["other"], 9).len(), 1);
    }
}

pub(super) fn replace_moves_the_start_of_a_job_that_waits(bench: &mut Bench) {
    for place in Place::UNTRIED {
        bench.renew();
        let holder = bench.create_at(place, job_key("k"));
        let at = bench.now + MINUTE;
        let job = bench.update(holder, job_key("k").scheduled_at(at));
        assert_eq!(job.phase, Phase::Scheduled { at }, "{place:?}");
        assert_eq!(job.enqueued_at, None);
        assert_eq!(bench.fetch_ids(1), []);
        assert_eq!(bench.advance().next_due, Some(at), "the timer moved with it");
        bench.pass_and_advance(MINUTE);
        assert_eq!(bench.fetch_ids(1), [holder]);
    }
}

pub(super) fn replace_by_a_job_that_waits_for_activation_takes_the_holder_back(bench: &mut Bench) {
    for place in Place::all() {
        bench.renew();
        let holder = bench.create_at(place, job_key("k"));
        let job = bench.update(holder, job_key("k").pending());
        assert_eq!(job.phase, Phase::Pending { after: None }, "{place:?}");
        assert_eq!(bench.fetch_ids(1), []);
    }
}

pub(super) fn preserve_run_at_keeps_the_start_and_takes_everything_else(bench: &mut Bench) {
    for place in Place::UNTRIED {
        bench.renew();
        let holder = bench.create_at(place, job_key("k"));
        let before = bench.job(holder);
        bench.pass(SECOND);
        let incoming = different("k").mode(JobKeyMode::PreserveRunAt).scheduled_at(bench.now + HOUR * 9);
        let job = bench.update(holder, incoming.clone());
        assert_eq!((start(&job), &job.phase), (start(&before), &before.phase), "{place:?}");
        let mut expected = incoming.spec;
        expected.scheduled_at.clone_from(&before.spec.scheduled_at);
        assert_eq!(*job.spec, expected, "{place:?}");
        assert_eq!(job.enqueued_at, before.enqueued_at);
    }
}

pub(super) fn a_job_that_failed_before_starts_again_from_nothing(bench: &mut Bench) {
    for (place, mode) in Place::FAILED.into_iter().flat_map(|place| WRITING.map(|mode| (place, mode))) {
        bench.renew();
        let holder = bench.create_at(place, job_key("k"));
        let before = bench.job(holder);
        bench.pass(SECOND);
        let incoming = different("k").mode(mode);
        let job = bench.update(holder, incoming.clone());
        assert_eq!(*job.spec, incoming.spec, "{place:?} {mode:?}");
        assert_eq!(job.phase, Phase::Available { lapsed: None }, "{place:?} {mode:?}");
        assert_eq!((job.attempt, job.started_at, job.retry_delay), (0, None, None));
        assert_eq!(job.history.current(), None, "the error is cleared");
        assert_eq!(job.history.entries(), before.history.entries(), "the history stays");
        assert_eq!((job.fence, job.created_at), (before.fence, before.created_at));
        let running = bench.fetch(&["other"], 1).pop().unwrap();
        assert_eq!((running.attempt, running.fence), (1, before.fence + 1), "{place:?} {mode:?}");
    }
}

pub(super) fn a_job_that_failed_before_takes_the_new_start_in_either_mode(bench: &mut Bench) {
    for (place, mode) in Place::FAILED.into_iter().flat_map(|place| WRITING.map(|mode| (place, mode))) {
        bench.renew();
        let holder = bench.create_at(place, job_key("k"));
        let at = bench.now + HOUR * 5;
        let job = bench.update(holder, job_key("k").mode(mode).scheduled_at(at));
        assert_eq!(job.phase, Phase::Scheduled { at }, "{place:?} {mode:?}");
        bench.pass_and_advance(HOUR * 5);
        assert_eq!(bench.fetch_ids(1), [holder]);
    }
}

pub(super) fn a_dead_letter_that_is_updated_leaves_the_list_and_has_all_its_attempts(bench: &mut Bench) {
    let holder = bench.create(job_key("k").dies_at_once());
    let running = bench.fetch_one();
    bench.fail(&running).unwrap();
    assert_eq!(bench.totals().dead_letters, 1);
    bench.update(holder, job_key("k").attempts(2));
    assert_eq!(bench.totals().dead_letters, 0);
    let running = bench.fetch_one();
    bench.fail(&running).unwrap();
    assert_eq!(bench.state(holder), State::Retryable, "one attempt is left");
}

pub(super) fn an_answer_names_the_attributes_that_changed(bench: &mut Bench) {
    bench.create(job_key("k"));
    let names = |bench: &mut Bench, draft| match bench.enqueue(draft).verdict {
        Verdict::Updated(names) => names,
        other => panic!("{other:?}"),
    };
    assert_eq!(names(bench, job_key("k").args("[2]").tags(&["new"])), ["args", "tags"]);
    assert_eq!(names(bench, job_key("k").args("[2]").tags(&["new"])), Vec::<&str>::new());
    let kept = job_key("k").mode(JobKeyMode::PreserveRunAt).scheduled_at(bench.now + HOUR);
    assert_eq!(names(bench, kept), ["args", "tags", "job_key_mode"]);
}

pub(super) fn the_incoming_mode_decides_and_not_the_holders(bench: &mut Bench) {
    let holder = bench.create(job_key("k").mode(JobKeyMode::UnsafeDedupe));
    bench.update(holder, job_key("k").args("[2]").mode(JobKeyMode::Replace));
    let answer = bench.enqueue(job_key("k").args("[3]").mode(JobKeyMode::UnsafeDedupe));
    assert_eq!(answer.verdict, Verdict::Existing);
    assert_eq!(bench.job(holder).spec.args.as_str(), "[2]");
    assert_eq!(outcomes(bench, holder), ["updated", "existing"]);
}

pub(super) fn a_name_is_one_over_all_types_and_queues(bench: &mut Bench) {
    let holder = bench.create(job_key("k").kind("a.b").queue("here"));
    for (kind, queue) in [("a.b", "there"), ("c.d", "here"), ("e.f", "elsewhere")] {
        let job = bench.update(holder, job_key("k").kind(kind).queue(queue));
        assert_eq!((job.spec.kind.as_str(), job.spec.queue.as_str()), (kind, queue));
    }
    bench.create(job_key("K"));
    assert_eq!(bench.totals().keys_held, 2, "names differ by every letter");
}

pub(super) fn a_policy_and_a_name_of_the_same_text_do_not_meet(bench: &mut Bench) {
    bench.create(unique("k"));
    let named = bench.create(job_key("k"));
    assert_eq!(bench.enqueue(unique("k")).verdict, Verdict::Rejected);
    bench.update(named, job_key("k"));
}

pub(super) fn names_are_still_held_after_the_store_was_opened_again(bench: &mut Bench) {
    for place in Place::all() {
        bench.renew();
        let holder = bench.create_at(place, job_key("k"));
        bench.reopen();
        bench.update(holder, job_key("k").args("[2]"));
    }
}
