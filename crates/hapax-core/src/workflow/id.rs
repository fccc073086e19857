//! A workflow's id, and the ids of its jobs.

use std::fmt;
use std::str::FromStr;

use crate::{IdError, JobId, Timestamp};

/// Most steps of a workflow, callbacks included.
pub const STEPS_MAX: usize = 10_000;

/// The bits of an id that number the jobs of a workflow.
const STEP_BITS: u32 = 20;
const STEP_MASK: u128 = (1 << STEP_BITS) - 1;

/// The name of a workflow: a UUID of version 7 that ends in zeros. Its jobs have the same id but for the end, which is
/// their number, so a job names its workflow and a workflow all of its jobs without a list of either.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkflowId(JobId);

impl WorkflowId {
    /// An id from the moment and random bits of the caller.
    pub fn new(now: Timestamp, random: [u8; 10]) -> WorkflowId {
        WorkflowId(with_end(JobId::new(now, random), 0))
    }

    /// The id of the job of a step.
    pub fn job(self, step: u32) -> JobId {
        with_end(self.0, u128::from(step) + 1)
    }

    /// The workflow to which a job with such an id would belong, and its step.
    pub fn of_job(id: JobId) -> Option<(WorkflowId, u32)> {
        let number = u128::from_be_bytes(*id.bytes()) & STEP_MASK;
        let step = u32::try_from(number.checked_sub(1)?).ok()?;
        Some((WorkflowId(with_end(id, 0)), step))
    }

    /// The 16 bytes of it.
    pub const fn bytes(&self) -> &[u8; 16] {
        self.0.bytes()
    }
}

/// The version and the variant stand elsewhere, so the result is an id like the other.
fn with_end(id: JobId, end: u128) -> JobId {
    let bits = u128::from_be_bytes(*id.bytes()) & !STEP_MASK | (end & STEP_MASK);
    JobId::from_bytes(bits.to_be_bytes()).unwrap_or(id)
}

impl FromStr for WorkflowId {
    type Err = IdError;

    /// An id that does not end in zeros is none of ours.
    fn from_str(text: &str) -> Result<Self, IdError> {
        let id: JobId = text.parse()?;
        let is_ours = with_end(id, 0) == id;
        if is_ours { Ok(WorkflowId(id)) } else { Err(IdError(text.into())) }
    }
}

impl fmt::Display for WorkflowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for WorkflowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_names_its_workflow_and_a_workflow_its_jobs() {
        let id = WorkflowId::new(Timestamp::from_millis(1_700_000_000_000), [0xff; 10]);
        assert_eq!(id.to_string().parse(), Ok(id));
        for step in [0, 1, u32::try_from(STEPS_MAX).unwrap()] {
            let job = id.job(step);
            assert_eq!(job.to_string().parse(), Ok(job), "a job id like any other");
            assert_eq!(WorkflowId::of_job(job), Some((id, step)));
        }
        assert!(id.job(7).to_string().parse::<WorkflowId>().is_err());
    }
}
