//! The body of a fetch.

use std::time::Duration;

use hapax_broker::{FETCH_COUNT_MAX, FETCH_WAIT_MAX, Fetch};
use hapax_core::QueueName;
use hapax_core::json::Node;

use super::draft::read_queue;
use super::{Fault, Given, Place, span};

/// Most queues of one fetch.
pub(crate) const QUEUES_MAX: usize = 256;

const MEMBERS: &[&str] =
    &["queues", "pool", "count", "worker_id", "visibility_timeout", "visibility_timeout_ms", "wait_ms"];

/// What a worker wants.
#[derive(Debug)]
pub(crate) struct Wish {
    /// What the broker is asked.
    pub(crate) fetch: Fetch,
    /// The pool from whose queues it wants them, in place of queues.
    pub(crate) pool: Option<Box<str>>,
    /// Whether the request named no number, and so asks for the one job.
    pub(crate) is_single: bool,
}

/// Reads which jobs a worker wants.
pub(crate) fn wish(body: &Node<'_>) -> Result<Wish, Fault> {
    let body = Given::body(body)?;
    body.refuse_near_misses(MEMBERS)?;
    let pool = body.member("pool");
    let queues = match (body.member("queues"), &pool) {
        (Some(queues), Some(pool)) => {
            let problem = format_args!("stands beside {}; send one of the two", queues.place);
            return Err(Fault::new(pool.place, problem));
        }
        (Some(queues), None) => read_queues(&queues)?,
        (None, Some(_)) => Vec::new(),
        (None, None) => {
            return Err(Fault::missing(
                Place::Member(&body.place, "queues"),
                "an array of at least one queue",
            ));
        }
    };
    let wait = body.member("wait_ms").map(|given| given.integer(0, millis(FETCH_WAIT_MAX))).transpose()?;
    // Who asks for more than there is in one answer is given what there is, as with any other queue that has fewer.
    let count = body.member("count").map_or(Ok(1), |given| given.integer(1, i64::MAX))?;
    let visibility_timeout =
        span::visibility_timeout(body.member("visibility_timeout"), body.member("visibility_timeout_ms"))?;
    let fetch = Fetch {
        queues,
        count: usize::try_from(count).unwrap_or(FETCH_COUNT_MAX).min(FETCH_COUNT_MAX),
        worker: body.member("worker_id").map(|given| given.worker()).transpose()?,
        visibility_timeout,
        tenant: None,
        wait: Duration::from_millis(wait.unwrap_or(0).unsigned_abs()),
    };
    let pool = pool.map(|given| given.text("the name of a pool").map(Box::from)).transpose()?;
    Ok(Wish { fetch, pool, is_single: body.member("count").is_none() })
}

fn read_queues(given: &Given<'_, '_>) -> Result<Vec<QueueName>, Fault> {
    let count = given.node.as_array().map_or(1, <[_]>::len);
    if !(1..=QUEUES_MAX).contains(&count) {
        return Err(Fault::new(given.place, format_args!("must name 1 to {QUEUES_MAX} queues")));
    }
    given.items("an array of queues")?.map(read_queue).collect()
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
