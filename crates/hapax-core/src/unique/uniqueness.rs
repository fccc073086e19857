//! How a job is recognised as one that exists already: by a policy or by a name, never by both.

use super::{JobKey, UniquePolicy, Watch};

/// The client's wish that the job exist once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Uniqueness {
    /// By what it is.
    Policy(UniquePolicy),
    /// By the name it was given.
    JobKey(JobKey),
}

impl Uniqueness {
    /// Which holders count.
    pub const fn watch(&self) -> Watch {
        match self {
            Uniqueness::Policy(policy) => policy.watch(),
            Uniqueness::JobKey(_) => JobKey::WATCH,
        }
    }

    /// The policy, if it is one.
    pub const fn policy(&self) -> Option<&UniquePolicy> {
        match self {
            Uniqueness::Policy(policy) => Some(policy),
            Uniqueness::JobKey(_) => None,
        }
    }

    /// What decides about a duplicate, in one word for metrics and explanations.
    pub const fn rule(&self) -> &'static str {
        match self {
            Uniqueness::Policy(UniquePolicy { replace: Some(_), .. }) => "update",
            Uniqueness::Policy(UniquePolicy { debounce: Some(_), .. }) => "debounce",
            Uniqueness::Policy(UniquePolicy { while_active: Some(choice), .. }) => choice.name(),
            Uniqueness::Policy(policy) => policy.on_conflict.name(),
            Uniqueness::JobKey(_) => "job_key",
        }
    }
}

impl From<UniquePolicy> for Uniqueness {
    fn from(policy: UniquePolicy) -> Uniqueness {
        Uniqueness::Policy(policy)
    }
}
