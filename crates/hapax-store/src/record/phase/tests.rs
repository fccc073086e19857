//! Every phase comes back from its columns, and columns that contradict the state are named.

use std::time::Duration;

use super::*;

fn every_lease() -> [Lease; 2] {
    let lease = |worker| Lease {
        token: LeaseToken::new([7; 16]),
        worker,
        deadline: Timestamp::from_millis(9),
        length: Duration::from_millis(5),
    };
    [lease(None), lease(WorkerId::parse("w-1"))]
}

fn every_phase() -> Vec<Phase> {
    let at = Timestamp::from_millis(3);
    let id = JobId::new(at, [1; 10]);
    let mut phases = vec![
        Phase::Scheduled { at },
        Phase::Retryable { at },
        Phase::Available { lapsed: None },
        Phase::Pending { after: None },
        Phase::Pending { after: Some(id) },
        Phase::Completed { at, result: None },
        Phase::Completed { at, result: Some(Json::from_trusted("[1.0]")) },
    ];
    phases.extend(State::ALL.map(|from| Phase::Cancelled { at, from }));
    for dead_letter in [false, true] {
        phases.extend([Cause::Failed, Cause::Expired].map(|cause| Phase::Discarded {
            at,
            cause,
            dead_letter,
        }));
    }
    for lease in every_lease() {
        phases.push(Phase::Available { lapsed: Some(lease.clone()) });
        phases.extend(
            [None, Some(at)].map(|times_out_at| Phase::Active { lease: lease.clone(), times_out_at }),
        );
        phases.push(Phase::Discarded { at, cause: Cause::LeaseExpired(lease), dead_letter: true });
    }
    phases
}

#[test]
fn every_phase_comes_back() {
    for phase in every_phase() {
        assert_eq!(read(phase.state(), write(&phase)), Ok(phase));
    }
}

#[test]
fn a_column_that_the_state_needs_is_missed_by_its_name() {
    let missing = |state| read(state, Columns::default()).unwrap_err().column;
    for state in [State::Scheduled, State::Retryable, State::Completed] {
        assert_eq!(missing(state), "at");
    }
    assert_eq!(missing(State::Active), "token");
    for state in [State::Cancelled, State::Discarded] {
        let ended = Columns { at: Some(1), ..Columns::default() };
        assert_eq!(read(state, ended).unwrap_err().column, "detail");
    }
    let half = Columns { token: Some([7; 16]), deadline: Some(1), ..Columns::default() };
    assert_eq!(read(State::Active, half).unwrap_err().column, "lease_ms");
}
