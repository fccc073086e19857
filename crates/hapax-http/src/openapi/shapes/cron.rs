//! Recurring jobs.

use hapax_core::State;
use hapax_core::cron::Overlap;

use super::admission::warnings;
use super::job::wishes;
use super::{Named, one_of};
use crate::from_wire::bounds::{NEXT_RUNS_DEFAULT, NEXT_RUNS_MAX};
use crate::openapi::shape::{
    Member, Shape, all, any, any_object, choice, count, either, flag, integer, list, may, moment, named,
    needs, object, text,
};

pub(super) fn shapes() -> Vec<Named> {
    let crons = [
        needs("crons", list(named("Cron"))),
        needs("cron_jobs", list(named("Cron")).about("The same as `crons`.")),
        needs("count", count()),
        needs("pagination", named("Pagination")),
    ];
    let item = [
        needs("id", text().about("The same as `name`.")),
        needs("schedule", text().about("The same as `expression`.")),
        needs("queue", text()),
    ];
    vec![
        ("CronWish", wish()),
        ("CronSwitch", object([needs("enabled", flag())]).only()),
        ("Cron", object(members())),
        ("CronItem", all([named("Cron"), object(item)])),
        (
            "CronItems",
            object([needs("items", list(named("CronItem"))), needs("pagination", named("Pagination"))]),
        ),
        ("Crons", object(crons)),
        ("ShownCron", shown()),
        ("CronPreviewWish", preview_wish()),
        ("CronPreview", preview()),
    ]
}

fn preview_wish() -> Shape {
    let count = integer().least(1).most(NEXT_RUNS_MAX).default(NEXT_RUNS_DEFAULT);
    object([
        may("expression", text().about("A cron expression such as `0 9 * * MON-FRI` or `@hourly`.")),
        may("cron", text().about("The same as `expression`.")),
        may("schedule", text().about("The same as `expression`.")),
        may("timezone", text().about("An IANA time zone such as `Europe/Berlin`.").default("\"UTC\"")),
        may("count", count.about("How many moments to come are shown.")),
        may("from", text().about("After which moment; now if it is not said. `@every` counts from it.")),
    ])
    .only()
}

fn preview() -> Shape {
    let run = [needs("at", moment()), may("local", text().about("What clocks show then, and their offset."))];
    let skip = [needs("at", moment()), needs("local", text().about("The time that clocks do not show."))];
    object([
        needs("expression", text()),
        needs("timezone", text()),
        needs("from", moment()),
        needs("next_runs", list(moment())),
        needs("runs", list(object(run)).about("The same moments with the time of the zone.")),
        needs("skipped", list(object(skip)).about("Times of the schedule that clocks jump over meanwhile.")),
    ])
}

fn wish() -> Shape {
    let overlaps = Overlap::ALL.into_iter().map(Overlap::name).chain(["cancel", "replace", "queue"]);
    let overlap = choice(overlaps).about("What happens if the job before has not ended.");
    object([
        needs("name", text()),
        may("expression", text().about("A cron expression such as `0 9 * * MON-FRI` or `@hourly`.")),
        may("cron", text().about("The same as `expression`.")),
        may("schedule", text().about("The same as `expression`.")),
        may("timezone", text().about("An IANA time zone such as `Europe/Berlin`.").default("\"UTC\"")),
        may("overlap_policy", overlap.clone()),
        may("overlap", overlap),
        may("enabled", flag().default(true)),
        may("description", text()),
        may("job_template", named("JobTemplate")),
    ])
    .others(&any())
    .about("A recurring job. The job to make stands under `job_template`, or its attributes flat beside the name.")
}

fn job() -> [Member; 4] {
    let options = [needs("queue", text()), needs("priority", integer())];
    [
        needs("type", text()),
        needs("args", named("Arguments")),
        needs("meta", any_object()),
        needs(
            "options",
            object(options.into_iter().chain(wishes()).chain([may("unique", named("Uniqueness"))])),
        ),
    ]
}

fn members() -> Vec<Member> {
    let own = vec![
        needs("name", text()),
        needs("expression", text()),
        needs("cron", text().about("The same as `expression`.")),
        needs("timezone", text()),
        needs("overlap_policy", one_of(Overlap::ALL, Overlap::name)),
        needs("enabled", flag()),
        needs("status", choice([State::Active.name(), "disabled"])),
        may("description", text()),
        needs("job_template", object(job())),
        needs("created_at", moment()),
        may("last_run_at", moment()),
        may("last_job_id", text()),
        needs("next_run_at", moment().or_null()),
        needs("run_count", count()),
    ];
    own.into_iter().chain(job()).collect()
}

fn shown() -> Shape {
    let nested = object([
        needs(
            "cron",
            either([named("Cron"), text()]).about(
                "The expression, and all of the recurring job flat, for clients that send `OJS-Version`.",
            ),
        ),
        needs("cron_job", named("Cron")),
        needs("name", text()),
        may("next_runs", list(moment()).about("The next moments at which it is due.")),
        may("deleted", flag()),
        may("triggered", flag().about("Whether a job was made.")),
        may("job_id", text()),
        may("reason", text().about("Why none was made.")),
        may("existing_job_id", text()),
        may("message", text().about("Why the job was refused, for people.")),
        warnings(),
    ]);
    either([nested.clone(), all([nested, named("Cron")])])
}
