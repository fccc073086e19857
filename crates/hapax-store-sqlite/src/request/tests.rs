//! What counts against the size of a group.

use hapax_core::{Claimant, Directive, Handback, SpecPatch};

use super::*;
use crate::draft;

fn weight(event: Event) -> (usize, usize) {
    let Weight { jobs, bytes } = weight_of_op(&draft::step(draft::at(0), draft::id(1), event));
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
        aliases: Vec::new(),
        directive: Directive::Policy,
    };
    let fail = Event::Fail { claimant, error, handback: Handback::Failed, chance: Chance(0) };
    assert_eq!(weight(fail), (1, 4 + 4 + 8 + 2 + 9));
    let patch = SpecPatch { args: Some(Json::from_trusted("[1]")), ..SpecPatch::default() };
    assert_eq!(weight(Event::Revive { patch }), (1, 3));
    assert_eq!(weight(Event::Cancel), (1, 0));
}
