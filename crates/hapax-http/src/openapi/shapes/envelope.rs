//! Jobs as clients send them.

use hapax_core::unique::JobKeyMode;
use hapax_core::{AGENT_MEMBER, ORDERING_KEY_BYTES_MAX, Priority};

use super::job::delivery;
use super::{Named, one_of};
use crate::from_wire::bounds::EXTRA_MAX;
use crate::openapi::shape::{
    Member, Shape, all, any, any_object, constant, count, either, flag, integer, may, moment, named, needs,
    object, seconds_or_span, text, texts,
};

pub(super) fn shapes() -> Vec<Named> {
    vec![
        (
            "JobKeyMode",
            one_of(JobKeyMode::ALL, JobKeyMode::name).about("What becomes of the job that has the job key."),
        ),
        (
            "Options",
            object(options()).about("Attributes of a job that may stand flat or here.").others(&any()),
        ),
        ("Envelope", envelope()),
        ("JobTemplate", template()),
    ]
}

fn envelope() -> Shape {
    let flat = [
        needs("type", text().about("The kind of work, such as `email.send`.")),
        may("args", named("Arguments")),
        may("payload", any().about("`payload: X` means `args: [X]`.")),
        may("specversion", constant("1.0")),
        may("id", text().about("Your own UUIDv7.")),
        may("options", named("Options")),
    ];
    let one_of_two = either([object([needs("args", any())]), object([needs("payload", any())])]);
    let about = format!(
        "A job. Attributes stand flat or under `options`; up to {EXTRA_MAX} that the server does not know are kept and returned."
    );
    all([object(flat.into_iter().chain(options())).others(&any()), one_of_two]).about(about)
}

/// A job that a recurring job or a workflow makes.
fn template() -> Shape {
    all([named("Envelope")]).about("The job to make. Times in it are relative to each run, such as `+PT10M`.")
}

fn options() -> Vec<Member> {
    let given_time = || {
        either([moment(), text().pattern(r"^\+P")])
            .about("A time with a zone, or such as `+PT5M` from the arrival of the job.")
    };
    let priority = integer().least(Priority::MIN).most(Priority::MAX).default(0).about("Higher is first.");
    vec![
        may("queue", text().default("\"default\"")),
        may("priority", priority),
        may("meta", any_object()),
        may("tags", texts()),
        may("schema", text().about("The URI of a schema that `args` are held to, if it is registered.")),
        may("scheduled_at", given_time()),
        may("delay_until", given_time()),
        may("expires_at", given_time()),
        may("timeout", count().about("How long one attempt may run, in seconds.")),
        may("timeout_ms", count().about("The same in milliseconds.")),
        may("visibility_timeout", seconds_or_span().about("How long a lease lasts.")),
        may("visibility_timeout_ms", integer().least(1)),
        may("total_timeout", seconds_or_span().about("How long all attempts may take together.")),
        may("enqueue_ttl", seconds_or_span().about("How long it may wait for its first start.")),
        may("heartbeat_timeout", seconds_or_span().about("How long its worker may be silent.")),
        may("grace_period", seconds_or_span().about("How long it may run on beyond its timeout.")),
        may("retry", named("RetryWish")),
        may("retry_policy", named("RetryWish").about("The same as `retry`.")),
        may("max_attempts", count().about("`retry.max_attempts`.")),
        may("unique", named("UniquePolicy")),
        may("job_key", text()),
        may(
            "ordering_key",
            text().chars_max(ORDERING_KEY_BYTES_MAX).about("Jobs with the same key run one after the other."),
        ),
        may("job_key_mode", named("JobKeyMode")),
        may("rate_limit", named("RateLimitWish")),
        may("delivery", delivery()),
        may(AGENT_MEMBER, any_object().about("Makes the job an agent.")),
        may(hapax_core::State::Pending.name(), flag().about("Wait to be let go by `/activate`.")),
    ]
}
