//! The body of a change to a waiting job.

use hapax_core::Priority;
use hapax_core::json::Node;

use super::draft::read_priority;
use super::{Fault, Given};

/// Reads `{priority}`: nothing else of a stored job can be changed.
pub(crate) fn update(body: &Node<'_>) -> Result<Priority, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["priority"])?;
    read_priority(body.required("priority", "an integer from -100 to 100")?)
}
