//! What counts against the size of a group.

use hapax_core::unique::Key;
use hapax_core::{Claimant, Directive, Event, Handback, Json, SpecPatch, StateSet, WorkerError};
use hapax_store::Action;

use super::*;
use crate::draft;

fn weight(event: Event) -> (usize, usize) {
    let Weight { jobs, bytes } = Weight::of(&draft::step(draft::at(0), draft::id(1), event));
    (jobs, bytes)
}

#[test]
fn a_step_weighs_what_it_leaves_behind() {
    let claimant = Claimant::UNNAMED;
    let result = Some(Json::from_trusted("[1,2,3]"));
    assert_eq!(weight(Event::Acknowledge { claimant: claimant.clone(), result }), (1, 7));
    let error = WorkerError {
        kind: "Oops".into(),
        code: "oops".into(),
        message: "it broke".into(),
        retryable: None,
        details: Some(Json::from_trusted("{}")),
        backtrace: vec!["here".into(), "there".into()],
        rate_limit_until: None,
        aliases: Vec::new(),
        directive: Directive::Policy,
    };
    let fail = Event::Fail { claimant, error, handback: Handback::Failed, chance: Chance(0) };
    assert_eq!(weight(fail), (1, 4 + 4 + 8 + 2 + 9));
    let patch = SpecPatch { args: Some(Json::from_trusted("[1]")), ..SpecPatch::default() };
    assert_eq!(weight(Event::Revive { patch }), (1, 3));
    assert_eq!(weight(Event::Cancel), (1, 0));
    assert_eq!(weight(Event::Release { reason: Some("it hangs".into()) }), (1, 8));
    assert_eq!(weight(Event::RemoveByKey), (1, 0));
}

#[test]
fn a_step_of_several_holders_weighs_as_much_as_its_limit_lets_it() {
    let weight = |limit| {
        let event = Event::Release { reason: Some("it hangs".into()) };
        let action = Action::StepHolders { key: Key::of_text("a"), states: StateSet::ALL, event, limit };
        let Weight { jobs, bytes } = Weight::of(&Op { now: draft::at(0), action });
        (jobs, bytes)
    };
    assert_eq!(weight(3), (3, 24));
    assert_eq!(weight(usize::MAX), (usize::MAX, usize::MAX));
}

#[test]
fn a_list_of_jobs_weighs_the_same_together_and_one_by_one() {
    let jobs = || vec![draft::incoming(1, draft::spec()), draft::incoming(2, draft::spec())];
    let all = Action::EnqueueAll { incoming: jobs(), memo: None };
    let each = Action::EnqueueEach { incoming: jobs(), memo: None };
    let [all, each] = [all, each].map(|action| Weight::of(&Op { now: draft::at(0), action }));
    assert_eq!((all.jobs, all.bytes), (2, 2 * ("[1, 2.50]".len() + 2 * "{}".len())));
    assert_eq!((each.jobs, each.bytes), (all.jobs, all.bytes));
}
