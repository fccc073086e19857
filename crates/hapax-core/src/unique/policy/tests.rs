//! Windows and refusals of unique policies.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn holder(state: State) -> Holder {
    Holder { state, created_at: at(100), scheduled_at: None, finished_at: None }
}

#[test]
fn a_holder_counts_only_in_the_states_that_the_policy_names() {
    for state in State::ALL {
        let covered = UniquePolicy::default().covers(holder(state), at(100));
        assert_eq!(covered, !state.is_terminal(), "{state}");
    }
    let completed_only = UniquePolicy { states: StateSet::of(&[State::Completed]), ..Default::default() };
    assert!(completed_only.covers(holder(State::Completed), at(100)));
    assert!(!completed_only.covers(holder(State::Available), at(100)));
}

#[test]
fn a_window_is_open_up_to_but_not_including_its_end() {
    let policy = UniquePolicy { period: Some(SECOND * 10), ..Default::default() };
    let last = Timestamp::from_millis(at(110).millis() - 1);
    assert!(policy.covers(holder(State::Available), last));
    assert!(!policy.covers(holder(State::Available), at(110)));
}

#[test]
fn a_window_runs_from_the_moment_that_the_policy_names() {
    let end = |period_from, holder: Holder| {
        UniquePolicy { period: Some(SECOND * 10), period_from, ..Default::default() }.window_end(holder)
    };
    let finished =
        Holder { scheduled_at: Some(at(200)), finished_at: Some(at(300)), ..holder(State::Completed) };
    assert_eq!(end(Anchor::CreatedAt, finished), Some(at(110)));
    assert_eq!(end(Anchor::ScheduledAt, finished), Some(at(210)));
    assert_eq!(end(Anchor::FinishedAt, finished), Some(at(310)));
    assert_eq!(end(Anchor::ScheduledAt, holder(State::Available)), Some(at(110)), "never scheduled");
    assert_eq!(end(Anchor::FinishedAt, holder(State::Active)), None, "unfinished: open");
}

#[test]
fn policies_that_make_no_sense_are_refused() {
    let refusal = |policy: UniquePolicy| policy.validate().unwrap_err();
    let args = Dimensions { args: true, ..Default::default() };
    let meta = Dimensions { meta: true, ..Default::default() };
    let base = UniquePolicy::default;
    assert_eq!(refusal(UniquePolicy { states: StateSet::NONE, ..base() }), PolicyError::NoStates);
    assert_eq!(refusal(UniquePolicy { period: Some(Duration::ZERO), ..base() }), PolicyError::NoPeriod);
    assert_eq!(refusal(UniquePolicy { key: Some("".into()), ..base() }), PolicyError::EmptyKey);
    let none_of_args = UniquePolicy { dimensions: args, args_keys: Some(vec![]), ..base() };
    assert_eq!(refusal(none_of_args), PolicyError::NoArgsKeys);
    for meta_keys in [None, Some(vec![])] {
        assert_eq!(refusal(UniquePolicy { dimensions: meta, meta_keys, ..base() }), PolicyError::NoMetaKeys);
    }
    let harmless = UniquePolicy { meta_keys: Some(vec![]), ..base() };
    assert_eq!(harmless.validate(), Ok(()));
    assert_eq!(base().validate(), Ok(()));
}
