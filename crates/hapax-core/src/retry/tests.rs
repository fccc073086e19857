//! Pauses and refusals of retry policies.

use super::*;
use crate::Directive;

fn steady() -> RetryPolicy {
    RetryPolicy { jitter: false, ..RetryPolicy::default() }
}

fn pauses(policy: &RetryPolicy) -> Vec<u128> {
    (1..=4).map(|n| policy.delay(n, Chance(0)).as_millis()).collect()
}

#[test]
fn pauses_grow_in_the_shape_of_the_policy() {
    let shape =
        |backoff, backoff_coefficient| pauses(&RetryPolicy { backoff_coefficient, backoff, ..steady() });
    assert_eq!(shape(Backoff::Constant, 2.0), [1000, 1000, 1000, 1000]);
    assert_eq!(shape(Backoff::Linear, 2.0), [1000, 2000, 3000, 4000]);
    assert_eq!(shape(Backoff::Exponential, 2.0), [1000, 2000, 4000, 8000]);
    assert_eq!(shape(Backoff::Exponential, 1.0), [1000, 1000, 1000, 1000]);
    assert_eq!(shape(Backoff::Polynomial, 2.0), [1000, 4000, 9000, 16000]);
}

#[test]
fn no_pause_is_longer_than_the_cap() {
    let policy = RetryPolicy { max_interval: Duration::from_secs(2), backoff_coefficient: 10.0, ..steady() };
    assert_eq!(pauses(&policy), [1000, 2000, 2000, 2000]);
    assert_eq!(policy.delay(u32::MAX, Chance(u64::MAX)), Duration::from_secs(2));
    let jittery = RetryPolicy { jitter: true, ..policy };
    assert_eq!(jittery.delay(9, Chance(u64::MAX)), Duration::from_secs(2));
}

#[test]
fn jitter_spreads_a_pause_over_half_to_one_and_a_half() {
    let policy = RetryPolicy { initial_interval: Duration::from_secs(2), ..RetryPolicy::default() };
    assert_eq!(policy.delay(1, Chance(0)), Duration::from_secs(1));
    assert_eq!(policy.delay(1, Chance(u64::MAX)), Duration::from_secs(3));
    assert_eq!(policy.delay(1, Chance(u64::MAX / 2)).as_millis(), 2000);
}

#[test]
fn policies_that_cannot_be_followed_are_refused() {
    let refusal = |policy: RetryPolicy| policy.validate().unwrap_err();
    assert_eq!(refusal(RetryPolicy { initial_interval: Duration::ZERO, ..steady() }), RetryError::NoInterval);
    assert_eq!(refusal(RetryPolicy { backoff_coefficient: 0.5, ..steady() }), RetryError::Coefficient(0.5));
    for wild in [f64::NAN, f64::INFINITY] {
        let policy = RetryPolicy { backoff_coefficient: wild, ..steady() };
        assert!(matches!(refusal(policy), RetryError::Coefficient(_)));
    }
    let low_cap = RetryPolicy { max_interval: Duration::from_millis(1), ..steady() };
    assert_eq!(refusal(low_cap), RetryError::MaxBelowInitial);
    let nameless = RetryPolicy { non_retryable_errors: vec!["".into()], ..steady() };
    assert_eq!(refusal(nameless), RetryError::EmptyErrorName);
    assert_eq!(steady().validate(), Ok(()));
}

#[test]
fn zero_and_one_attempts_both_mean_once() {
    for (max_attempts, last) in [(0, 1), (1, 1), (3, 3)] {
        let policy = RetryPolicy { max_attempts, ..steady() };
        assert!(policy.is_exhausted(last));
        assert!(!policy.is_exhausted(last - 1) || last == 1);
    }
    assert!(!RetryPolicy { max_attempts: 3, ..steady() }.is_exhausted(2));
}

#[test]
fn listed_errors_and_the_workers_word_forbid_a_retry() {
    let error = |kind: &str, retryable| WorkerError {
        kind: kind.into(),
        code: "handler_error".into(),
        message: "".into(),
        retryable,
        details: None,
        backtrace: Vec::new(),
        aliases: vec!["Alias".into()],
        directive: Directive::Policy,
        rate_limit_until: None,
    };
    let policy = |entry: &str| RetryPolicy { non_retryable_errors: vec![entry.into()], ..steady() };
    assert!(policy("Fatal").forbids(&error("Fatal", None)));
    assert!(policy("Fatal").forbids(&error("Fatal", Some(true))));
    assert!(!policy("Fatal").forbids(&error("Fatal.Worse", None)));
    assert!(policy("Auth.*").forbids(&error("Auth.TokenExpired", None)));
    assert!(!policy("Auth.*").forbids(&error("Auth", None)));
    assert!(!policy("Auth.*").forbids(&error("Authentication.X", None)));
    assert!(policy("handler_error").forbids(&error("X", None)));
    assert!(policy("Alias").forbids(&error("X", None)));
    assert!(steady().forbids(&error("X", Some(false))));
    assert!(!steady().forbids(&error("X", None)));
}

#[test]
fn jobs_that_time_out_together_do_not_return_together() {
    let delay = |number: u8| {
        let chance = Chance(7).of_job(crate::testing::id(number));
        RetryPolicy::default().delay(1, chance)
    };
    let mut delays: Vec<_> = (0..100).map(delay).collect();
    delays.sort_unstable();
    delays.dedup();
    assert!(delays.len() > 80, "{} of 100 differ", delays.len());
    assert!(delays.last().unwrap().saturating_sub(delays[0]) > Duration::from_millis(500));
}
