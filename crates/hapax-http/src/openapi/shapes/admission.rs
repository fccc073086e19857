//! What became of jobs that were sent.

use hapax_broker::BATCH_MAX;
use hapax_core::Verdict;

use super::Named;
use crate::from_wire::bounds::ATOMICITIES;
use crate::openapi::shape::{
    Member, Shape, all, any, choice, count, either, flag, list, may, moment, named, needs, object, span,
    text, texts,
};

pub(super) fn shapes() -> Vec<Named> {
    let jobs = list(named("Envelope")).items_min(1).items_max(BATCH_MAX);
    let each = list(any()).items_min(1).items_max(BATCH_MAX);
    vec![
        ("Verdict", object(verdict()).about("What became of a job.")),
        ("Admission", all([object([needs("job", named("Job")), warnings()]), named("Verdict")])),
        ("Batch", object([needs("jobs", jobs)])),
        ("Admissions", admissions()),
        ("Bulk", bulk(each)),
        ("BulkAnswer", bulk_answer()),
        ("Explanation", explanation()),
    ]
}

/// The names of all verdicts.
fn outcome() -> Shape {
    let verdicts = [
        Verdict::Created,
        Verdict::Existing,
        Verdict::Replaced(vec![]),
        Verdict::Updated(vec![]),
        Verdict::Rejected,
    ];
    choice(verdicts.iter().map(Verdict::name))
}

fn verdict() -> [Member; 4] {
    [
        needs("outcome", outcome()),
        may("deduplicated", flag().about("Whether an earlier job stands for it.")),
        may("replaced", texts().about("The jobs in whose place it was created.")),
        may("updated", texts().about("The attributes that the earlier job took over.")),
    ]
}

pub(super) fn warnings() -> Member {
    may("warnings", texts().about("Unknown members that are nearly known ones, and what is wrong with arguments by a schema that only warns."))
}

fn shown() -> Shape {
    either([named("Job"), named("ShortJob")])
}

fn admissions() -> Shape {
    object([
        needs("jobs", list(shown())),
        needs("count", count()),
        needs("outcomes", list(named("Verdict"))),
        warnings(),
    ])
}

/// Items are not held to a shape: a bad one holds up no other.
fn bulk(each: Shape) -> Shape {
    object([
        needs("jobs", each.about("Jobs as `POST /ojs/v1/jobs` takes them. One that is none fails alone.")),
        may("atomicity", choice(ATOMICITIES).about("`partial`, each for itself, or `atomic`, all or none.")),
        may("idempotency_key", text().about("As the header `Idempotency-Key`.")),
    ])
    .only()
}

fn bulk_answer() -> Shape {
    let [_, deduplicated, replaced, updated] = verdict();
    let item = object([
        needs("index", count()),
        needs("status", choice(["created", "duplicate", "failed"])),
        may("outcome", outcome()),
        deduplicated,
        replaced,
        updated,
        may("job", shown()),
        may("error", named("Fault")),
    ]);
    object([
        needs("total", count()),
        needs("succeeded", count()),
        needs("failed", count()),
        needs("items", list(item)),
        warnings(),
    ])
}

fn explanation() -> Shape {
    let freed_by = |members: Vec<Member>| {
        object(members.into_iter().chain([may("at", moment()), needs("states", list(named("State")))]))
    };
    let holder = object([
        needs("job_id", text()),
        needs("type", text()),
        needs("queue", text()),
        needs("state", named("State")),
        needs("created_at", moment()),
        needs("counts", flag()),
        needs("why", text()),
        may("window_over_since", moment()),
        may("duplicates", named("Duplicates")),
        may("job_key", text()),
    ]);
    let free = object([
        needs("now", flag()),
        may("at", moment()),
        needs("by", list(freed_by(vec![needs("job_id", text())]))),
        needs("text", text()),
    ]);
    object([
        needs("outcome", outcome()),
        needs("unique", flag()),
        may("key", text()),
        may("canonical", text().about("The text of which the key is the hash.")),
        needs(
            "rule",
            object([needs("name", text()), needs("text", text())]).about("What decides, in words."),
        ),
        may("states", list(named("State"))),
        may("period", span()),
        may("period_from", text()),
        may("job_id", text()),
        may("replaced", texts()),
        may("updated", texts()),
        may("waits_for", text()),
        may("error", named("Fault")),
        may("holders", list(holder)),
        may("holders_live", count()),
        may("holders_ended", count()),
        may("free", free.about("When the key becomes free.")),
        warnings(),
    ])
}
