//! What is said about holders that count, and about those that do not.

use std::time::Duration;

use super::*;
use crate::testing::{at, id, job_in, rules, spec};
use crate::unique::{Anchor, Key, Strategy, UniquePolicy};
use crate::{Phase, Spec, State, Verdict};

fn holder(number: u8, state: State) -> Job {
    let key = Some(Key::of_text("k"));
    Job { id: id(number), key, created_at: at(number.into()), ..job_in(state) }
}

fn asking(policy: Option<UniquePolicy>) -> Incoming {
    Incoming {
        id: id(99),
        key: policy.as_ref().map(|_| Key::of_text("k")),
        spec: Box::new(Spec { unique: policy.map(Into::into), ..spec() }),
        pending: false,
        after: None,
        bound: None,
        barred: None,
        request_id: None,
    }
}

fn ignoring(states: StateSet) -> UniquePolicy {
    UniquePolicy { states, on_conflict: Strategy::Ignore, ..UniquePolicy::default() }
}

fn explained(policy: UniquePolicy, holders: Vec<Job>) -> Explanation {
    explain(asking(Some(policy)), holders, at(200), &rules())
}

#[test]
fn a_job_without_a_policy_has_no_holders_and_is_created() {
    let explanation = explain(asking(None), Vec::new(), at(200), &rules());
    assert_eq!(explanation.admission.unwrap().verdict, Verdict::Created);
    assert!(explanation.holders.is_empty() && explanation.freed_by.is_empty());
}

#[test]
fn holders_are_told_newest_first_with_what_they_are_to_the_job() {
    let period = Some(Duration::from_secs(197));
    let policy = UniquePolicy { period, ..ignoring(StateSet::SUCCESSFUL) };
    let holders = vec![holder(1, State::Completed), holder(5, State::Active), holder(6, State::Discarded)];
    let explanation = explained(policy, holders);
    let told: Vec<_> = explanation.holders.iter().map(|seen| (seen.job.id, seen.standing)).collect();
    let over = Standing::WindowOver { since: at(198) };
    assert_eq!(told, [(id(6), Standing::OtherState), (id(5), Standing::Counts), (id(1), over)]);
    let admission = explanation.admission.unwrap();
    assert_eq!((admission.verdict, admission.job.id), (Verdict::Existing, id(5)));
}

#[test]
fn a_living_holder_lets_go_when_it_leaves_the_states_or_its_window_ends() {
    let states = [State::Completed, State::Cancelled, State::Discarded].into_iter().collect();
    let endless = explained(ignoring(StateSet::INCOMPLETE), vec![holder(1, State::Active)]);
    assert_eq!(endless.freed_by, [Freeing { job: id(1), at: None, states }]);
    let period = Some(Duration::from_mins(5));
    let brief = UniquePolicy { period, ..ignoring(StateSet::INCOMPLETE) };
    let timed = explained(brief, vec![holder(1, State::Active)]);
    assert_eq!(timed.freed_by, [Freeing { job: id(1), at: Some(at(301)), states }]);
}

#[test]
fn an_ended_holder_lets_go_when_its_window_ends_or_it_is_removed() {
    let freed_at = |period, period_from| {
        let policy = UniquePolicy { period, period_from, ..ignoring(StateSet::ALL) };
        let ended =
            Job { phase: Phase::Completed { at: at(100), result: None }, ..holder(1, State::Completed) };
        let freed_by = explained(policy, vec![ended]).freed_by;
        assert_eq!(freed_by[0].states, StateSet::NONE);
        freed_by[0].at
    };
    let removal = at(100) + rules().retention.completed;
    assert_eq!(freed_at(None, Anchor::CreatedAt), Some(removal));
    assert_eq!(freed_at(Some(Duration::from_secs(150)), Anchor::FinishedAt), Some(at(250)));
    assert_eq!(freed_at(Some(Duration::from_hours(24 * 365)), Anchor::CreatedAt), Some(removal));
}

#[test]
fn a_free_key_waits_for_nothing() {
    let explanation = explained(ignoring(StateSet::INCOMPLETE), vec![holder(1, State::Completed)]);
    assert!(explanation.freed_by.is_empty());
    assert_eq!(explanation.admission.unwrap().verdict, Verdict::Created);
}
