//! Ordering keys: jobs that share one in a queue run one after the other, in the order in which they were accepted.

use std::fmt;
use std::sync::Arc;

use crate::{Job, JobId, Phase, QueueName, Spec, State};

/// Longest ordering key.
pub const ORDERING_KEY_BYTES_MAX: usize = 256;

/// What jobs have in common that run one after the other.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OrderingKey(Arc<str>);

/// A text that is no ordering key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be a text of 1 to {ORDERING_KEY_BYTES_MAX} bytes without control characters")]
pub struct NoOrderingKey;

impl OrderingKey {
    /// Reads an ordering key.
    pub fn parse(text: &str) -> Result<OrderingKey, NoOrderingKey> {
        let fits = (1..=ORDERING_KEY_BYTES_MAX).contains(&text.len()) && !text.contains(char::is_control);
        if fits { Ok(OrderingKey(text.into())) } else { Err(NoOrderingKey) }
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// As text: keys may be names of customers, which are read in tests and not in logs.
impl fmt::Debug for OrderingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A line of jobs: at most one of them is not waiting for the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Order {
    /// The queue of its jobs. The same key in another queue is another line.
    pub queue: QueueName,
    /// The key of its jobs.
    pub key: OrderingKey,
}

impl Spec {
    /// The line in which the job stands until it has ended.
    pub fn order(&self) -> Option<Order> {
        let key = self.ordering_key.clone()?;
        Some(Order { queue: self.queue.clone(), key })
    }
}

impl Job {
    /// The line in which it stands, if it does and has not ended.
    pub fn stands_in(&self) -> Option<Order> {
        self.spec.order().filter(|_| !self.state().is_terminal())
    }
}

/// Whether a change brings a job into its line: it had ended, and lives again.
pub fn joins_line(before: State, after: &Job) -> bool {
    before.is_terminal() && !after.state().is_terminal() && after.spec.ordering_key.is_some()
}

/// Makes a job wait for the last in its line.
pub fn line_up(job: &mut Job, behind: JobId) {
    job.phase = Phase::Pending { after: Some(behind) };
    job.enqueued_at = None;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{at, id, job, job_in, rules};
    use crate::{Event, Parting, Refusal, decide, hand_on, let_go};

    /// The second of a line.
    fn waiting() -> Job {
        let mut waiting = job();
        Arc::make_mut(&mut waiting.spec).ordering_key = Some(OrderingKey::parse("k").unwrap());
        line_up(&mut waiting, id(9));
        waiting
    }

    #[test]
    fn only_an_end_lets_one_go_that_stands_in_a_line() {
        assert_eq!(let_go(&waiting(), Parting::KeyGivenUp, at(5)), None);
        let gone = let_go(&waiting(), Parting::Ended, at(5)).unwrap();
        assert_eq!((gone.state(), gone.enqueued_at), (State::Available, Some(at(5))));
    }

    #[test]
    fn one_that_is_handed_on_waits_for_another() {
        assert_eq!(hand_on(&waiting(), id(8)).unwrap().waits_for(), Some(id(8)));
        assert_eq!(hand_on(&job(), id(8)), None, "who does not wait is left alone");
    }

    #[test]
    fn nobody_activates_one_before_its_turn() {
        let refusal = Refusal::NotItsTurn { id: id(1), after: id(9) };
        assert_eq!(decide(&waiting(), Event::Activate, at(5), &rules()), Err(refusal));
    }

    #[test]
    fn a_job_stands_in_its_line_until_it_has_ended_and_joins_it_when_it_comes_back() {
        for state in State::ALL {
            let mut job = job_in(state);
            assert_eq!(job.stands_in(), None);
            assert!(!joins_line(State::Discarded, &job), "it has no key");
            Arc::make_mut(&mut job.spec).ordering_key = Some(OrderingKey::parse("k").unwrap());
            assert_eq!(job.stands_in().is_some(), !state.is_terminal(), "{state}");
            assert_eq!(joins_line(State::Discarded, &job), !state.is_terminal(), "{state}");
            assert!(!joins_line(State::Active, &job), "{state}");
        }
    }

    #[test]
    fn a_key_is_a_short_text_without_control_characters() {
        for text in ["a", "customer 42/é", &"k".repeat(ORDERING_KEY_BYTES_MAX)] {
            assert_eq!(OrderingKey::parse(text).unwrap().as_str(), text);
        }
        for text in ["", "a\nb", "\0", &"k".repeat(ORDERING_KEY_BYTES_MAX + 1)] {
            assert_eq!(OrderingKey::parse(text), Err(NoOrderingKey), "{text:?}");
        }
    }
}
