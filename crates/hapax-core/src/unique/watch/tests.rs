//! Windows and states.

use super::*;

const WATCH: Watch =
    Watch { states: StateSet::INCOMPLETE, period: None, period_from: Anchor::CreatedAt, every_live: false };
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
        let covered = WATCH.covers(holder(state), at(100));
        assert_eq!(covered, !state.is_terminal(), "{state}");
    }
    let completed_only = Watch { states: StateSet::of(&[State::Completed]), ..WATCH };
    assert!(completed_only.covers(holder(State::Completed), at(100)));
    assert!(!completed_only.covers(holder(State::Available), at(100)));
}

#[test]
fn a_window_is_open_up_to_but_not_including_its_end() {
    let policy = Watch { period: Some(SECOND * 10), ..WATCH };
    let last = Timestamp::from_millis(at(110).millis() - 1);
    assert!(policy.covers(holder(State::Available), last));
    assert!(!policy.covers(holder(State::Available), at(110)));
}

#[test]
fn a_window_runs_from_the_moment_that_the_policy_names() {
    let end = |period_from, holder: Holder| {
        Watch { period: Some(SECOND * 10), period_from, ..WATCH }.window_end(holder)
    };
    let finished =
        Holder { scheduled_at: Some(at(200)), finished_at: Some(at(300)), ..holder(State::Completed) };
    assert_eq!(end(Anchor::CreatedAt, finished), Some(at(110)));
    assert_eq!(end(Anchor::ScheduledAt, finished), Some(at(210)));
    assert_eq!(end(Anchor::FinishedAt, finished), Some(at(310)));
    assert_eq!(end(Anchor::ScheduledAt, holder(State::Available)), Some(at(110)), "never scheduled");
    assert_eq!(end(Anchor::FinishedAt, holder(State::Active)), None, "unfinished: open");
}
