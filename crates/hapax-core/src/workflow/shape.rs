//! A workflow as its client writes it down.

use super::When;

/// A job, or jobs in some order. `J` is whatever the caller knows of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape<J> {
    /// One job.
    Job(J),
    /// One after the other.
    Chain(Vec<Shape<J>>),
    /// All at once.
    Group(Vec<Shape<J>>),
    /// All at once, and then the callbacks.
    Batch {
        /// The jobs.
        jobs: Vec<Shape<J>>,
        /// At most one of each kind.
        callbacks: Vec<(Callback, J)>,
    },
    /// Each after those that it names. Only a whole workflow can be written like this.
    Dag(Vec<DagStep<J>>),
}

/// A step that names those for which it waits.
#[derive(Debug, Clone, PartialEq)]
pub struct DagStep<J> {
    /// Its name in this workflow.
    pub name: Box<str>,
    /// The names of those for which it waits.
    pub needs: Vec<Box<str>>,
    /// The kind of callback that it is said to be.
    pub callback: Option<Callback>,
    /// The job.
    pub job: J,
}

/// When a callback runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callback {
    /// When all have ended.
    OnComplete,
    /// When all have ended well.
    OnSuccess,
    /// When all have ended, one at least not well.
    OnFailure,
}

impl Callback {
    /// All kinds.
    pub const ALL: [Callback; 3] = [Callback::OnComplete, Callback::OnSuccess, Callback::OnFailure];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Callback::OnComplete => "on_complete",
            Callback::OnSuccess => "on_success",
            Callback::OnFailure => "on_failure",
        }
    }

    /// The callback of that name, with `_` or `-`: the Python SDK writes the one, the Rust SDK the other.
    pub fn named(text: &str) -> Option<Callback> {
        Callback::ALL.into_iter().find(|callback| callback.name() == text.replace('-', "_"))
    }

    pub(super) const fn when(self) -> When {
        match self {
            Callback::OnComplete => When::End,
            Callback::OnSuccess => When::Success,
            Callback::OnFailure => When::Failure,
        }
    }
}
