//! Batches: all or nothing, each job seeing the ones before it; and commits, whose operations stand alone.

use hapax_core::unique::{Field, FieldSet, Replacement, Strategy};
use hapax_core::{Event, Incoming, Refusal, State, StateSet, Verdict};

use super::bench::{Bench, HOUR, SECOND};
use super::draft::{Draft, plain, unique};
use super::picture::Picture;
use super::wait;
use crate::{Action, Done, Op};

/// The batch is refused at that job, and nothing of it is left.
#[track_caller]
fn refused_whole(bench: &mut Bench, drafts: Vec<Draft>, index: usize, refusal: Refusal) {
    let before = Picture::of(bench);
    let expected = Refusal::InBatch { index, refusal: Box::new(refusal) };
    assert_eq!(bench.try_enqueue_all(drafts), Err(expected));
    assert_eq!(Picture::of(bench), before);
    bench.reopen();
    assert_eq!(Picture::of(bench), before, "nor is anything after a restart");
}

fn key(draft: &Draft) -> hapax_core::unique::Key {
    draft.key.expect("a unique draft")
}

pub(super) fn a_batch_creates_all_of_its_jobs(bench: &mut Bench) {
    let admissions = bench.try_enqueue_all(vec![plain(), unique("k"), plain().queue("other")]).unwrap();
    assert_eq!(admissions.len(), 3);
    for (admission, id) in admissions.iter().zip(bench.ids()) {
        assert_eq!((&admission.verdict, admission.job.id), (&Verdict::Created, *id));
        assert_eq!(bench.job(*id), admission.job);
    }
}

pub(super) fn an_empty_batch_is_no_trouble(bench: &mut Bench) {
    assert_eq!(bench.try_enqueue_all(Vec::new()), Ok(Vec::new()));
}

pub(super) fn a_rejected_job_refuses_the_whole_batch(bench: &mut Bench) {
    let holder = bench.create_in(State::Active, unique("k"));
    bench.pause("quiet");
    let refusal = Refusal::Duplicate { existing: holder, state: State::Active, key: key(&unique("k")) };
    refused_whole(bench, vec![plain(), plain().queue("made"), unique("k"), plain()], 2, refusal);
    assert_eq!(bench.queue("made"), None);
    assert_eq!(bench.fetch(&["default", "made"], 9), []);
}

pub(super) fn a_taken_id_refuses_the_whole_batch(bench: &mut Bench) {
    let taken = bench.create(plain());
    let incoming: Vec<Incoming> = vec![plain().incoming(bench.new_id()), plain().incoming(taken)];
    let refusal = Box::new(Refusal::IdTaken { id: taken, state: State::Available });
    let answer = bench.act(Action::EnqueueAll { incoming, memo: None });
    assert_eq!(answer, Err(Refusal::InBatch { index: 1, refusal }));
    assert_eq!(bench.fetch_ids(9), [taken]);
}

pub(super) fn one_id_twice_in_a_batch_refuses_it(bench: &mut Bench) {
    let id = bench.new_id();
    let incoming = vec![plain().incoming(id), plain().incoming(id)];
    let refusal = Box::new(Refusal::Twin { of: 0 });
    let answer = bench.act(Action::EnqueueAll { incoming, memo: None });
    assert_eq!(answer, Err(Refusal::InBatch { index: 1, refusal }));
    assert_eq!(bench.get(id), None);
}

pub(super) fn a_refused_batch_takes_back_every_kind_of_change(bench: &mut Bench) {
    let args = Replacement::everywhere(FieldSet::default().with(Field::Args).with(Field::Queue));
    let at = bench.now + HOUR;
    bench.create(unique("noted"));
    bench.create(unique("overwritten"));
    bench.create(unique("later").scheduled_at(at));
    let replaced = bench.create(unique("replaced"));
    let holder = bench.create(unique("k"));
    let running = bench.create_in(State::Active, unique("running").priority(9));
    bench.pass(SECOND);
    let drafts = vec![
        unique("noted").on_conflict(Strategy::Ignore),
        unique("overwritten").args("[2]").queue("moved").replacing(args),
        unique("later").args("[2]").on_conflict(Strategy::ReplaceExceptSchedule),
        unique("replaced").on_conflict(Strategy::Replace),
        unique("running").on_conflict(Strategy::Replace),
        unique("k"),
    ];
    let refusal = Refusal::Duplicate { existing: holder, state: State::Available, key: key(&unique("k")) };
    refused_whole(bench, drafts, 5, refusal);
    assert_eq!([replaced, running].map(|id| bench.state(id)), [State::Available, State::Active]);
}

pub(super) fn a_refused_batch_leaves_the_line_as_it_was(bench: &mut Bench) {
    let ids = [(); 3].map(|()| bench.create(plain()));
    let moved = bench.create(unique("k"));
    bench.create(unique("taken").queue("elsewhere"));
    let priority = Replacement::everywhere(FieldSet::default().with(Field::Priority));
    let drafts = vec![unique("k").priority(9).replacing(priority), plain().priority(50), unique("taken")];
    bench.try_enqueue_all(drafts).unwrap_err();
    let last = bench.create(plain());
    assert_eq!(bench.fetch_ids(9), [ids[0], ids[1], ids[2], moved, last]);
}

pub(super) fn a_duplicate_inside_a_batch_refuses_it(bench: &mut Bench) {
    let refusal = bench.try_enqueue_all(vec![unique("k"), plain(), unique("k")]).unwrap_err();
    let twin = Box::new(Refusal::Twin { of: 0 });
    assert_eq!(refusal, Refusal::InBatch { index: 2, refusal: twin }, "no id of a job that does not exist");
    bench.create(unique("k"));
}

pub(super) fn a_duplicate_inside_a_batch_may_be_answered_by_an_earlier_job(bench: &mut Bench) {
    let ignoring = || unique("k").on_conflict(Strategy::Ignore);
    let admissions = bench.try_enqueue_all(vec![ignoring(), plain(), ignoring()]).unwrap();
    let first = bench.ids()[0];
    assert_eq!((&admissions[2].verdict, admissions[2].job.id), (&Verdict::Existing, first));
    assert_eq!(bench.job(first).ledger.count(), 1);
    assert_eq!(bench.totals().counts.of(State::Available), 2);
}

pub(super) fn a_job_may_replace_an_earlier_one_of_its_batch(bench: &mut Bench) {
    let replacing = || unique("k").on_conflict(Strategy::Replace);
    let admissions = bench.try_enqueue_all(vec![replacing(), replacing(), replacing()]).unwrap();
    let ids: Vec<_> = bench.ids().to_vec();
    assert_eq!(admissions[0].verdict, Verdict::Created);
    assert_eq!(admissions[1].verdict, Verdict::Replaced(vec![ids[0]]));
    assert_eq!(admissions[2].verdict, Verdict::Replaced(vec![ids[1]]));
    assert_eq!(bench.fetch_ids(9), [ids[2]]);
}

pub(super) fn a_batch_may_be_answered_by_holders_in_part(bench: &mut Bench) {
    let holder = bench.create_in(State::Completed, unique("k"));
    let draft = unique("k").states(StateSet::ALL).on_conflict(Strategy::Ignore);
    let admissions = bench.try_enqueue_all(vec![plain(), draft]).unwrap();
    assert_eq!((&admissions[1].verdict, admissions[1].job.id), (&Verdict::Existing, holder));
}

pub(super) fn operations_of_one_commit_stand_alone_and_see_each_other(bench: &mut Bench) {
    let [a, b, c] = [(); 3].map(|()| bench.new_id());
    let enqueue = |draft: Draft, id| Action::Enqueue { incoming: Box::new(draft.incoming(id)), memo: None };
    let actions = [
        enqueue(unique("k"), a),
        enqueue(unique("k"), b),
        Action::Step { id: b, event: Event::Cancel },
        Action::Step { id: a, event: Event::Cancel },
        enqueue(unique("k"), c),
        enqueue(plain(), c),
    ];
    let ops = actions.into_iter().map(|action| Op { now: bench.now, action }).collect();
    let answers = wait(bench.store().commit(ops)).unwrap();
    let verdict = |index: usize| match &answers[index] {
        Ok(Done::Enqueued(admission)) => admission.verdict.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!([verdict(0), verdict(1), verdict(4)], [Verdict::Created, Verdict::Rejected, Verdict::Created]);
    assert_eq!(answers[2], Err(Refusal::NotFound(b)));
    assert!(answers[3].is_ok());
    assert_eq!(answers[5], Err(Refusal::IdTaken { id: c, state: State::Available }));
    assert_eq!(bench.fetch_ids(9), [c]);
}

pub(super) fn an_empty_commit_is_no_trouble(bench: &mut Bench) {
    assert_eq!(wait(bench.store().commit(Vec::new())).unwrap(), []);
}
