//! What is known of the past of jobs, and of their relatives.

use super::Named;
use crate::openapi::shape::{
    Shape, any_object, choice, count, list, may, moment, named, needs, object, text, texts,
};

pub(super) fn shapes() -> Vec<Named> {
    vec![("JobHistory", history()), ("JobHistoryEvent", event()), ("JobLineage", lineage())]
}

fn history() -> Shape {
    object([
        needs("job_id", text()),
        needs("events", list(named("JobHistoryEvent"))),
        needs("total", count()),
        may("next_cursor", text()),
        needs("omitted", texts().about("`earlier_starts`, `workers`, `earlier_failures`: what is not kept.")),
    ])
}

fn event() -> Shape {
    let actor = object([needs("type", choice(["client", "worker", "system"])), may("id", text())]);
    object([
        needs("id", text()),
        needs("job_id", text()),
        needs("event_type", text()),
        needs("timestamp", moment()),
        needs("actor", actor),
        needs("data", any_object()),
    ])
}

fn lineage() -> Shape {
    let relatives = || list(object([needs("job_id", text())]));
    object([
        needs("job_id", text()),
        needs("parent_id", text().or_null().about("The first of `parents`.")),
        needs("parents", relatives()),
        needs("parents_omitted", count()),
        may("workflow_id", text()),
        needs("root_id", text().or_null()),
        may("waits_for", text()),
        may("cron_name", text().about("The recurring job that made it.")),
        needs("children", relatives().about("Steps of its workflow that wait for it.")),
        needs("children_omitted", count()),
    ])
}
