//! What a workflow keeps to when its own start, its operator or time itself comes between its steps.

use hapax_core::unique::{Field, FieldSet, Replacement, Strategy};
use hapax_core::workflow::{Callback, Mark, Shape, WorkflowState};
use hapax_core::{AgentDeed, Bound, Event, Job, Json, Overflow, Refusal, State};

use super::bench::{Bench, DAY, HOUR, MINUTE, SECOND};
use super::draft::{Draft, plain, queue, unique};

fn job(draft: Draft) -> Shape<Draft> {
    Shape::Job(draft)
}

fn jobs(count: usize) -> Vec<Shape<Draft>> {
    vec![job(plain()); count]
}

fn member(json: &Json, name: &str) -> Option<String> {
    let node = hapax_core::json::read(json.as_str(), hapax_core::json::Limits::DEFAULT).unwrap();
    node.get(name).map(|node| node.raw.to_owned())
}

fn parent_results(job: &Job) -> Option<String> {
    member(&job.spec.extra, "parent_results")
}

pub(super) fn a_start_that_would_displace_an_own_step_is_refused(bench: &mut Bench) {
    let small = || {
        let mut draft = plain().queue("small");
        draft.bound = Some(Bound { max: 2, overflow: Overflow::DropOldest });
        draft
    };
    let batch = |count: usize| Shape::Batch {
        jobs: vec![job(small()); count],
        callbacks: vec![(Callback::OnComplete, plain())],
    };
    let older = bench.create(small());
    let before = bench.totals();
    let full = Refusal::QueueFull { queue: queue("small"), depth: 2, max: 2 };
    let refusal = Refusal::InWorkflow { index: 2, refusal: Box::new(full) };
    assert_eq!(bench.try_start(batch(3)), Err(refusal));
    assert_eq!((bench.totals(), bench.state(older)), (before, State::Available));
    let id = bench.start(batch(2));
    assert_eq!(bench.state(older), State::Discarded, "others make room as for any job");
    for running in bench.fetch(&["small"], 9) {
        bench.acknowledge(&running).unwrap();
    }
    bench.complete_one();
    assert_eq!(bench.workflow(id).state, WorkflowState::Completed);
}

pub(super) fn a_start_that_would_replace_an_own_step_is_refused(bench: &mut Bench) {
    let replacing = || job(unique("k").on_conflict(Strategy::Replace));
    let before = bench.totals();
    let refusal = Refusal::InWorkflow { index: 1, refusal: Box::new(Refusal::Twin { of: 0 }) };
    assert_eq!(bench.try_start(Shape::Chain(vec![replacing(), replacing()])), Err(refusal));
    assert_eq!(bench.totals(), before);
    let id = bench.start(Shape::Chain(vec![replacing(), job(plain())]));
    let _ = (bench.complete_one(), bench.complete_one());
    assert_eq!(bench.marks(id), "cc");
}

pub(super) fn nobody_activates_a_step_before_its_workflow_lets_it_go(bench: &mut Bench) {
    let id = bench.start(Shape::Chain(jobs(3)));
    let waits = Refusal::StepWaits { id: id.job(1), workflow: id };
    assert_eq!(bench.step(id.job(1), Event::Activate), Err(waits.clone()));
    let first = bench.fetch_one();
    bench.complete(&first, "1");
    assert_eq!(bench.fetch_one().id, id.job(1));
    let callbacks = vec![(Callback::OnFailure, plain().queue("failure"))];
    let id = bench.start(Shape::Batch { jobs: jobs(1), callbacks });
    assert!(bench.step(id.job(1), Event::Activate).is_err());
    bench.complete_one();
    assert_eq!((bench.marks(id), bench.get(id.job(1))), ("cs".to_owned(), None));
}

pub(super) fn a_paused_step_goes_on_and_a_waiting_one_does_not(bench: &mut Bench) {
    let pause = || Event::Agent(AgentDeed::Pause { reason: None });
    let resume = || Event::Agent(AgentDeed::Resume { approved: true, comment: None, metadata: None });
    let mut pretends = plain();
    pretends.spec.extra = Json::from_trusted(r#"{"ext_agent_v2":{"state":"paused"}}"#);
    let later = bench.now + HOUR;
    let group = Shape::Group(vec![job(plain()), job(plain().scheduled_at(later))]);
    let id = bench.start(Shape::Chain(vec![group, job(pretends)]));
    for step in [0, 1] {
        let before = bench.state(id.job(step));
        bench.step(id.job(step), pause()).unwrap();
        assert_eq!(bench.state(id.job(step)), State::Pending);
        bench.step(id.job(step), resume()).unwrap();
        assert_eq!(bench.state(id.job(step)), before);
    }
    let waits = Refusal::StepWaits { id: id.job(2), workflow: id };
    assert_eq!(bench.step(id.job(2), resume()), Err(waits));
}

pub(super) fn a_step_is_kept_until_its_workflow_has_ended(bench: &mut Bench) {
    let mut brief = plain();
    brief.spec.kept_for.completed = Some(SECOND);
    let group = Shape::Group(vec![job(brief), job(plain())]);
    let id = bench.start(Shape::Chain(vec![group, job(plain())]));
    let running = bench.fetch(&["default"], 2);
    bench.complete(&running[0], "1");
    for _ in 0..10 {
        bench.pass_and_advance(SECOND * 2);
        bench.heartbeat(&running[1]).unwrap();
    }
    bench.complete(&running[1], "2");
    let last = bench.fetch_one();
    assert_eq!(parent_results(&last).as_deref(), Some("[[1,2]]"));
    bench.complete(&last, "3");
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.get(id.job(0)), None, "its own time counts since the workflow ended");
    assert!(bench.get(id.job(1)).is_some());
    bench.pass_and_advance(DAY * 100);
    assert_eq!((bench.find_workflow(id), bench.get(id.job(1))), (None, None));
}

pub(super) fn steps_that_are_kept_on_are_counted(bench: &mut Bench) {
    let mut brief = plain();
    brief.spec.kept_for.completed = Some(SECOND);
    bench.start(Shape::Group(vec![job(brief.clone()), job(brief), job(plain())]));
    let running = bench.fetch(&["default"], 3);
    let _ = (bench.complete(&running[0], "1"), bench.complete(&running[1], "2"));
    bench.pass(SECOND * 2);
    let first = bench.advance_by(1);
    assert_eq!(
        (first.changes.len(), first.kept),
        (0, 1),
        "something happened, so that another look is worth it"
    );
    assert!(first.next_due.is_some_and(|at| at <= bench.now));
    assert_eq!(bench.advance().kept, 1);
}

pub(super) fn an_updated_step_keeps_what_its_workflow_wrote_into_it(bench: &mut Bench) {
    let named = Json::from_trusted(r#"{"workflow_id":"w"}"#);
    let mut later = unique("k").scheduled_at(bench.now + HOUR);
    (later.spec.extra, later.spec.meta) = (named.clone(), named);
    let id = bench.start(Shape::Chain(vec![job(plain()), job(later)]));
    let first = bench.fetch_one();
    bench.complete(&first, "1");
    let in_place = unique("k").replacing(Replacement::everywhere(FieldSet::default().with(Field::Meta)));
    let whole = unique("k").on_conflict(Strategy::ReplaceExceptSchedule);
    for (number, mut duplicate) in [whole, in_place].into_iter().enumerate() {
        duplicate.spec.extra = Json::from_trusted(r#"{"own":2}"#);
        duplicate.spec.meta = Json::from_trusted(&format!("{{\"number\":{number}}}"));
        bench.enqueue(duplicate);
        let stored = bench.job(id.job(1));
        assert_eq!(parent_results(&stored).as_deref(), Some("[1]"));
        assert_eq!(member(&stored.spec.extra, "workflow_id").as_deref(), Some("\"w\""));
        assert_eq!(member(&stored.spec.extra, "own").as_deref(), Some("2"));
        assert_eq!(member(&stored.spec.meta, "workflow_id").as_deref(), Some("\"w\""));
        assert_eq!(member(&stored.spec.meta, "number"), Some(number.to_string()));
    }
}

pub(super) fn a_late_acknowledgement_does_not_change_what_followed(bench: &mut Bench) {
    let id = bench.start(Shape::Chain(vec![job(plain().attempts(1)), job(plain())]));
    let running = bench.fetch_one();
    bench.pass_and_advance(HOUR);
    assert_eq!(bench.state(id.job(0)), State::Discarded);
    bench.complete(&running, "1");
    assert_eq!(bench.state(id.job(0)), State::Completed);
    assert_eq!((bench.marks(id), bench.workflow(id).state), ("fx".to_owned(), WorkflowState::Failed));
}

pub(super) fn a_failure_that_no_callback_answers_for_fails_a_graph(bench: &mut Bench) {
    use hapax_core::workflow::DagStep;
    let step = |name: &str, needs: &[&str], callback| DagStep {
        name: name.into(),
        needs: needs.iter().map(|name| Box::from(*name)).collect(),
        callback,
        job: plain(),
    };
    let callback = step("cb", &["a"], Some(Callback::OnComplete));
    let id = bench.start(Shape::Dag(vec![step("a", &[], None), step("b", &[], None), callback]));
    let running = bench.fetch(&["default"], 2);
    bench.step(running[1].id, Event::Cancel).unwrap();
    bench.acknowledge(&running[0]).unwrap();
    bench.complete_one();
    assert_eq!(bench.workflow(id).count(Mark::Cancelled), 1);
    assert_eq!(bench.workflow(id).state, WorkflowState::Failed);
}

pub(super) fn results_that_a_step_does_not_get_are_told_of(bench: &mut Bench) {
    bench.start(Shape::Chain(jobs(3)));
    let large = format!("\"{}\"", "x".repeat(3 << 20));
    for number in 0..3 {
        let running = bench.fetch_one();
        let omitted = member(&running.spec.extra, "parent_results_omitted");
        assert_eq!(omitted.as_deref(), (number == 2).then_some("1"));
        bench.complete(&running, &large);
    }
}
