//! Workflows: each end of a job lets others go, calls them off or makes them unnecessary, in the same commit.

use hapax_core::workflow::{Callback, Mark, Shape, WorkflowState};
use hapax_core::{Directive, Event, Handback, Job, Refusal, State, TimeLimits};

use super::bench::{Bench, DAY, HOUR, SECOND};
use super::draft::{Draft, plain, unique};
use crate::Change;

use Callback::{OnComplete, OnFailure, OnSuccess};

fn job(draft: Draft) -> Shape<Draft> {
    Shape::Job(draft)
}

fn jobs(count: usize) -> Vec<Shape<Draft>> {
    vec![job(plain()); count]
}

fn batch(count: usize) -> Shape<Draft> {
    let callbacks =
        [OnComplete, OnSuccess, OnFailure].map(|callback| (callback, plain().queue(queue_of(callback))));
    Shape::Batch { jobs: jobs(count), callbacks: callbacks.to_vec() }
}

fn queue_of(callback: Callback) -> &'static str {
    match callback {
        OnComplete => "complete",
        OnSuccess => "success",
        OnFailure => "failure",
    }
}

#[track_caller]
fn give_up(bench: &Bench, job: &Job) -> Change {
    bench.fail_with(job, Directive::Discard, Handback::Failed).unwrap()
}

fn parent_results(job: &Job) -> String {
    let extra = hapax_core::json::read(job.spec.extra.as_str(), hapax_core::json::Limits::DEFAULT).unwrap();
    extra.get("parent_results").map(|node| node.raw.to_owned()).unwrap_or_default()
}

#[track_caller]
fn followers(change: &Change) -> Vec<(State, State)> {
    let Change::To { followers, .. } = change else { panic!("{change:?}") };
    followers.iter().map(|(before, job)| (*before, job.state())).collect()
}

pub(super) fn a_chain_goes_step_by_step_and_hands_results_on(bench: &mut Bench) {
    let id = bench.start(Shape::Chain(jobs(3)));
    let first = bench.fetch_one();
    assert_eq!((first.id, parent_results(&first)), (id.job(0), String::new()));
    assert_eq!(bench.fetch_ids(9), []);
    let change = bench.complete(&first, r#"{"report_id": 7.0}"#);
    assert_eq!(followers(&change), [(State::Pending, State::Available)]);
    let second = bench.fetch_one();
    assert_eq!((second.id, &*parent_results(&second)), (id.job(1), r#"[{"report_id": 7.0}]"#));
    bench.acknowledge(&second).unwrap();
    bench.reopen();
    let third = bench.fetch_one();
    assert_eq!((third.id, &*parent_results(&third)), (id.job(2), r#"[{"report_id": 7.0},null]"#));
    assert_eq!(bench.workflow(id).state, WorkflowState::Running);
    let Change::To { workflow, .. } = bench.complete(&third, "[]") else { panic!("it ended") };
    assert_eq!(workflow.as_deref(), Some(&bench.workflow(id)), "the change says where it stands");
    assert_eq!((bench.workflow(id).state, bench.marks(id)), (WorkflowState::Completed, "ccc".to_owned()));
    assert_eq!(bench.workflow(id).ended_at, Some(bench.now));
}

pub(super) fn limits_on_the_time_of_a_step_count_from_its_release(bench: &mut Bench) {
    let limits = TimeLimits { total: Some(HOUR), enqueue: Some(SECOND * 10), ..TimeLimits::default() };
    let limited = Draft { spec: hapax_core::Spec { limits, ..plain().spec }, ..plain() };
    let id = bench.start(Shape::Chain(vec![job(plain()), job(limited.clone()), job(limited)]));
    bench.pass_and_advance(HOUR * 2);
    assert_eq!(bench.job(id.job(1)).state(), State::Pending, "it could not start before");
    let first = bench.fetch_one();
    bench.acknowledge(&first).unwrap();
    bench.reopen();
    bench.pass_and_advance(SECOND * 9);
    let second = bench.fetch_one();
    assert_eq!(second.id, id.job(1));
    bench.acknowledge(&second).unwrap();
    bench.pass_and_advance(SECOND * 10);
    assert_eq!(bench.job(id.job(2)).state(), State::Discarded);
}

pub(super) fn a_chain_stops_at_a_failure(bench: &mut Bench) {
    let id = bench.start(Shape::Chain(jobs(4)));
    bench.complete_one();
    let second = bench.fetch_one();
    let change = give_up(bench, &second);
    assert_eq!(followers(&change), [(State::Pending, State::Cancelled), (State::Pending, State::Cancelled)]);
    assert_eq!((bench.marks(id), bench.workflow(id).state), ("cfxx".to_owned(), WorkflowState::Failed));
    assert_eq!((bench.state(id.job(2)), bench.fetch_ids(9)), (State::Cancelled, vec![]));
}

pub(super) fn a_retry_is_no_end(bench: &mut Bench) {
    let id = bench.start(Shape::Chain(vec![job(plain().attempts(2)), job(plain())]));
    let first = bench.fetch_one();
    assert_eq!(followers(&bench.fail(&first).unwrap()), []);
    assert_eq!(bench.marks(id), "r.");
    bench.pass_and_advance(SECOND);
    let again = bench.fetch_one();
    bench.fail(&again).unwrap();
    assert_eq!(bench.marks(id), "fx");
}

pub(super) fn a_group_ends_with_its_last_job(bench: &mut Bench) {
    let id = bench.start(Shape::Group(jobs(3)));
    let running = bench.fetch(&["default"], 9);
    assert_eq!(running.len(), 3);
    give_up(bench, &running[1]);
    assert_eq!((bench.marks(id), bench.workflow(id).state), ("rfr".to_owned(), WorkflowState::Running));
    bench.acknowledge(&running[0]).unwrap();
    bench.acknowledge(&running[2]).unwrap();
    assert_eq!(bench.workflow(id).state, WorkflowState::Failed);
    let id = bench.start(Shape::Group(jobs(2)));
    let _ = (bench.complete_one(), bench.complete_one());
    assert_eq!(bench.workflow(id).state, WorkflowState::Completed);
}

pub(super) fn callbacks_run_as_the_jobs_of_a_batch_ended(bench: &mut Bench) {
    let id = bench.start(batch(2));
    let running = bench.fetch(&["default"], 9);
    bench.complete(&running[0], "1");
    assert_eq!(bench.fetch(&["complete", "success", "failure"], 9), []);
    let change = bench.complete(&running[1], r#""two""#);
    assert_eq!(followers(&change), [(State::Pending, State::Available); 2]);
    assert_eq!(bench.get(id.job(4)), None, "a callback that is not needed leaves nothing");
    let called = bench.fetch(&["complete", "success", "failure"], 9);
    assert_eq!(called.iter().map(|job| job.id).collect::<Vec<_>>(), [id.job(2), id.job(3)]);
    assert!(called.iter().all(|job| parent_results(job) == r#"[1,"two"]"#));
    for job in &called {
        bench.acknowledge(job).unwrap();
    }
    assert_eq!((bench.marks(id), bench.workflow(id).state), ("ccccs".to_owned(), WorkflowState::Completed));

    let id = bench.start(batch(2));
    let running = bench.fetch(&["default"], 9);
    bench.complete(&running[0], "1");
    give_up(bench, &running[1]);
    let called = bench.fetch(&["complete", "success", "failure"], 9);
    assert_eq!(called.iter().map(|job| job.id).collect::<Vec<_>>(), [id.job(2), id.job(4)]);
    assert!(called.iter().all(|job| parent_results(job) == "[1,null]"));
}

pub(super) fn a_job_ends_for_its_workflow_in_every_way(bench: &mut Bench) {
    let ways: [fn(&mut Bench, &Job); 4] = [
        |bench, job| drop(bench.step(job.id, Event::Cancel).unwrap()),
        |bench, job| drop(give_up(bench, job)),
        |bench, _| bench.pass_and_advance(HOUR),
        |bench, job| {
            let duplicate = unique("k").on_conflict(hapax_core::unique::Strategy::Replace).queue("other");
            assert_eq!(bench.enqueue(duplicate).changed[0].1.id, job.id);
        },
    ];
    for way in ways {
        let first = unique("k").attempts(1);
        let id = bench.start(Shape::Chain(vec![job(first), job(plain())]));
        let running = bench.fetch_one();
        way(bench, &running);
        assert_eq!(
            (bench.workflow(id).state, bench.state(id.job(1))),
            (WorkflowState::Failed, State::Cancelled)
        );
        bench.renew();
    }
}

pub(super) fn an_expired_step_ends_its_chain(bench: &mut Bench) {
    // A claim may leave it to the chores, but gives it to nobody.
    for claimed in [true, false] {
        let expires = bench.now + SECOND;
        let id = bench.start(Shape::Chain(vec![job(plain().expires_at(expires)), job(plain())]));
        bench.pass(HOUR);
        if claimed {
            assert_eq!(bench.fetch_ids(9), []);
        }
        let _ = bench.advance();
        assert_eq!((bench.marks(id), bench.state(id.job(1))), ("fx".to_owned(), State::Cancelled));
        bench.renew();
    }
}

pub(super) fn a_replaced_step_tells_how_its_workflow_stands(bench: &mut Bench) {
    let id = bench.start(Shape::Chain(vec![job(unique("k")), job(plain())]));
    let duplicate = unique("k").on_conflict(hapax_core::unique::Strategy::Replace);
    let admission = bench.enqueue(duplicate);
    let changed: Vec<_> = admission.changed.iter().map(|(before, job)| (*before, job.id)).collect();
    assert_eq!(changed, [(State::Available, id.job(0)), (State::Pending, id.job(1))]);
    assert_eq!(admission.workflows, [bench.workflow(id)]);
}

pub(super) fn an_update_in_place_leaves_a_step_in_its_workflow(bench: &mut Bench) {
    use hapax_core::unique::Strategy;
    let at = bench.now + HOUR;
    let id = bench.start(Shape::Chain(vec![job(unique("k").scheduled_at(at)), job(plain())]));
    bench.enqueue(unique("k").on_conflict(Strategy::ReplaceExceptSchedule).args("[2]"));
    bench.pass_and_advance(HOUR);
    let running = bench.fetch_one();
    assert_eq!((running.id, running.spec.args.as_str()), (id.job(0), "[2]"));
    bench.acknowledge(&running).unwrap();
    assert_eq!(bench.fetch_ids(9), [id.job(1)]);
}

pub(super) fn nested_forms_and_graphs_go_their_way(bench: &mut Bench) {
    let inner = Shape::Group(vec![job(plain()), Shape::Chain(jobs(2))]);
    let id = bench.start(Shape::Chain(vec![job(plain()), inner, job(plain())]));
    let mut order = Vec::new();
    while let Some(job) = bench.fetch(&["default"], 1).pop() {
        order.push(job.id);
        bench.complete(&job, &format!("{}", order.len()));
    }
    assert_eq!(order, [0, 1, 2, 3, 4].map(|step| id.job(step)));
    assert_eq!(parent_results(&bench.job(id.job(4))), "[1,[2,[3,4]]]");
    assert_eq!(bench.workflow(id).state, WorkflowState::Completed);
}

pub(super) fn a_workflow_is_called_off_but_what_runs_may_end(bench: &mut Bench) {
    let chain = Shape::Chain(vec![Shape::Group(jobs(2)), job(plain())]);
    let id = bench.start(chain);
    let running = bench.fetch_one();
    let followed = bench.cancel_workflow(id).unwrap();
    assert_eq!(followed.workflow, bench.workflow(id));
    assert_eq!(followed.followers.len(), 2);
    assert_eq!((bench.marks(id), bench.workflow(id).state), ("rxx".to_owned(), WorkflowState::Cancelled));
    assert_eq!((bench.state(id.job(1)), bench.fetch_ids(9)), (State::Cancelled, vec![]));
    assert_eq!(followers(&bench.complete(&running, "1")), []);
    assert_eq!((bench.marks(id), bench.workflow(id).state), ("cxx".to_owned(), WorkflowState::Cancelled));
    let state = WorkflowState::Cancelled;
    assert_eq!(bench.cancel_workflow(id), Err(Refusal::WorkflowEnded { id, state }));
}

pub(super) fn one_refused_job_refuses_the_workflow(bench: &mut Bench) {
    bench.create(unique("k"));
    let before = bench.totals();
    let refusal =
        bench.try_start(Shape::Chain(vec![job(plain().queue("new")), job(unique("k"))])).unwrap_err();
    assert!(matches!(refusal, Refusal::InWorkflow { index: 1, .. }), "{refusal:?}");
    assert_eq!((bench.totals(), bench.queue("new")), (before, None));
    assert_eq!(bench.fetch_ids(9).len(), 1);
}

pub(super) fn steps_start_when_their_time_has_come(bench: &mut Bench) {
    let at = bench.now + HOUR;
    let id = bench.start(Shape::Chain(vec![job(plain()), job(plain().scheduled_at(at))]));
    bench.complete_one();
    assert_eq!((bench.state(id.job(1)), bench.marks(id)), (State::Scheduled, "cr".to_owned()));
    bench.pass_and_advance(HOUR);
    assert_eq!(bench.fetch_ids(1), [id.job(1)]);
}

pub(super) fn an_ended_workflow_is_kept_and_then_forgotten(bench: &mut Bench) {
    let id = bench.start(Shape::Chain(jobs(1)));
    bench.complete_one();
    let kept = bench.rules().retention.completed;
    bench.pass_almost(kept);
    let _ = bench.advance();
    assert!(bench.find_workflow(id).is_some());
    bench.pass(SECOND);
    let _ = bench.advance();
    assert_eq!((bench.find_workflow(id), bench.get(id.job(0))), (None, None));
    let id = bench.start(Shape::Chain(jobs(2)));
    bench.complete_one();
    bench.pass_and_advance(DAY * 100);
    assert_eq!(bench.marks(id), "cr", "one that goes on is not forgotten");
}

pub(super) fn an_end_counts_once(bench: &mut Bench) {
    let id = bench.start(Shape::Chain(vec![job(plain().dies_at_once()), job(plain())]));
    let first = bench.fetch_one();
    bench.fail(&first).unwrap();
    let patch = hapax_core::SpecPatch::default();
    bench.step(first.id, Event::Revive { patch }).unwrap();
    let again = bench.fetch_one();
    assert_eq!(followers(&bench.complete(&again, "1")), []);
    assert_eq!((bench.marks(id), bench.workflow(id).state), ("fx".to_owned(), WorkflowState::Failed));
}

pub(super) fn large_results_are_not_handed_on_without_end(bench: &mut Bench) {
    let id = bench.start(Shape::Chain(jobs(4)));
    let large = format!("\"{}\"", "x".repeat(3 << 20));
    for _ in 0..3 {
        let job = bench.fetch_one();
        bench.complete(&job, &large);
    }
    let last = bench.fetch_one();
    assert_eq!(last.id, id.job(3));
    assert_eq!(parent_results(&last), format!("[{large},null,null]"));
}

pub(super) fn a_large_group_counts_every_end(bench: &mut Bench) {
    let id = bench.start(batch(300));
    let running = bench.fetch(&["default"], 999);
    assert_eq!(running.len(), 300);
    for job in &running {
        bench.acknowledge(job).unwrap();
    }
    assert_eq!(bench.workflow(id).count(Mark::Completed), 300);
    assert_eq!(bench.fetch(&["complete", "success", "failure"], 9).len(), 2);
}
