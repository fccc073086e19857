//! The bodies that are sent: jobs of about 450 bytes, batches of them, fetches and acks.

use std::time::Duration;

use crate::request::{ID_WIDTH, NUMBER_WIDTH, Shape};

pub(crate) const JOB_BYTES: usize = 450;
/// The queue of the preloaded jobs and of every case but the end-to-end one.
pub(crate) const QUEUE: &str = "bench";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Policy {
    Plain,
    /// Unique by the number; a duplicate would be refused with 409.
    Reject,
    /// Unique by the number; a duplicate is answered with 200 and the holder.
    Ignore,
}

impl Policy {
    fn json(self) -> String {
        let on_conflict = match self {
            Self::Plain => return String::new(),
            Self::Reject => "reject",
            Self::Ignore => "ignore",
        };
        format!(r#","unique":{{"keys":["type","args"],"args_keys":["n"],"on_conflict":"{on_conflict}"}}"#)
    }
}

pub(crate) fn single(queue: &str, policy: Policy) -> Shape {
    let body = job(queue, &policy.json());
    let holes = vec![number_offset(&body)];
    Shape { path: "/ojs/v1/jobs".into(), body, holes }
}

pub(crate) fn batch(queue: &str, policy: Policy, count: usize) -> Shape {
    mixed_batch(queue, std::iter::repeat_n(policy.json(), count))
}

/// A batch of jobs with further options, each with its own: members with a comma before each.
pub(crate) fn mixed_batch(queue: &str, options: impl Iterator<Item = String>) -> Shape {
    let mut body = br#"{"jobs":["#.to_vec();
    let mut holes = Vec::new();
    for options in options {
        if !holes.is_empty() {
            body.push(b',');
        }
        let job = job(queue, &options);
        holes.push(body.len() + number_offset(&job));
        body.extend_from_slice(&job);
    }
    body.extend_from_slice(b"]}");
    Shape { path: "/ojs/v1/jobs/batch".into(), body, holes }
}

pub(crate) fn fetch(queue: &str) -> Shape {
    patient_fetch(queue, Duration::ZERO)
}

/// A fetch that waits if there is nothing.
pub(crate) fn patient_fetch(queue: &str, wait: Duration) -> Shape {
    let wait = if wait.is_zero() { String::new() } else { format!(r#","wait_ms":{}"#, wait.as_millis()) };
    let body = format!(r#"{{"queues":["{queue}"],"count":1,"worker_id":"bench"{wait}}}"#).into_bytes();
    Shape { path: "/ojs/v1/workers/fetch".into(), body, holes: Vec::new() }
}

pub(crate) fn ack() -> Shape {
    let start = r#"{"job_id":""#;
    let body = format!(r#"{start}{}"}}"#, "0".repeat(ID_WIDTH)).into_bytes();
    Shape { path: "/ojs/v1/workers/ack".into(), body, holes: vec![start.len()] }
}

/// The id of the first job in an answer.
pub(crate) fn id_in(answer: &[u8]) -> Option<[u8; ID_WIDTH]> {
    after(answer, br#""id":""#)?.first_chunk().copied()
}

/// The number of the first job in an answer.
pub(crate) fn number_in(answer: &[u8]) -> Option<u64> {
    let digits: &[u8; NUMBER_WIDTH] = after(answer, br#""n":"#)?.first_chunk()?;
    str::from_utf8(digits).ok()?.parse().ok()
}

/// The number that an answer gives for that member, where it stands first.
pub(crate) fn count_in(answer: &[u8], member: &str) -> Option<u64> {
    let rest = after(answer, format!(r#""{member}":"#).as_bytes())?;
    let digits = rest.split(|byte| !byte.is_ascii_digit()).next()?;
    str::from_utf8(digits).ok()?.parse().ok()
}

/// One job, padded so that all cost the same bytes on the wire, whatever their options.
fn job(queue: &str, options: &str) -> Vec<u8> {
    let number = "0".repeat(NUMBER_WIDTH);
    let render = |pad: &str| {
        format!(
            r#"{{"type":"bench.job","args":[{{"n":{number},"pad":"{pad}"}}],"options":{{"queue":"{queue}"{options}}}}}"#
        )
    };
    let bare = render("").len();
    render(&"x".repeat(JOB_BYTES.saturating_sub(bare))).into_bytes()
}

fn number_offset(job: &[u8]) -> usize {
    let rest = after(job, br#""n":"#).map_or(0, <[u8]>::len);
    job.len() - rest
}

fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let start = text.windows(mark.len()).position(|window| window == mark)?;
    text.get(start + mark.len()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_gives_a_job_of_the_same_size() {
        for policy in [Policy::Plain, Policy::Reject, Policy::Ignore] {
            assert_eq!(single(QUEUE, policy).body.len(), JOB_BYTES);
        }
    }

    #[test]
    fn every_hole_of_a_batch_is_a_number() {
        let shape = batch(QUEUE, Policy::Reject, 3);
        assert_eq!(shape.holes.len(), 3);
        for hole in shape.holes {
            assert_eq!(&shape.body[hole..hole + NUMBER_WIDTH], b"0000000000");
        }
    }

    #[test]
    fn id_and_number_are_found_in_an_answer() {
        let answer = br#"{"jobs":[{"id":"0197a2b4-0000-7000-8000-000000000001","args":[{"n":1000000007}]}]}"#;
        assert_eq!(id_in(answer).as_ref(), Some(b"0197a2b4-0000-7000-8000-000000000001"));
        assert_eq!(number_in(answer), Some(1_000_000_007));
        assert_eq!(count_in(answer, "n"), Some(1_000_000_007));
        assert_eq!(count_in(answer, "id"), None);
        assert_eq!(id_in(br#"{"jobs":[]}"#), None);
    }
}
