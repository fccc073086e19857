//! Which steps the end of a job lets go, in every form.

use super::*;

fn now() -> Timestamp {
    Timestamp::from_millis(1_000_000)
}

fn job(name: &str) -> Shape<&str> {
    Shape::Job(name)
}

fn begun(shape: Shape<&'static str>) -> (Workflow, Vec<Deed>) {
    let id = WorkflowId::new(now(), [1; 10]);
    let Begun { workflow, deeds, .. } = Plan::of(shape).unwrap().start(id, None, now());
    (workflow, deeds)
}

fn end(workflow: &mut Workflow, step: u32, mark: Mark) -> Vec<Deed> {
    workflow.ended(step, mark, None, now())
}

fn marks(workflow: &Workflow) -> String {
    workflow.marks.iter().map(|mark| mark.letter()).collect()
}

use Callback::{OnComplete, OnFailure, OnSuccess};
use Deed::{Cancel, Release, Withdraw};

#[test]
fn a_chain_goes_step_by_step() {
    let (mut chain, first) = begun(Shape::Chain(vec![job("a"), job("b"), job("c")]));
    assert_eq!(first, [Release(0)]);
    assert_eq!(end(&mut chain, 0, Mark::Completed), [Release(1)]);
    assert_eq!(end(&mut chain, 1, Mark::Completed), [Release(2)]);
    assert_eq!(end(&mut chain, 2, Mark::Completed), []);
    assert_eq!((chain.state, chain.count(Mark::Completed)), (WorkflowState::Completed, 3));
    assert_eq!(chain.run_of(2).unwrap().inputs_of(2), [Input::Of(0), Input::Of(1)]);
}

#[test]
fn all_jobs_of_a_group_in_a_chain_get_what_was_before_the_group() {
    let group = Shape::Group(vec![job("b"), job("c"), job("d")]);
    let (chain, _) = begun(Shape::Chain(vec![job("a"), group, job("e")]));
    let inputs = |step: u32| chain.run_of(step).unwrap().inputs_of(step);
    for step in 1..4 {
        assert_eq!(inputs(step), [Input::Of(0)], "step {step}");
    }
    assert_eq!(inputs(4), [Input::Of(0), Input::Range(1, 3)]);
}

#[test]
fn a_chain_stops_at_a_failure() {
    let (mut chain, _) = begun(Shape::Chain(vec![job("a"), job("b"), job("c"), job("d")]));
    assert_eq!(end(&mut chain, 0, Mark::Completed), [Release(1)]);
    assert_eq!(end(&mut chain, 1, Mark::Failed), [Cancel(2), Cancel(3)]);
    assert_eq!((chain.state, marks(&chain)), (WorkflowState::Failed, "cfxx".to_owned()));
    assert_eq!(chain.ended_at, Some(now()));
}

#[test]
fn a_group_ends_with_its_last_job() {
    let (mut group, first) = begun(Shape::Group(vec![job("a"), job("b"), job("c")]));
    assert_eq!(first, [Release(0), Release(1), Release(2)]);
    assert_eq!(end(&mut group, 1, Mark::Failed), []);
    assert_eq!(group.state, WorkflowState::Running);
    let _ = (end(&mut group, 0, Mark::Completed), end(&mut group, 2, Mark::Completed));
    assert_eq!(group.state, WorkflowState::Failed);
}

fn batch() -> Shape<&'static str> {
    let callbacks = vec![(OnComplete, "done"), (OnSuccess, "well"), (OnFailure, "ill")];
    Shape::Batch { jobs: vec![job("a"), job("b")], callbacks }
}

#[test]
fn callbacks_run_when_all_have_ended_and_as_they_have() {
    let (mut well, _) = begun(batch());
    assert_eq!(end(&mut well, 0, Mark::Completed), []);
    assert_eq!(end(&mut well, 1, Mark::Completed), [Release(2), Release(3), Withdraw(4)]);
    assert_eq!((well.state, well.jobs()), (WorkflowState::Running, 2));
    let _ = (end(&mut well, 2, Mark::Completed), end(&mut well, 3, Mark::Completed));
    assert_eq!((well.state, marks(&well)), (WorkflowState::Completed, "ccccs".to_owned()));

    let (mut ill, _) = begun(batch());
    assert_eq!(end(&mut ill, 0, Mark::Failed), []);
    assert_eq!(end(&mut ill, 1, Mark::Completed), [Release(2), Withdraw(3), Release(4)]);
    let _ = (end(&mut ill, 2, Mark::Completed), end(&mut ill, 4, Mark::Completed));
    assert_eq!(ill.state, WorkflowState::Completed, "its callbacks have dealt with it");
}

#[test]
fn a_callback_that_fails_is_a_failure_of_the_batch() {
    let (mut batch, _) = begun(Shape::Batch { jobs: vec![job("a")], callbacks: vec![(OnComplete, "done")] });
    let _ = (end(&mut batch, 0, Mark::Completed), end(&mut batch, 1, Mark::Failed));
    assert_eq!(batch.state, WorkflowState::Failed);
}

#[test]
fn an_end_counts_once() {
    let (mut chain, _) = begun(Shape::Chain(vec![job("a"), job("b")]));
    assert_eq!(end(&mut chain, 0, Mark::Completed), [Release(1)]);
    assert_eq!(end(&mut chain, 0, Mark::Failed), []);
    assert_eq!((marks(&chain), end(&mut chain, 99, Mark::Completed)), ("cr".to_owned(), vec![]));
}

#[test]
fn what_waits_is_called_off_and_what_runs_may_end() {
    let (mut chain, _) = begun(Shape::Chain(vec![job("a"), job("b"), job("c")]));
    let _ = end(&mut chain, 0, Mark::Completed);
    assert_eq!(chain.cancel(now()), Some(vec![Cancel(1), Cancel(2)]));
    chain.called_off(2);
    assert_eq!((chain.state, marks(&chain)), (WorkflowState::Cancelled, "crx".to_owned()));
    assert_eq!(end(&mut chain, 1, Mark::Completed), [], "nothing follows");
    assert_eq!((chain.state, chain.cancel(now())), (WorkflowState::Cancelled, None));
}

#[test]
fn nested_forms_become_one_list_of_steps() {
    let group = Shape::Group(vec![job("b"), Shape::Chain(vec![job("c"), job("d")])]);
    let (mut chain, first) = begun(Shape::Chain(vec![job("a"), group, job("e")]));
    assert_eq!(first, [Release(0)]);
    assert_eq!(end(&mut chain, 0, Mark::Completed), [Release(1), Release(2)]);
    assert_eq!(end(&mut chain, 1, Mark::Completed), []);
    assert_eq!(end(&mut chain, 2, Mark::Completed), [Release(3)]);
    assert_eq!(end(&mut chain, 3, Mark::Completed), [Release(4)]);
    let inputs = chain.run_of(4).unwrap().inputs_of(4);
    assert_eq!(inputs, [Input::Of(0), Input::List(vec![Input::Of(1), Input::Range(2, 3)])]);
    let names = Plan::of(Shape::Chain(vec![job("a"), Shape::Group(vec![job("b")])])).unwrap().names;
    assert_eq!(names.iter().map(AsRef::as_ref).collect::<Vec<_>>(), ["step-0", "step-1.job-0"]);
}

#[test]
fn a_chain_goes_on_after_a_batch_whatever_its_jobs_did() {
    let (mut chain, _) = begun(Shape::Chain(vec![batch(), job("next")]));
    let _ = (end(&mut chain, 0, Mark::Failed), end(&mut chain, 1, Mark::Completed));
    assert_eq!(marks(&chain), "fcrsr.");
    assert_eq!(end(&mut chain, 2, Mark::Completed), []);
    assert_eq!(end(&mut chain, 4, Mark::Completed), [Release(5)]);
    let _ = end(&mut chain, 5, Mark::Completed);
    assert_eq!(chain.state, WorkflowState::Completed);
}

#[test]
fn nothing_behind_a_failure_runs_not_even_behind_a_batch() {
    let (mut chain, _) = begun(Shape::Chain(vec![job("first"), batch(), job("next")]));
    assert_eq!(end(&mut chain, 0, Mark::Failed), [1, 2, 3, 4, 5, 6].map(Cancel));
    assert_eq!((chain.state, marks(&chain)), (WorkflowState::Failed, "fxxxxxx".to_owned()));
}

#[test]
fn a_batch_that_never_began_is_a_failure_to_the_batch_around_it() {
    let inner = Shape::Chain(vec![job("first"), batch()]);
    let callbacks = [OnSuccess, OnFailure].map(|callback| (callback, "told")).to_vec();
    let (mut outer, _) = begun(Shape::Batch { jobs: vec![inner], callbacks });
    let deeds = end(&mut outer, 0, Mark::Failed);
    assert_eq!(&deeds[5..], [Withdraw(6), Release(7)]);
    assert!(deeds[..5].iter().all(|deed| matches!(deed, Cancel(_))), "{deeds:?}");
}

#[test]
fn a_callback_that_answers_for_nobody_is_refused() {
    let idle = DagStep { callback: Some(OnFailure), ..step("tell", &[]) };
    let error = Plan::of(Shape::Dag(vec![step("a", &[]), idle])).unwrap_err();
    assert_eq!(error.at(), Some((1, "depends_on")));
    assert!(error.to_string().starts_with("step \"tell\" is a callback and names no step"), "{error}");
}

fn step(name: &str, needs: &[&str]) -> DagStep<&'static str> {
    let needs = needs.iter().map(|name| Box::from(*name)).collect();
    DagStep { name: name.into(), needs, callback: None, job: "x" }
}

#[test]
fn steps_that_name_others_wait_for_them() {
    let steps = vec![step("d", &["b", "c"]), step("a", &[]), step("b", &["a"]), step("c", &["a"])];
    let (mut dag, first) = begun(Shape::Dag(steps));
    assert_eq!((dag.form, first), (Form::Dag, vec![Release(1)]));
    assert_eq!(end(&mut dag, 1, Mark::Completed), [Release(2), Release(3)]);
    assert_eq!(end(&mut dag, 2, Mark::Completed), []);
    assert_eq!(end(&mut dag, 3, Mark::Completed), [Release(0)]);
    assert_eq!(dag.run_of(0).unwrap().inputs_of(0), [Input::Of(2), Input::Of(3)]);
}

#[test]
fn the_form_of_named_steps_is_recognised() {
    let form = |steps| Plan::of(Shape::Dag(steps)).unwrap().form;
    assert_eq!(form(vec![step("a", &[]), step("b", &["a"]), step("c", &["b"])]), Form::Chain);
    assert_eq!(form(vec![step("a", &[]), step("b", &[])]), Form::Group);
    let rust = vec![step("a", &[]), step("b", &[]), step("on-failure", &["a", "b"])];
    assert_eq!(form(rust.clone()), Form::Batch);
    let (mut batch, _) = begun(Shape::Dag(rust));
    let _ = end(&mut batch, 0, Mark::Failed);
    assert_eq!(end(&mut batch, 1, Mark::Completed), [Release(2)]);
    let by_chance = vec![step("a", &[]), step("b", &["a"]), step("on_success", &["b"])];
    assert_eq!(form(by_chance), Form::Chain, "it does not wait for all: a name like any other");
}

#[test]
fn impossible_workflows_are_refused_by_name() {
    let refused = |shape: Shape<&str>| Plan::of(shape).unwrap_err().to_string();
    assert_eq!(refused(Shape::Chain(vec![])), "the chain has nothing to do: at least one job is needed");
    let nested = Shape::Chain(vec![job("a"), Shape::Group(vec![])]);
    assert_eq!(refused(nested), "the group at step-1 has nothing to do: at least one job is needed");
    let circle = vec![step("x", &[]), step("a", &["c", "x"]), step("b", &["a"]), step("c", &["b"])];
    let message = "these steps wait for each other, so none of them could start: a -> c -> b -> a";
    assert_eq!(refused(Shape::Dag(circle)), message);
    let unknown = refused(Shape::Dag(vec![step("a", &["z"])]));
    assert_eq!(unknown, "step \"a\" depends on \"z\", and there is no such step");
    assert_eq!(
        refused(Shape::Dag(vec![step("a", &[]), step("a", &[])])),
        "two steps have the id \"a\"; each needs its own"
    );
    assert!(refused(Shape::Batch { jobs: vec![job("a")], callbacks: vec![] }).contains("no callback"));
    let deep = (0..=DEPTH_MAX).fold(job("a"), |inner, _| Shape::Group(vec![inner]));
    assert!(refused(deep).contains("nested more than 8 levels deep"));
    assert!(refused(Shape::Group(vec![job("a"); STEPS_MAX + 1])).contains("at most 10000 steps"));
    assert!(refused(Shape::Chain(vec![job("a"); CHAIN_MAX + 1])).contains("longer than 1000 steps"));
}

#[test]
fn large_workflows_are_written_down_in_few_words() {
    let (group, _) = begun(Shape::Group(vec![job("a"); STEPS_MAX]));
    assert_eq!(group.runs.len(), 1);
    let (chain, _) = begun(Shape::Chain(vec![job("a"); CHAIN_MAX]));
    assert_eq!(chain.runs.len(), 2);
}

#[test]
fn a_callback_answers_for_the_steps_behind_which_it_stands() {
    let called = |needs: &[&str]| DagStep { callback: Some(OnComplete), ..step("cb", needs) };
    let ends = |needs: &[&str]| {
        let (mut dag, _) =
            begun(Shape::Dag(vec![step("a", &[]), step("b", &["a"]), step("c", &[]), called(needs)]));
        let _ = (end(&mut dag, 0, Mark::Failed), end(&mut dag, 2, Mark::Completed));
        let _ = end(&mut dag, 3, Mark::Completed);
        (dag.state, marks(&dag))
    };
    assert_eq!(ends(&["b"]), (WorkflowState::Completed, "fxcc".to_owned()));
    assert_eq!(ends(&["c"]), (WorkflowState::Failed, "fxcc".to_owned()), "it knows nothing of a and b");
}

#[test]
fn what_would_make_every_end_slow_is_refused() {
    let refused = |shape: Shape<&str>| Plan::of(shape).unwrap_err().to_string();
    let names: Vec<String> = (0..600).map(|number| format!("a{number}")).collect();
    let every_second: Vec<&str> = names.iter().step_by(2).map(String::as_str).collect();
    let firsts = names.iter().map(|name| step(name, &[]));
    let others = (0..600).map(|number| step(&format!("b{number}"), &every_second[number % 2..]));
    let dense = refused(Shape::Dag(firsts.chain(others).collect()));
    assert!(dense.starts_with("the steps have more than 50000 links"), "{dense}");
    assert!(dense.ends_with("let many wait for one step in between"), "{dense}");
    let group = |count: usize| Shape::Group(vec![job("a"); count]);
    let wide = refused(Shape::Chain(vec![group(1001), group(1000)]));
    assert!(wide.starts_with("the end of one step would hand on 1001000 results"), "{wide}");
    assert!(Plan::of(Shape::Chain(vec![group(1000), group(1000)])).is_ok());
    let (large, _) = begun(Shape::Chain(vec![group(5000), job("sum"), group(150)]));
    assert_eq!(large.marks.len(), 5151);
}

#[test]
fn a_long_circle_is_told_in_few_words() {
    let before = |number: usize| format!("s{}", (number + 9_999) % 10_000);
    let steps = (0..10_000).map(|number| step(&format!("s{number}"), &[&before(number)])).collect();
    let error = Plan::of(Shape::Dag(steps)).unwrap_err();
    assert_eq!(error.at(), Some((0, "depends_on")));
    let message = error.to_string();
    assert!(message.len() < 200 && message.ends_with("s9991 -> ... (10000 steps)"), "{message}");
}

#[test]
fn in_a_graph_what_waits_for_a_callback_that_is_not_needed_is_not_needed_either() {
    let called =
        |name: &str, callback, needs: &[&str]| DagStep { callback: Some(callback), ..step(name, needs) };
    let steps = || {
        vec![
            step("load", &[]),
            called("publish", OnSuccess, &["load"]),
            called("alarm", OnFailure, &["load"]),
            step("announce", &["publish"]),
            step("page", &["alarm"]),
            called("told", OnSuccess, &["announce"]),
            called("paged", OnSuccess, &["page"]),
        ]
    };
    let (mut dag, _) = begun(Shape::Dag(steps()));
    assert_eq!(end(&mut dag, 0, Mark::Failed), [Withdraw(1), Release(2), Withdraw(3), Withdraw(5)]);
    assert_eq!(end(&mut dag, 2, Mark::Completed), [Release(4)]);
    let (mut dag, _) = begun(Shape::Dag(steps()));
    assert_eq!(end(&mut dag, 0, Mark::Completed), [Release(1), Withdraw(2), Withdraw(4), Withdraw(6)]);
    assert_eq!(end(&mut dag, 1, Mark::Completed), [Release(3)]);
    assert_eq!(end(&mut dag, 3, Mark::Completed), [Release(5)]);
    assert_eq!(end(&mut dag, 5, Mark::Completed), []);
    assert_eq!((dag.state, marks(&dag)), (WorkflowState::Completed, "ccscscs".to_owned()));
}

#[test]
fn what_begins_anew_in_a_cancelled_workflow_is_not_its_beginning() {
    let (mut chain, _) = begun(Shape::Chain(vec![job("a"), job("b")]));
    assert!(chain.cancel(now()).is_some());
    let later = Timestamp::from_millis(2_000_000);
    assert_eq!(chain.ended(0, Mark::Completed, Some(later), later), []);
    assert_eq!(chain.started_at, None);
}
