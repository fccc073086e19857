//! Each strategy against a holder in each state.

use std::fmt::Write as _;
use std::time::Duration;

use super::*;
use crate::StateSet;
use crate::testing::{at, id, job_in};
use crate::unique::{Field, Replacement};

fn policy(on_conflict: Strategy) -> UniquePolicy {
    UniquePolicy { states: StateSet::ALL, on_conflict, ..UniquePolicy::default() }
}

fn holder(number: u8, state: State) -> Job {
    Job { id: id(number), created_at: at(number.into()), ..job_in(state) }
}

fn cell(resolution: &Resolution) -> &'static str {
    match resolution {
        Resolution::Create => "create",
        Resolution::Replace(_) => "replace",
        Resolution::Existing(_) => "existing",
        Resolution::Update { takeover: Takeover::AllButSchedule, .. } => "update all but schedule",
        Resolution::Update { takeover: Takeover::Fields(_), .. } => "update fields",
        Resolution::Reject(_) => "reject",
    }
}

/// The table that stands in docs/unique-jobs.md.
fn table() -> String {
    let listed = Replacement::everywhere(FieldSet::default().with(Field::Args));
    let mut rows: Vec<(String, UniquePolicy)> =
        Strategy::ALL.map(|strategy| (format!("`{strategy}`"), policy(strategy))).into();
    rows.push((
        "`replace` member".into(),
        UniquePolicy { replace: Some(listed), ..policy(Strategy::Reject) },
    ));
    let mut text = String::from("| holder is |");
    for (name, _) in &rows {
        write!(text, " {name} |").unwrap();
    }
    text.push_str("\n|---|---|---|---|---|---|\n");
    for state in State::ALL {
        write!(text, "| {state} |").unwrap();
        for (_, policy) in &rows {
            write!(text, " {} |", cell(&resolve(policy, &[holder(1, state)], at(5)))).unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_table_of_strategies_and_states_is_the_documented_one() {
    let page = include_str!("../../../../../docs/unique-jobs.md");
    assert!(page.contains(&table()), "docs/unique-jobs.md must hold this table:\n{}", table());
}

#[test]
fn a_holder_outside_the_states_or_the_window_does_not_count() {
    let holders = [holder(1, State::Completed)];
    assert_eq!(resolve(&UniquePolicy::default(), &holders, at(5)), Resolution::Create);
    let brief = UniquePolicy { period: Some(Duration::from_secs(4)), ..policy(Strategy::Reject) };
    assert_eq!(resolve(&brief, &holders, at(4)), Resolution::Reject(id(1)));
    assert_eq!(resolve(&brief, &holders, at(5)), Resolution::Create);
}

#[test]
fn all_holders_are_looked_at_and_the_newest_is_named() {
    let holders = [holder(2, State::Completed), holder(3, State::Available), holder(1, State::Active)];
    let of = |strategy| resolve(&policy(strategy), &holders, at(9));
    assert_eq!(of(Strategy::Reject), Resolution::Reject(id(3)));
    assert_eq!(of(Strategy::Ignore), Resolution::Existing(id(3)));
    assert_eq!(of(Strategy::Replace), Resolution::Replace(vec![id(3), id(1)]));
    assert_eq!(of(Strategy::ReplaceExceptSchedule), Resolution::Replace(vec![id(3), id(1)]));
    let older_alive = [holder(1, State::Available), holder(2, State::Completed)];
    assert_eq!(resolve(&UniquePolicy::default(), &older_alive, at(9)), Resolution::Reject(id(1)));
}

#[test]
fn only_the_newest_living_holder_is_updated_in_place() {
    let policy = policy(Strategy::ReplaceExceptSchedule);
    let holders = [holder(1, State::Scheduled), holder(2, State::Scheduled), holder(3, State::Completed)];
    let update = Resolution::Update { holder: id(2), takeover: Takeover::AllButSchedule };
    assert_eq!(resolve(&policy, &holders, at(9)), update);
    let newest_waits = [holder(1, State::Scheduled), holder(2, State::Available)];
    assert_eq!(resolve(&policy, &newest_waits, at(9)), Resolution::Replace(vec![id(2), id(1)]));
}

#[test]
fn a_holder_in_a_state_that_the_replace_member_does_not_list_stays_untouched() {
    let fields = FieldSet::default().with(Field::Priority);
    let replace = Some(Replacement::default().with(State::Scheduled, fields));
    let policy = UniquePolicy { replace, ..policy(Strategy::Replace) };
    let scheduled = Resolution::Update { holder: id(1), takeover: Takeover::Fields(fields) };
    assert_eq!(resolve(&policy, &[holder(1, State::Scheduled)], at(9)), scheduled);
    assert_eq!(resolve(&policy, &[holder(1, State::Available)], at(9)), Resolution::Existing(id(1)));
}
