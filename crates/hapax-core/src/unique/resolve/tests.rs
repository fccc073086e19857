//! Each strategy against a holder in each state.

use std::fmt::Write as _;
use std::time::Duration;

use super::{resolve as decide, *};
use crate::StateSet;
use crate::testing::{at, id, job_in};
use crate::unique::{Field, Replacement, WhileActive};

fn policy(on_conflict: Strategy) -> UniquePolicy {
    UniquePolicy { states: StateSet::ALL, on_conflict, ..UniquePolicy::default() }
}

fn resolve(uniqueness: &Uniqueness, holders: &[Job], now: Timestamp) -> Resolution {
    decide(uniqueness, holders, now).resolution
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
        Resolution::Update { takeover: Takeover::Debounce(_), .. } => "update and move",
        Resolution::Update { takeover: Takeover::Latest, .. } => "update all",
        Resolution::Reject(_) => "reject",
        Resolution::Queue(_) => "queue behind it",
        Resolution::Update { takeover: Takeover::Renew { .. }, .. } | Resolution::Supersede(_) => {
            panic!("no policy leads to this")
        }
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
    let debounce = Some(Debounce { wait: Duration::from_secs(10), max_wait: None });
    rows.push(("`debounce`".into(), UniquePolicy { debounce, ..policy(Strategy::Reject) }));
    let while_active = Some(WhileActive::QueueLatest);
    rows.push(("`while_active`".into(), UniquePolicy { while_active, ..policy(Strategy::Ignore) }));
    let mut text = String::from("| holder is |");
    for (name, _) in &rows {
        write!(text, " {name} |").unwrap();
    }
    text.push_str("\n|---|---|---|---|---|---|---|---|\n");
    for state in State::ALL {
        write!(text, "| {state} |").unwrap();
        for (_, policy) in &rows {
            write!(text, " {} |", cell(&resolve(&policy.clone().into(), &[holder(1, state)], at(5))))
                .unwrap();
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
    assert_eq!(resolve(&UniquePolicy::default().into(), &holders, at(5)), Resolution::Create);
    let brief = UniquePolicy { period: Some(Duration::from_secs(4)), ..policy(Strategy::Reject) };
    assert_eq!(resolve(&brief.clone().into(), &holders, at(4)), Resolution::Reject(id(1)));
    assert_eq!(resolve(&brief.clone().into(), &holders, at(5)), Resolution::Create);
}

#[test]
fn all_holders_are_looked_at_and_the_newest_is_named() {
    let holders = [holder(2, State::Completed), holder(3, State::Available), holder(1, State::Active)];
    let of = |strategy| resolve(&policy(strategy).into(), &holders, at(9));
    assert_eq!(of(Strategy::Reject), Resolution::Reject(id(3)));
    assert_eq!(of(Strategy::Ignore), Resolution::Existing(id(3)));
    assert_eq!(of(Strategy::Replace), Resolution::Replace(vec![id(3), id(1)]));
    assert_eq!(of(Strategy::ReplaceExceptSchedule), Resolution::Replace(vec![id(3), id(1)]));
    let older_alive = [holder(1, State::Available), holder(2, State::Completed)];
    assert_eq!(resolve(&UniquePolicy::default().into(), &older_alive, at(9)), Resolution::Reject(id(1)));
}

#[test]
fn only_the_newest_living_holder_is_updated_in_place() {
    let policy = policy(Strategy::ReplaceExceptSchedule);
    let holders = [holder(1, State::Scheduled), holder(2, State::Scheduled), holder(3, State::Completed)];
    let update = Resolution::Update { holder: id(2), takeover: Takeover::AllButSchedule };
    assert_eq!(resolve(&policy.clone().into(), &holders, at(9)), update);
    let newest_waits = [holder(1, State::Scheduled), holder(2, State::Available)];
    assert_eq!(
        resolve(&policy.clone().into(), &newest_waits, at(9)),
        Resolution::Replace(vec![id(2), id(1)])
    );
}

#[test]
fn a_holder_in_a_state_that_the_replace_member_does_not_list_stays_untouched() {
    let fields = FieldSet::default().with(Field::Priority);
    let replace = Some(Replacement::default().with(State::Scheduled, fields));
    let policy = UniquePolicy { replace, ..policy(Strategy::Replace) };
    let scheduled = Resolution::Update { holder: id(1), takeover: Takeover::Fields(fields) };
    assert_eq!(resolve(&policy.clone().into(), &[holder(1, State::Scheduled)], at(9)), scheduled);
    assert_eq!(
        resolve(&policy.clone().into(), &[holder(1, State::Available)], at(9)),
        Resolution::Existing(id(1))
    );
}

fn latest_wins() -> UniquePolicy {
    UniquePolicy { while_active: Some(WhileActive::QueueLatest), ..policy(Strategy::Ignore) }
}

fn successor(number: u8, of: u8) -> Job {
    Job { phase: Phase::Pending { after: Some(id(of)) }, ..holder(number, State::Pending) }
}

#[track_caller]
fn check_latest(holders: &[Job], expected: &Resolution) {
    assert_eq!(resolve(&latest_wins().into(), holders, at(9)), *expected);
}

#[test]
fn behind_a_running_holder_waits_one_successor() {
    let update = |number| Resolution::Update { holder: id(number), takeover: Takeover::Latest };
    let running = holder(1, State::Active);
    check_latest(std::slice::from_ref(&running), &Resolution::Queue(id(1)));
    check_latest(&[running.clone(), successor(2, 1)], &update(2));
    check_latest(&[running.clone(), holder(2, State::Available)], &Resolution::Queue(id(1)));
    check_latest(&[running, holder(2, State::Completed)], &Resolution::Queue(id(1)));
}

#[test]
fn a_successor_takes_over_the_newest_duplicate_while_its_predecessor_waits_for_a_retry() {
    let holders = [holder(1, State::Retryable), successor(2, 1)];
    check_latest(&holders, &Resolution::Update { holder: id(2), takeover: Takeover::Latest });
}

#[test]
fn a_holder_whose_lease_ran_out_may_still_run() {
    let Phase::Active { lease, .. } = job_in(State::Active).phase else { panic!("no lease") };
    let lapsed = Job { phase: Phase::Available { lapsed: Some(lease) }, ..holder(1, State::Available) };
    check_latest(&[lapsed], &Resolution::Queue(id(1)));
}

#[test]
fn without_a_running_holder_the_strategy_decides() {
    check_latest(&[holder(1, State::Available)], &Resolution::Existing(id(1)));
    check_latest(&[holder(1, State::Pending)], &Resolution::Existing(id(1)));
}

#[test]
fn a_debounced_duplicate_goes_to_what_waits_and_never_to_what_runs() {
    let debounce = Debounce { wait: Duration::from_secs(10), max_wait: None };
    let debounced = UniquePolicy { debounce: Some(debounce), ..policy(Strategy::Reject) };
    let update = Resolution::Update { holder: id(1), takeover: Takeover::Debounce(debounce) };
    let holders = [holder(1, State::Scheduled), holder(2, State::Active)];
    assert_eq!(resolve(&debounced.clone().into(), &holders, at(9)), update);
    assert_eq!(resolve(&debounced.into(), &holders[1..], at(9)), Resolution::Create);
}

#[test]
fn a_debounced_successor_is_moved_like_any_other() {
    let debounce = Debounce { wait: Duration::from_secs(10), max_wait: None };
    let both = UniquePolicy { debounce: Some(debounce), ..latest_wins() };
    let update = Resolution::Update { holder: id(2), takeover: Takeover::Debounce(debounce) };
    assert_eq!(resolve(&both.clone().into(), &[holder(1, State::Active)], at(9)), Resolution::Queue(id(1)));
    assert_eq!(resolve(&both.into(), &[holder(1, State::Active), successor(2, 1)], at(9)), update);
}

#[test]
fn the_rule_that_decided_is_named() {
    let rule = |policy: UniquePolicy, holders: &[Job]| decide(&policy.into(), holders, at(9)).rule;
    let debounce = Some(Debounce { wait: Duration::from_secs(10), max_wait: None });
    let both = UniquePolicy { debounce, ..latest_wins() };
    let (running, waiting) = ([holder(1, State::Active)], [holder(1, State::Available)]);
    assert_eq!(rule(latest_wins(), &[]), None);
    assert_eq!(rule(latest_wins(), &running), Some(Rule::QueueLatest));
    assert_eq!(rule(latest_wins(), &waiting), Some(Rule::Strategy(Strategy::Ignore)));
    assert_eq!(rule(both.clone(), &running), Some(Rule::QueueLatest));
    assert_eq!(rule(both, &waiting), Some(Rule::Debounce));
    assert_eq!(rule(policy(Strategy::Replace), &waiting), Some(Rule::Strategy(Strategy::Replace)));
}
