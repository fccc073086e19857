//! The `replace` member: a duplicate overwrites fields of the holder.

use hapax_core::unique::{Field, FieldSet, Replacement};
use hapax_core::{Job, JobId, Phase, Spec, State, StateSet, Verdict};

use super::bench::{Bench, HOUR, MINUTE, SECOND};
use super::draft::{Draft, unique};

/// A duplicate that differs from the holder in every field and overwrites these, whatever the holder does.
fn overwriting(bench: &Bench, fields: &[Field]) -> Draft {
    unique("k")
        .states(StateSet::ALL)
        .kind("work.other")
        .queue("other")
        .priority(9)
        .args("[2]")
        .meta(r#"{"m":2}"#)
        .tags(&["new"])
        .attempts(9)
        .scheduled_at(bench.now + MINUTE)
        .replacing(Replacement::everywhere(fields.iter().copied().collect()))
}

/// The holder's attributes with one field of the duplicate.
fn with_field(old: &Spec, new: &Spec, field: Field) -> Spec {
    let mut spec = old.clone();
    match field {
        Field::Args => spec.args = new.args.clone(),
        Field::Meta => spec.meta = new.meta.clone(),
        Field::Priority => spec.priority = new.priority,
        Field::Queue => spec.queue = new.queue.clone(),
        Field::ScheduledAt => spec.scheduled_at.clone_from(&new.scheduled_at),
        Field::Tags => spec.tags.clone_from(&new.tags),
        Field::MaxAttempts => spec.retry.max_attempts = new.retry.max_attempts,
        Field::Type => spec.kind = new.kind.clone(),
    }
    spec
}

/// Overwrites these fields of the only holder of `k`.
#[track_caller]
fn update(bench: &mut Bench, holder: JobId, fields: &[Field]) -> Job {
    let incoming = overwriting(bench, fields);
    update_by(bench, holder, incoming, fields)
}

#[track_caller]
fn update_by(bench: &mut Bench, holder: JobId, incoming: Draft, fields: &[Field]) -> Job {
    let answer = bench.enqueue(incoming);
    assert_eq!(answer.verdict, Verdict::Updated(fields.iter().map(|field| field.name()).collect()));
    assert_eq!(answer.job.id, holder);
    assert_eq!(bench.job(holder), answer.job);
    answer.job
}

pub(super) fn only_the_listed_field_is_overwritten_in_every_state(bench: &mut Bench) {
    for state in State::ALL {
        for field in Field::ALL {
            bench.restart(bench.rules().clone());
            let holder = bench.create_in(state, unique("k"));
            let before = bench.job(holder);
            let after = update(bench, holder, &[field]);
            let new = overwriting(bench, &[field]).spec;
            assert_eq!(*after.spec, with_field(&before.spec, &new, field), "{field:?} of a {state} job");
            if field != Field::ScheduledAt {
                assert_eq!(after.phase, before.phase, "{field:?} of a {state} job");
            }
        }
    }
}

pub(super) fn several_fields_are_overwritten_at_once(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    let job = update(bench, holder, &[Field::Args, Field::Priority, Field::Tags]);
    assert_eq!((job.spec.args.as_str(), job.spec.priority.get(), job.spec.tags.len()), ("[2]", 9, 1));
}

pub(super) fn a_holder_in_a_state_that_is_not_listed_stays_as_it_is(bench: &mut Bench) {
    let args = FieldSet::default().with(Field::Args);
    let holder = bench.create(unique("k"));
    let listed = Replacement::default().with(State::Scheduled, args);
    let answer = bench.enqueue(unique("k").args("[2]").replacing(listed));
    assert_eq!((answer.verdict, answer.job.id), (Verdict::Existing, holder));
    assert_eq!(bench.job(holder).spec.args.as_str(), "[]");
    assert_eq!(bench.job(holder).ledger.count(), 1);
    let listed = listed.with(State::Available, args);
    assert_eq!(
        bench.enqueue(unique("k").args("[2]").replacing(listed)).verdict,
        Verdict::Updated(vec!["args"])
    );
}

pub(super) fn a_later_start_takes_an_available_job_out_of_the_line(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    let job = update(bench, holder, &[Field::ScheduledAt]);
    assert_eq!(job.phase, Phase::Scheduled { at: bench.now + MINUTE });
    assert_eq!(bench.fetch_ids(1), []);
    bench.pass(MINUTE);
    bench.advance();
    assert_eq!(bench.fetch_ids(1), [holder]);
}

pub(super) fn a_start_that_has_come_makes_a_scheduled_job_available(bench: &mut Bench) {
    let holder = bench.create(unique("k").scheduled_at(bench.now + HOUR));
    let fields = [Field::ScheduledAt];
    let incoming = overwriting(bench, &fields).scheduled_at(bench.now);
    update_by(bench, holder, incoming, &fields);
    assert_eq!(bench.fetch_ids(1), [holder]);
}

pub(super) fn a_new_start_moves_the_timer_of_a_scheduled_job(bench: &mut Bench) {
    let holder = bench.create(unique("k").scheduled_at(bench.now + HOUR));
    update(bench, holder, &[Field::ScheduledAt]);
    assert_eq!(bench.advance().next_due, Some(bench.now + MINUTE));
    bench.pass(MINUTE);
    assert_eq!(bench.advance().changes.len(), 1);
    assert_eq!(bench.state(holder), State::Available);
}

pub(super) fn a_new_start_moves_the_next_attempt_of_a_retryable_job(bench: &mut Bench) {
    let holder = bench.create_in(State::Retryable, unique("k"));
    let job = update(bench, holder, &[Field::ScheduledAt]);
    assert_eq!(job.phase, Phase::Retryable { at: bench.now + MINUTE });
    bench.pass(SECOND * 30);
    assert_eq!(bench.advance().changes, []);
    bench.pass(SECOND * 30);
    bench.advance();
    assert_eq!(bench.state(holder), State::Available);
}

pub(super) fn a_running_attempt_goes_on_while_its_job_is_overwritten(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    let running = bench.fetch_one();
    let job = update(bench, holder, &[Field::Args, Field::Queue, Field::ScheduledAt]);
    assert_eq!(job.phase, running.phase);
    assert_eq!(bench.queue("other").unwrap().counts.of(State::Active), 1);
    assert_eq!(bench.queue("default").unwrap().counts.of(State::Active), 0);
    bench.heartbeat(&running).unwrap();
    bench.acknowledge(&running).unwrap();
    assert_eq!(bench.state(holder), State::Completed);
}

pub(super) fn a_job_that_is_moved_keeps_its_place_in_line(bench: &mut Bench) {
    let moved = bench.create(unique("k"));
    let here = bench.create(unique("here").queue("other"));
    update(bench, moved, &[Field::Queue]);
    let order: Vec<_> = bench.fetch(&["other"], 2).iter().map(|job| job.id).collect();
    assert_eq!(order, [moved, here], "by the moment each became available");
    assert_eq!(bench.fetch_ids(1), []);
}

pub(super) fn a_job_whose_priority_rises_passes_the_others(bench: &mut Bench) {
    let first = bench.create(unique("first"));
    let second = bench.create(unique("k"));
    update(bench, second, &[Field::Priority]);
    assert_eq!(bench.fetch_ids(2), [second, first]);
}

pub(super) fn the_holder_keeps_its_key_when_its_type_changes(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    update(bench, holder, &[Field::Type]);
    bench.reopen();
    assert_eq!(bench.enqueue(unique("k")).job.id, holder);
    assert_eq!(bench.job(holder).spec.kind.as_str(), "work.other");
}
