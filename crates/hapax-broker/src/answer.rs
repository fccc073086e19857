//! Taking apart what the store answered. A store that answers something else than was asked is defect; its caller
//! hears of that as of any other failure of the machine, and the server goes on.

use std::sync::Arc;

use hapax_core::{Admission, Refusal};
use hapax_store::{Answer, Change, Done, QueueFacts, StoreError};

use crate::{Error, Receipt};

/// What is wrong with a store whose answer does not fit.
#[derive(Debug, thiserror::Error)]
#[error("the store answered another question")]
struct AnotherQuestion;

/// The error for an answer that does not fit. What was asked for may have been done all the same.
pub(crate) fn another_question() -> Error {
    Error::Store(StoreError::Unknown(Arc::new(AnotherQuestion)))
}

/// The answers, as many as there were questions.
pub(crate) fn all(answers: Vec<Answer>, asked: usize) -> Result<Vec<Answer>, Error> {
    if answers.len() == asked { Ok(answers) } else { Err(another_question()) }
}

/// The answer to the only question.
pub(crate) fn only(mut answers: Vec<Answer>) -> Result<Done, Error> {
    Ok(answers.pop().ok_or_else(another_question)??)
}

/// The answer to an enqueue.
pub(crate) fn enqueued(done: Done) -> Result<Receipt<Admission>, Error> {
    match done {
        Done::Enqueued(admission) => Ok(Receipt::Fresh(*admission)),
        Done::Remembered(remembered) => Ok(Receipt::Remembered(remembered)),
        _ => Err(another_question()),
    }
}

/// The answer to a batch.
pub(crate) fn enqueued_all(done: Done) -> Result<Receipt<Vec<Admission>>, Error> {
    match done {
        Done::EnqueuedAll(admissions) => Ok(Receipt::Fresh(admissions)),
        Done::Remembered(remembered) => Ok(Receipt::Remembered(remembered)),
        _ => Err(another_question()),
    }
}

/// The answer to a list of jobs of which each stands for itself.
pub(crate) fn enqueued_each(done: Done) -> Result<Receipt<Vec<Result<Admission, Refusal>>>, Error> {
    match done {
        Done::EnqueuedEach(answers) => Ok(Receipt::Fresh(answers)),
        Done::Remembered(remembered) => Ok(Receipt::Remembered(remembered)),
        _ => Err(another_question()),
    }
}

/// The answer to a step.
pub(crate) fn stepped(done: Done) -> Result<Change, Error> {
    match done {
        Done::Stepped(change) => Ok(*change),
        _ => Err(another_question()),
    }
}

/// The answer to a step of all that carry a key.
pub(crate) fn stepped_holders(done: Done) -> Result<Vec<Change>, Error> {
    match done {
        Done::SteppedHolders(changes) => Ok(changes),
        _ => Err(another_question()),
    }
}

/// The answer to a change of a queue.
pub(crate) fn queue(done: Done) -> Result<QueueFacts, Error> {
    match done {
        Done::Queue(facts) => Ok(facts),
        _ => Err(another_question()),
    }
}

/// The answer to the removal of a queue.
pub(crate) fn queue_removed(done: &Done) -> Result<(), Error> {
    match done {
        Done::QueueRemoved(_) => Ok(()),
        _ => Err(another_question()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is_refused<T: std::fmt::Debug>(answer: Result<T, Error>) {
        let Err(Error::Store(StoreError::Unknown(source))) = answer else { panic!("{answer:?}") };
        assert_eq!(source.to_string(), "the store answered another question");
    }

    #[test]
    fn an_answer_to_another_question_is_an_error_and_no_panic() {
        is_refused(enqueued(Done::EnqueuedAll(Vec::new())));
        is_refused(enqueued_each(Done::EnqueuedAll(Vec::new())));
        is_refused(stepped(Done::EnqueuedAll(Vec::new())));
        is_refused(stepped_holders(Done::EnqueuedAll(Vec::new())));
        is_refused(queue(Done::EnqueuedAll(Vec::new())));
        is_refused(queue_removed(&Done::EnqueuedAll(Vec::new())));
        is_refused(only(Vec::new()));
        is_refused(all(Vec::new(), 1));
        assert!(matches!(enqueued_all(Done::EnqueuedAll(Vec::new())), Ok(Receipt::Fresh(_))));
    }
}
