//! Which entries of a history are of attempts, and which say why a job was given up while nobody ran it.

use super::*;
use crate::TimeLimits;
use crate::failure::Farewell;

fn limited(total: Duration) -> Job {
    let limits = TimeLimits { total: Some(total), ..TimeLimits::default() };
    let spec =
        Arc::new(Spec { limits, expires_at: Some(GivenTime::computed(at(5000))), ..(*job().spec).clone() });
    Job { spec, ..job() }
}

fn failed(job: &Job, code: &str, now: Timestamp) -> Job {
    next(&claimed(job, token(1), now), fail_with(error(code)), now)
}

/// Which attempts have failed, and why.
fn attempts(job: &Job) -> Vec<(u32, &str)> {
    job.failed_attempts().map(|failure| (failure.attempt, &*failure.code)).collect()
}

#[test]
fn what_a_worker_reports_is_of_an_attempt_whatever_it_calls_it() {
    for farewell in Farewell::ALL {
        let job = failed(&job(), farewell.code(), at(1));
        assert_eq!(attempts(&job), [(1, farewell.code())]);
        let again = failed(&next(&job, Event::Retry, at(2)), farewell.code(), at(3));
        assert_eq!(attempts(&again), [(1, farewell.code()), (2, farewell.code())]);
    }
}

#[test]
fn what_the_server_says_of_a_job_that_nobody_runs_is_of_none() {
    let waiting = next(&failed(&limited(SECOND * 7000), "x", at(1)), Event::Retry, at(2));
    for job in [limited(SECOND * 7000), waiting] {
        let before: Vec<_> = attempts(&job).into_iter().map(|(attempt, _)| attempt).collect();
        for ended in [
            after_time(&job, at(5000)),
            next(&job, Event::Drop, at(3)),
            next(&job, Event::Displace, at(3)),
            next(&job, Event::LoseQueue, at(3)),
        ] {
            assert_eq!(ended.state(), State::Discarded);
            assert_eq!(ended.history.entries().len(), before.len() + 1);
            assert_eq!(attempts(&ended).into_iter().map(|(attempt, _)| attempt).collect::<Vec<_>>(), before);
        }
    }
}

#[test]
fn the_end_of_all_its_time_is_of_an_attempt_if_one_runs() {
    let total = "total_timeout";
    let running = claimed(&limited(SECOND * 100), token(1), at(50));
    let ended = after_time(&running, at(100));
    assert_eq!(attempts(&ended), [(1, total)]);
    let waiting = after_time(&limited(SECOND * 100), at(100));
    assert_eq!((waiting.history.entries().len(), attempts(&waiting)), (1, vec![]));
    let tried = failed(&limited(SECOND * 100), "x", at(50));
    assert_eq!(attempts(&after_time(&next(&tried, Event::Retry, at(60)), at(100))), [(1, "x")]);
    let last = failed(&limited(SECOND * 100), "x", at(100) - Duration::from_millis(1));
    assert_eq!(
        (last.state(), attempts(&last)),
        (State::Discarded, vec![(1, "x")]),
        "no time is left for another"
    );
    // Its second life counts from one again.
    let revived = next(&last, Event::Retry, at(200));
    let ended = after_time(&claimed(&revived, token(2), at(250)), at(300));
    assert_eq!(attempts(&ended), [(1, "x"), (1, total)]);
}

#[test]
fn an_attempt_that_was_handed_back_is_none() {
    let tried = next(&failed(&limited(SECOND * 100), "x", at(50)), Event::Retry, at(60));
    let requeue = Event::Fail {
        claimant: Claimant::UNNAMED,
        error: error("total_timeout"),
        handback: Handback::Requeue,
        chance: Chance(0),
    };
    for (job, expected) in [(limited(SECOND * 100), vec![]), (tried, vec![(1, "x")])] {
        let back = next(&claimed(&job, token(2), at(70)), requeue.clone(), at(80));
        assert_eq!(attempts(&after_time(&back, at(100))), expected);
    }
}
