//! The rules of rate limits, and random starts against what they promise.

use std::time::Duration;

use proptest::prelude::{prop, prop_assert, proptest};

use super::{
    CLOSED_MAX, Closed, LimitKey, Limits, Memory, Pace, PaceError, Ruling, SPANS_MAX, Strategy, Window,
};
use crate::{QueueName, Timestamp};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn pace(limit: i64, millis: u64) -> Pace {
    Pace::new(limit, Duration::from_millis(millis), Window::Sliding).unwrap()
}

fn rate(limit: i64, millis: u64) -> Limits {
    Limits { rate: Some(pace(limit, millis)), ..Limits::default() }
}

fn throttle(limit: i64, millis: u64) -> Limits {
    Limits { throttle: Some(pace(limit, millis)), ..Limits::default() }
}

fn concurrency(limit: u32) -> Limits {
    Limits { concurrency: Some(limit), ..Limits::default() }
}

#[test]
fn keys_of_clients_cannot_be_those_of_the_server() {
    for good in ["a", "tenant:acme.api_2-x", "0"] {
        assert_eq!(LimitKey::parse(good).unwrap().as_str(), good);
    }
    for bad in ["", "@queue:mail", ":a", "a b", "é", &"a".repeat(256)] {
        assert!(LimitKey::parse(bad).is_err(), "{bad}");
    }
    let mail = QueueName::parse("mail").unwrap();
    let own = LimitKey::of_queue(&mail);
    assert_eq!(LimitKey::parse_any(own.as_str()), Ok(own.clone()));
    assert_eq!((own.limited_queue(), LimitKey::of_jobs_in(&mail).limited_queue()), (Some(mail), None));
    assert!(LimitKey::parse_any("@queue:Mail").is_err());
}

#[test]
fn paces_that_cannot_be_kept_are_refused() {
    let second = Duration::from_secs(1);
    assert_eq!(Pace::new(0, second, Window::Sliding), Err(PaceError::Limit(0)));
    assert_eq!(Pace::new(1, Duration::ZERO, Window::Sliding), Err(PaceError::Period));
    assert_eq!(Pace::new(1, Pace::PERIOD_MAX * 2, Window::Sliding), Err(PaceError::Period));
    assert_eq!(Pace::new(1001, second, Window::Spaced), Err(PaceError::TooFine));
    assert!(Pace::new(1001, second, Window::Sliding).is_ok());
}

#[test]
fn only_so_many_run_at_a_time() {
    let memory = Memory::default();
    assert_eq!(memory.admits(concurrency(2), 1, at(0)), Ok(()));
    let closed = Closed { strategy: Strategy::Concurrency, limit: 2, current: 2, until: None };
    assert_eq!(memory.admits(concurrency(2), 2, at(0)), Err(closed));
    assert!(memory.admits(concurrency(0), 0, at(0)).is_err(), "none at all");
    assert_eq!(memory.admits(Limits::default(), 1_000_000, at(0)), Ok(()));
}

#[test]
fn a_window_slides() {
    let mut memory = Memory::default();
    for start in [0, 400] {
        assert_eq!(memory.admits(rate(2, 1000), 0, at(start)), Ok(()));
        memory.started(rate(2, 1000), at(start));
    }
    let closed = memory.admits(rate(2, 1000), 0, at(500)).unwrap_err();
    assert_eq!((closed.strategy, closed.current, closed.until), (Strategy::Rate, 2, Some(at(1000))));
    assert_eq!(memory.admits(rate(2, 1000), 0, at(1000)), Ok(()));
}

#[test]
fn starts_keep_their_distance() {
    let mut memory = Memory::default();
    memory.started(throttle(3, 1000), at(0));
    let closed = memory.admits(throttle(3, 1000), 0, at(333)).unwrap_err();
    assert_eq!((closed.strategy, closed.until), (Strategy::Throttle, Some(at(334))));
    assert_eq!(memory.admits(throttle(3, 1000), 0, at(334)), Ok(()));
}

#[test]
fn what_an_operator_decided_goes_before_what_jobs_say_for_as_long_as_it_holds() {
    let ruling = Ruling { limits: concurrency(0), expires_at: Some(at(100)) };
    let memory = Memory { ruling: Some(ruling), ..Memory::default() };
    let closed = memory.admits(concurrency(5), 0, at(0)).unwrap_err();
    assert_eq!((closed.limit, closed.until), (0, Some(at(100))));
    assert_eq!(memory.admits(concurrency(5), 0, at(100)), Ok(()));
    assert_eq!(memory.in_force(rate(1, 1), at(0)), concurrency(0).or(rate(1, 1)), "figure by figure");
}

#[test]
fn what_a_configuration_says_holds_below_rulings_and_after_them() {
    let ruling = |limits, end: Option<i64>| Some(Ruling { limits, expires_at: end.map(at) });
    let mut memory = Memory::default();
    memory.rule(ruling(concurrency(9).or(rate(1, 1)), Some(100)));
    memory.configure(Some(5));
    assert_eq!(memory.in_force(Limits::default(), at(0)), concurrency(5).or(rate(1, 1)), "from now on");
    assert_eq!(memory.in_force(rate(2, 2), at(100)), concurrency(5).or(rate(2, 2)), "and for ever");
    memory.forget(at(100));
    assert_eq!((memory.ruling, memory.next_due()), (None, None));
    assert!(!memory.is_empty());
    memory.rule(ruling(concurrency(2), Some(200)));
    assert_eq!(memory.in_force(Limits::default(), at(150)), concurrency(2));
    assert_eq!(memory.in_force(Limits::default(), at(200)), concurrency(5));
    memory.rule(ruling(rate(1, 1), None));
    assert_eq!(memory.in_force(Limits::default(), at(0)), concurrency(5).or(rate(1, 1)));
    memory.rule(ruling(concurrency(7), None));
    assert_eq!((memory.configured, memory.in_force(Limits::default(), at(0))), (Some(7), concurrency(7)));
    memory.rule(None);
    assert!(memory.is_empty(), "all is taken back");
    memory.configure(None);
    assert_eq!(memory.decided(at(0)), None);
}

#[test]
fn a_worker_can_close_a_key_but_not_for_ever() {
    let mut memory = Memory::default();
    memory.close(Timestamp::MAX, at(0));
    let closed = memory.admits(Limits::default(), 0, at(0)).unwrap_err();
    assert_eq!((closed.strategy, closed.until), (Strategy::Feedback, Some(at(0) + CLOSED_MAX)));
    memory.close(at(5), at(10));
    assert_eq!(memory.closed_until, Some(at(0) + CLOSED_MAX), "a moment that has passed closes nothing");
}

#[test]
fn of_several_limits_all_have_to_be_out_of_the_way() {
    let mut memory = Memory::default();
    let both = rate(1, 1000).or(throttle(1, 5000));
    memory.started(both, at(0));
    let closed = memory.admits(both, 0, at(1)).unwrap_err();
    assert_eq!((closed.strategy, closed.until), (Strategy::Rate, Some(at(5000))));
    let closed = memory.admits(both.or(concurrency(1)), 1, at(1)).unwrap_err();
    assert_eq!(closed.until, None);
}

#[test]
fn what_counts_for_nobody_is_forgotten() {
    let mut memory = Memory::default();
    memory.started(rate(5, 1000).or(throttle(1, 10)), at(0));
    memory.close(at(300), at(0));
    assert_eq!(memory.next_due(), Some(at(300)));
    memory.forget(at(300));
    assert_eq!(memory.next_due(), Some(at(1000)));
    memory.forget(at(1000));
    assert!(memory.is_empty());
}

proptest! {
    /// Whatever the times of the starts that the gate lets through, no window has more than the limit.
    #[test]
    fn no_window_has_more_starts_than_the_limit(
        limit in 1_i64..20,
        period in 1_u64..2000,
        steps in prop::collection::vec(0_i64..120, 1..400),
    ) {
        let (mut memory, mut now, mut started) = (Memory::default(), 0, Vec::new());
        for step in steps {
            now += step;
            match memory.admits(rate(limit, period), 0, at(now)) {
                Ok(()) => {
                    memory.started(rate(limit, period), at(now));
                    started.push(now);
                }
                Err(closed) => {
                    let until = closed.until.expect("time opens it").millis();
                    prop_assert!(until > now);
                    // At most the window and one part of it.
                    prop_assert!(until <= now + i64::try_from(period + period / 64 + 1).unwrap());
                }
            }
        }
        let period = i64::try_from(period).unwrap();
        for (index, end) in started.iter().enumerate() {
            let inside = started[..=index].iter().filter(|start| **start > end - period).count();
            prop_assert!(inside <= usize::try_from(limit).unwrap());
        }
        prop_assert!(memory.starts.spans.len() <= SPANS_MAX);
    }

    /// Windows of different lengths over one key keep their promises too.
    #[test]
    fn windows_of_different_lengths_share_their_starts(
        paces in prop::collection::vec((1_i64..10, 1_u64..50_000), 1..4),
        steps in prop::collection::vec((0_i64..200, 0_usize..4), 1..600),
    ) {
        let longest = paces.iter().map(|(_, period)| *period).max().unwrap();
        let (mut memory, mut now, mut started) = (Memory::default(), 0, Vec::new());
        // All of them are known from the beginning: what was forgotten before a longer window came cannot count.
        memory.started(rate(1_000_000, longest), at(0));
        started.push(0);
        for (step, which) in steps {
            now += step;
            let (limit, period) = paces[which % paces.len()];
            memory.starts.counted_for = Duration::from_millis(longest);
            if memory.admits(rate(limit, period), 0, at(now)).is_ok() {
                memory.started(rate(limit, period), at(now));
                started.push(now);
                let since = now - i64::try_from(period).unwrap();
                let inside = started.iter().filter(|start| **start > since).count();
                prop_assert!(inside <= usize::try_from(limit).unwrap());
            }
        }
        prop_assert!(memory.starts.spans.len() <= SPANS_MAX);
    }
}

#[test]
fn a_start_far_ahead_keeps_nobody_away_and_is_forgotten() {
    let month = 30 * 24 * 3_600_000;
    for limits in [rate(1, 1000), throttle(1, 1000)] {
        let mut memory = Memory::default();
        memory.started(limits, at(month));
        assert!(memory.admits(limits, 0, at(month)).is_err());
        memory.admits(limits, 0, at(0)).unwrap();
        memory.started(limits, at(0));
        assert!(memory.admits(limits, 0, at(500)).is_err(), "the start after it counts");
        memory.admits(limits, 0, at(1000)).unwrap();
    }
}

#[test]
fn a_clock_that_is_set_back_a_little_gives_no_second_start() {
    for limits in [rate(1, 1000), throttle(1, 1000)] {
        let mut memory = Memory::default();
        memory.started(limits, at(5000));
        assert!(memory.admits(limits, 0, at(4900)).is_err());
    }
}
