//! How a job is recognised as one that exists already: by a policy or by a name, never by both.

use super::{JobKey, Rule, UniquePolicy, Watch};

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

    /// What decides about a duplicate while no holder runs.
    pub const fn rule(&self) -> Rule {
        match self {
            Uniqueness::Policy(UniquePolicy { replace: Some(_), .. }) => Rule::Replacement,
            Uniqueness::Policy(UniquePolicy { debounce: Some(_), .. }) => Rule::Debounce,
            Uniqueness::Policy(policy) => Rule::Strategy(policy.on_conflict),
            Uniqueness::JobKey(_) => Rule::JobKey,
        }
    }
}

impl From<UniquePolicy> for Uniqueness {
    fn from(policy: UniquePolicy) -> Uniqueness {
        Uniqueness::Policy(policy)
    }
}
