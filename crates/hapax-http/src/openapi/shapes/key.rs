//! Keys and the jobs that carry them.

use super::Named;
use crate::from_wire::bounds::RELEASE_REASON_CHARS_MAX;
use crate::openapi::shape::{
    Member, Shape, count, flag, list, may, moment, named, needs, object, text, texts,
};

pub(super) fn shapes() -> Vec<Named> {
    let reason = text().chars_max(RELEASE_REASON_CHARS_MAX);
    vec![
        ("HeldKeys", held()),
        ("Locks", locks()),
        ("Holders", holders()),
        ("ReleaseWish", object([may("reason", reason)]).only()),
        ("Released", released()),
        ("RemovedByKey", removed()),
    ]
}

fn identity() -> [Member; 5] {
    [
        needs("job_id", text()),
        needs("type", text()),
        needs("queue", text()),
        needs("state", named("State")),
        needs("created_at", moment()),
    ]
}

fn held() -> Shape {
    let own = [
        may("key", text()),
        needs("held_for_ms", count()),
        may("job_key", text()),
        needs("duplicates", named("Duplicates")),
    ];
    object([
        needs("keys", list(object(identity().into_iter().chain(own)))),
        needs("held", count().about("How many keys are held in all.")),
        needs("pagination", named("Pagination")),
    ])
}

fn locks() -> Shape {
    let until = may("locked_until", moment().about("When it becomes free, if that is a matter of time."));
    let own = [needs("key", text()), until];
    object([
        needs("items", list(object(identity().into_iter().chain(own)))),
        needs("pagination", named("NumberedPagination")),
    ])
}

fn holders() -> Shape {
    let free = object([may("at", moment()), needs("states", list(named("State")))]);
    let own = [
        needs("held", flag()),
        may("job_key", text()),
        may("unique", named("ShownPolicy")),
        may("duplicates", named("Duplicates")),
        may("reentered_beside", text()),
        may("free", free.about("When it stops to count: at a time, or in these states.")),
    ];
    object([
        needs("key", text()),
        needs("held", flag()),
        needs("holders_live", count()),
        needs("holders_ended", count()),
        needs("holders", list(object(identity().into_iter().chain(own)))),
    ])
}

fn released() -> Shape {
    let job = object([needs("job_id", text()), needs("state", named("State"))]);
    object([needs("key", text()), needs("released", list(job)), needs("remaining", count())])
}

fn removed() -> Shape {
    object([
        needs("job_key", text()),
        needs("removed", texts().about("Jobs that are gone.")),
        needs("released", texts().about("Running jobs, which go on without the key.")),
    ])
}
