//! Something done about many jobs.

use hapax_broker::BULK_MAX;
use hapax_core::{Priority, State};

use super::Named;
use crate::from_wire::bounds::{META_MEMBERS_MAX, STATE_GROUPS};
use crate::openapi::shape::{
    Member, Shape, any, any_object, choice, constant, count, either, flag, integer, list, may, moment, named,
    needs, object, span, text, texts,
};

pub(super) fn shapes() -> Vec<Named> {
    vec![
        ("JobFilter", filter()),
        (
            "OperatorDeed",
            object([needs("filter", named("JobFilter"))].into_iter().chain(confirmation())).only(),
        ),
        ("LetterDeed", letters()),
        ("PurgeWish", purge()),
        ("ClientDeed", client()),
        ("DeedSummary", summary([needs("action", choice(["cancel", "retry", "delete"]))])),
        ("Purged", summary([needs("purged_count", count()), needs("states", list(named("State")))])),
        ("DeedItems", items()),
    ]
}

fn past() -> Shape {
    either([moment(), span()])
}

fn states() -> Shape {
    either([list(named("State")).items_min(1), choice(STATE_GROUPS.map(|(name, _)| name))])
}

fn filter() -> Shape {
    let meta =
        any_object().about(format!("Jobs whose metadata has these members; {META_MEMBERS_MAX} at most."));
    object([
        may("queue", text()),
        may("state", either([named("State"), states()])),
        may("states", either([named("State"), states()])),
        may("type", text().about("A star at its end stands for everything that may follow.")),
        may("since", past().about("Created at this time or so long ago, or later.")),
        may("until", past()),
        may("enqueued_after", past()),
        may("enqueued_before", past()),
        may("older_than", past().about("Ended before that.")),
        may("priority", integer().least(Priority::MIN).most(Priority::MAX)),
        may("error_type", text()),
        may("worker_id", text()),
        may("meta", meta),
    ])
    .only()
    .about("Which jobs are meant.")
}

fn confirmation() -> [Member; 3] {
    [
        may("confirm", flag().about("Must be true, unless `dry_run` is.")),
        may("dry_run", flag().about("Only counts the jobs.")),
        may("cursor", text().about("`next_cursor` of the answer before.")),
    ]
}

fn letters() -> Shape {
    let own = [may("filter", named("JobFilter")), may("older_than", past())];
    object(own.into_iter().chain(confirmation())).only()
}

fn purge() -> Shape {
    let own = [needs("states", states().about("States of jobs that have ended.")), may("older_than", past())];
    object(own.into_iter().chain(confirmation())).only()
}

fn client() -> Shape {
    object([
        may("job_ids", texts().items_min(1).items_max(BULK_MAX)),
        may("filter", named("JobFilter").about("In place of `job_ids`.")),
        may("atomicity", constant("partial")),
        may("dry_run", flag().about("Only counts the jobs; goes with `filter`.")),
        may("cursor", text().about("`next_cursor` of the answer before; goes with `filter`.")),
    ])
    .only()
}

fn more() -> [Member; 2] {
    [needs("has_more", flag()), may("next_cursor", text().about("Send it as `cursor` to go on."))]
}

fn summary(own: impl IntoIterator<Item = Member>) -> Shape {
    let error = object([needs("job_id", text()), needs("error", text())]);
    let rest = [
        needs("matched", count()),
        may("dry_run", flag()),
        may("succeeded", count()),
        may("failed", count()),
        may("errors", list(error).about("The first of those that failed.")),
    ];
    object(own.into_iter().chain(rest).chain(more()))
}

fn items() -> Shape {
    let error = object([needs("code", named("ErrorCode")), needs("message", text())]);
    let done = [State::Cancelled.name(), "retried", "deleted"];
    let item = object([
        needs("index", count()),
        needs("job_id", text()),
        needs("status", choice(done.into_iter().chain(["skipped"]))),
        may("reason", any().about("Why it was skipped.")),
        may("error", error),
    ]);
    let counts = done.map(|name| may(name, count()));
    let totals = [
        may("total", count()),
        may("succeeded", count()),
        may("failed", count()),
        needs("total_matched", count()),
        may("skipped", count()),
        may("dry_run", flag()),
        may("items", list(item)),
    ];
    object(totals.into_iter().chain(counts).chain(more()))
}
