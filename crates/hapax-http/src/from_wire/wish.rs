//! The body of a fetch.

use std::time::Duration;

use hapax_broker::{FETCH_COUNT_MAX, FETCH_WAIT_MAX, Fetch};
use hapax_core::json::Node;

use super::draft::read_queue;
use super::{Fault, Given, span};

/// Most queues of one fetch.
const QUEUES_MAX: usize = 256;

/// What a worker wants.
#[derive(Debug)]
pub(crate) struct Wish {
    /// What the broker is asked.
    pub(crate) fetch: Fetch,
    /// Whether the request named no number, and so asks for the one job.
    pub(crate) is_single: bool,
}

/// Reads which jobs a worker wants.
pub(crate) fn wish(body: &Node<'_>) -> Result<Wish, Fault> {
    let body = Given::body(body)?;
    let queues = body.required("queues", "an array of at least one queue")?;
    let count = queues.node.as_array().map_or(1, <[_]>::len);
    if !(1..=QUEUES_MAX).contains(&count) {
        return Err(Fault::new(queues.place, format_args!("must name 1 to {QUEUES_MAX} queues")));
    }
    let wait = body.member("wait_ms").map(|given| given.integer(0, millis(FETCH_WAIT_MAX))).transpose()?;
    let most = i64::try_from(FETCH_COUNT_MAX).unwrap_or(i64::MAX);
    let count = body.member("count").map_or(Ok(1), |given| given.integer(1, most))?;
    let visibility_timeout =
        span::visibility_timeout(body.member("visibility_timeout"), body.member("visibility_timeout_ms"))?;
    let fetch = Fetch {
        queues: queues.items("an array of queues")?.map(read_queue).collect::<Result<_, _>>()?,
        count: usize::try_from(count).unwrap_or(1),
        worker: body.member("worker_id").map(|given| given.worker()).transpose()?,
        visibility_timeout,
        wait: Duration::from_millis(wait.unwrap_or(0).unsigned_abs()),
    };
    Ok(Wish { fetch, is_single: body.member("count").is_none() })
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
