//! Dead letters.

use super::Named;
use crate::openapi::shape::{
    Shape, any_object, count, list, map, may, moment, named, needs, object, span, text,
};

pub(super) fn shapes() -> Vec<Named> {
    let revival = object([
        may("queue", text()),
        may("args", named("Arguments")),
        may("meta", any_object()),
        may("retry", named("RetryWish")),
    ]);
    vec![
        (
            "DeadLetters",
            object([needs("jobs", list(named("Job"))), needs("pagination", named("Pagination"))]),
        ),
        (
            "OperatedDeadLetters",
            object([needs("items", list(named("Job"))), needs("pagination", named("NumberedPagination"))]),
        ),
        ("DeadLetterStats", stats()),
        (
            "RevivalWish",
            object([may("override", revival.only().about("What is to be different this time."))]).only(),
        ),
    ]
}

fn stats() -> Shape {
    object([
        needs("total", count()),
        needs("counted", count().about("How many of them the rest is about.")),
        needs("by_queue", map(&count())),
        needs("by_error_type", map(&count())),
        may("oldest_at", moment()),
        may("newest_at", moment()),
        needs("retention", object([needs("max_age", span())])),
    ])
}
