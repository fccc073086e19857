//! What the clients know about one workflow.

use std::collections::BTreeSet;

use super::case::Case;

/// A workflow that was asked for.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) case: Case,
    /// Known since its start was answered, or one of its steps was seen.
    pub(crate) id: Option<String>,
    pub(crate) called_off: CalledOff,
    pub(crate) steps: Vec<Step>,
}

/// Whether somebody called the workflow off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CalledOff {
    Never,
    /// It was asked for without an answer, or with one that is not written down yet.
    Maybe,
    /// It was acknowledged, at this moment in the order of the book.
    At(usize),
}

/// One step.
#[derive(Debug, Default, Clone)]
pub(crate) struct Step {
    pub(crate) job: Option<String>,
    /// Each delivery that a worker received.
    pub(crate) fences: BTreeSet<u64>,
    /// Whether a worker has begun to report its end.
    pub(crate) is_reported: bool,
    /// Whether such a report was never answered.
    pub(crate) is_unanswered: bool,
    /// When such a report was acknowledged, by the book's own order.
    pub(crate) acknowledged: Option<usize>,
}

impl Record {
    pub(crate) fn new(case: Case) -> Record {
        let steps = vec![Step::default(); case.steps()];
        Record { case, id: None, called_off: CalledOff::Never, steps }
    }
}
