//! Events.

use hapax_broker::EventKind;

use super::{Named, one_of};
use crate::openapi::shape::{
    any_object, constant, count, flag, list, may, moment, named, needs, object, text,
};

pub(super) fn shapes() -> Vec<Named> {
    let event = object([
        needs("specversion", constant("1.0")),
        needs("id", text()),
        needs("type", named("EventKind")),
        needs("source", text()),
        needs("time", moment()),
        needs("event", named("EventKind").about("The same as `type`.")),
        needs("timestamp", moment().about("The same as `time`.")),
        may("queue", text()),
        may(
            "subject",
            text().about(
                "What it is about: a job, a workflow, a recurring job, a queue, a worker or a subscription.",
            ),
        ),
        may("job_id", text()),
        may("state", named("State")),
        may("workflow_id", text()),
        needs("data", any_object().about("What happened; which members it has depends on the kind.")),
    ]);
    let counted = ["total", "page", "per_page", "limit", "offset"].map(|name| needs(name, count()));
    let page = object([
        needs("events", list(named("Event"))),
        needs("cursor", text().about("Send it as `after` to be told what happened since.")),
        needs("has_more", flag()),
        needs("gap", flag().about("Whether events are missing that the log has forgotten.")),
        may("items", list(named("Event")).about("With `page`: the same events, the newest first.")),
        may("pagination", object(counted).about("With `page`.")),
    ]);
    vec![("EventKind", one_of(EventKind::ALL, EventKind::name)), ("Event", event), ("Events", page)]
}
