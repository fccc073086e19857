//! The circuit of a subscription: after several failures in a row it is left in peace, and tried now and then.

use std::time::Duration;

use crate::Timestamp;

/// After so many failures in a row the subscription is tried now and then only.
pub const FAILURES_IN_A_ROW_MAX: u32 = 5;
/// How long it is left in peace at first. Each further failure doubles it.
pub const PROBE_FIRST: Duration = Duration::from_mins(1);
/// How long it is left in peace at most.
pub const PROBE_LAST: Duration = Duration::from_hours(1);

/// How the last attempts of a subscription went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Circuit {
    /// Failures since the last success.
    pub failures: u32,
    /// When it may be tried again, if it is left in peace.
    pub probe_at: Option<Timestamp>,
}

impl Circuit {
    /// After a success.
    pub const CLOSED: Circuit = Circuit { failures: 0, probe_at: None };

    /// After one more failure.
    #[must_use]
    pub fn after_failure(self, now: Timestamp) -> Circuit {
        let failures = self.failures.saturating_add(1);
        let probe_at = failures.checked_sub(FAILURES_IN_A_ROW_MAX).map(|beyond| {
            let factor = 2_u32.saturating_pow(beyond);
            now + PROBE_FIRST.saturating_mul(factor).min(PROBE_LAST)
        });
        Circuit { failures, probe_at }
    }

    /// Whether it is left in peace at this moment.
    pub fn is_open(self, now: Timestamp) -> bool {
        self.probe_at.is_some_and(|at| at > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_five_failures_in_a_row_the_pauses_grow_from_a_minute_to_an_hour() {
        let now = Timestamp::from_millis(0);
        let mut circuit = Circuit::CLOSED;
        let mut pauses = Vec::new();
        for _ in 0..12 {
            circuit = circuit.after_failure(now);
            pauses.push(circuit.probe_at.map(|at| at.since(now).as_secs() / 60));
        }
        let none = [None; 4];
        let some = [1, 2, 4, 8, 16, 32, 60, 60].map(Some);
        assert_eq!(pauses, [&none[..], &some[..]].concat());
    }

    #[test]
    fn it_is_tried_when_its_time_has_come_and_stays_under_suspicion() {
        let now = Timestamp::from_millis(0);
        let circuit = (0..5).fold(Circuit::CLOSED, |circuit, _| circuit.after_failure(now));
        assert!(circuit.is_open(now));
        assert!(!circuit.is_open(now + PROBE_FIRST));
        assert!(circuit.after_failure(now + PROBE_FIRST).is_open(now + PROBE_FIRST), "one more is enough");
    }

    #[test]
    fn no_number_of_failures_is_too_large() {
        let circuit = Circuit { failures: u32::MAX, probe_at: None };
        let now = Timestamp::from_millis(0);
        assert_eq!(circuit.after_failure(now).probe_at, Some(now + PROBE_LAST));
    }
}
