//! Rate limits.

use axum::http::Method;
use hapax_wire::error::Code;

use crate::from_wire::bounds::LIMITS_OFFSET_MAX;
use crate::openapi::operation::{Operation, delete, get, put};
use crate::openapi::parameter::{counted, cursor};
use crate::openapi::shape::{either, named};

pub(super) fn operations() -> Vec<Operation> {
    let queue = "/ojs/v1/admin/queues/{name}/rate-limit";
    vec![
        get("/ojs/v1/rate-limits", "List rate limits")
            .with(counted(LIMITS_OFFSET_MAX))
            .with([cursor()])
            .gives(200, "Those that matter now.", "RateLimits"),
        get("/ojs/v1/rate-limits/{key}", "Look at a rate limit")
            .gives(200, "How it stands.", "RateLimit")
            .fails([Code::NotFound]),
        put("/ojs/v1/rate-limits/{key}", "Decide about a rate limit")
            .details("It wins over what jobs say, figure by figure.")
            .takes(either([named("RateLimitOverride"), named("FlatRateLimitOverride")]))
            .gives(200, "How it stands.", "RateLimit"),
        delete("/ojs/v1/rate-limits/{key}", "Let jobs decide again")
            .also(Method::DELETE, "/ojs/v1/rate-limits/{key}/override")
            .gives_nothing(204, "What jobs say counts.")
            .fails([Code::NotFound]),
        get(queue, "Look at the limit of a queue")
            .gives(200, "What was decided.", "QueueRateLimit")
            .fails([Code::NotFound]),
        put(queue, "Limit all jobs of a queue")
            .takes(either([named("RateLimitOverride"), named("FlatRateLimitOverride")]))
            .gives(200, "What was decided.", "QueueRateLimit"),
        delete(queue, "Take the limit of a queue back")
            .gives_nothing(204, "It has none.")
            .fails([Code::NotFound]),
    ]
}
