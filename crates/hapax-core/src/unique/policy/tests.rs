//! Refusals of unique policies.

use super::*;

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

#[test]
fn combinations_that_make_no_sense_are_refused() {
    let refusal = |policy: UniquePolicy| policy.validate().unwrap_err();
    let second = Duration::from_secs(1);
    let debounce = |wait, max_wait| UniquePolicy {
        debounce: Some(Debounce { wait, max_wait }),
        ..UniquePolicy::default()
    };
    let replace = Some(Replacement::default());
    assert_eq!(debounce(second, Some(second)).validate(), Ok(()));
    assert_eq!(refusal(debounce(Duration::ZERO, None)), PolicyError::NoWait);
    assert_eq!(refusal(debounce(second, Some(Duration::ZERO))), PolicyError::NoMaxWait);
    assert_eq!(refusal(UniquePolicy { replace, ..debounce(second, None) }), PolicyError::ReplaceAndDebounce);
    let ended = UniquePolicy { states: StateSet::ALL, ..debounce(second, None) };
    assert_eq!(refusal(ended), PolicyError::DebounceEnded(State::Completed));
    let unscheduled = UniquePolicy { states: StateSet::of(&[State::Active]), ..debounce(second, None) };
    assert_eq!(refusal(unscheduled), PolicyError::DebounceWithoutScheduled);

    let latest = UniquePolicy { while_active: Some(WhileActive::QueueLatest), ..UniquePolicy::default() };
    assert_eq!(latest.validate(), Ok(()));
    let without = |state| {
        let states = StateSet::INCOMPLETE.iter().filter(|other| *other != state).collect();
        refusal(UniquePolicy { states, ..latest.clone() })
    };
    assert_eq!(without(State::Active), PolicyError::WhileActiveWithout(State::Active));
    assert_eq!(without(State::Pending), PolicyError::WhileActiveWithout(State::Pending));
    assert_eq!(refusal(UniquePolicy { replace, ..latest.clone() }), PolicyError::ReplaceAndWhileActive);
    let scheduled = UniquePolicy { period: Some(second), period_from: Anchor::ScheduledAt, ..latest };
    assert_eq!(refusal(scheduled), PolicyError::WhileActiveFromSchedule);
}
