//! Workflows.

pub(crate) mod cancel;
pub(crate) mod create;
pub(crate) mod list;
pub(crate) mod progress;
pub(crate) mod show;

use hapax_core::workflow::WorkflowId;

use crate::call::Call;
use crate::problem::Problem;

/// The workflow that the path names. One that no workflow can have is not found.
fn id(call: &Call) -> Result<WorkflowId, Problem> {
    call.parameter.parse().map_err(|_| Problem::no_resource("workflow", &call.parameter))
}
