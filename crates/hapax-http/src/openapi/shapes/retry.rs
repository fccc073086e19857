//! Retry policies.

use hapax_wire::retry::{backoff_name, exhaustion_name};

use super::Named;
use crate::from_wire::bounds::{BACKOFFS, EXHAUSTIONS};
use crate::openapi::shape::{
    Member, Shape, choice, count, flag, may, needs, number, object, span, text, texts,
};

pub(super) fn shapes() -> Vec<Named> {
    vec![
        (
            "RetryPolicy",
            object(members().map(|(name, shape)| needs(name, shape)))
                .about("When a failed job is tried again."),
        ),
        ("RetryWish", wish()),
    ]
}

fn members() -> [(&'static str, Shape); 8] {
    [
        ("max_attempts", count().default(3)),
        ("initial_interval", span().about("The pause before the second attempt.")),
        ("backoff_coefficient", number().about("By how much pauses grow.")),
        ("max_interval", span().about("The longest pause.")),
        ("jitter", flag().about("Whether chance shortens or lengthens pauses.")),
        ("non_retryable_errors", texts().about("Types of errors after which there is no further attempt.")),
        ("on_exhaustion", exhaustion()),
        ("backoff_strategy", backoff()),
    ]
}

fn exhaustion() -> Shape {
    choice(EXHAUSTIONS.iter().map(|outcome| exhaustion_name(*outcome)))
        .about("What becomes of the job after its last attempt.")
}

fn backoff() -> Shape {
    choice(BACKOFFS.iter().map(|shape| backoff_name(*shape))).about("How pauses grow.")
}

/// What clients may send: any part of it, and in other words.
fn wish() -> Shape {
    let others: [Member; 7] = [
        may("initial_interval_ms", count()),
        may("max_interval_ms", count()),
        may("backoff_type", text().about("The same as `backoff_strategy`.")),
        may("strategy", text().about("The same as `backoff_strategy`.")),
        may("backoff", text().about("The same as `backoff_strategy`.")),
        may("initial_delay_ms", count().about("The same as `initial_interval_ms`.")),
        may("base_delay_ms", count().about("The same as `initial_interval_ms`.")),
    ];
    let members = members().into_iter().filter(|(name, _)| *name != "backoff_strategy");
    let strategy =
        may("backoff_strategy", choice(BACKOFFS.iter().map(|shape| backoff_name(*shape)).chain(["none"])));
    object(members.map(|(name, shape)| may(name, shape.or_null())).chain([strategy]).chain(others))
        .about("When a failed job is to be tried again; what is left out is as usual.")
}
