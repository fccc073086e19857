//! Recurring jobs.

use hapax_wire::error::Code;

use crate::from_wire::bounds::{ENTRY_OFFSET_MAX, NEXT_RUNS_DEFAULT, NEXT_RUNS_MAX};
use crate::openapi::operation::{Operation, delete, get, patch, post};
use crate::openapi::parameter::{Parameter, counted, cursor, query};
use crate::openapi::shape::{flag, integer, named, object};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/ojs/v1/cron", "List recurring jobs by name")
            .with(counted(ENTRY_OFFSET_MAX))
            .with([cursor(), enabled()])
            .gives(200, "A page of recurring jobs.", "Crons"),
        post("/ojs/v1/cron", "Register a recurring job, or register it anew")
            .takes(named("CronWish"))
            .gives(201, "It was registered.", "ShownCron")
            .gives(200, "It was registered anew.", "ShownCron")
            .fails([
                Code::Conflict,
                Code::ValidationError,
                Code::SchemaValidation,
                Code::Refused,
                Code::Unsupported,
            ]),
        post("/ojs/v1/cron/preview", "Ask when a schedule would be due")
            .details(
                "Nothing is registered. Other methods of this path are about a recurring job of that name.",
            )
            .takes(named("CronPreviewWish"))
            .gives(200, "The next moments.", "CronPreview"),
        get("/ojs/v1/cron/{name}", "Look at a recurring job, and when it is due")
            .with([query(
                "next",
                "How many moments to come are shown.",
                integer().least(1).most(NEXT_RUNS_MAX).default(NEXT_RUNS_DEFAULT),
            )])
            .gives(200, "The recurring job.", "ShownCron")
            .fails([Code::NotFound]),
        patch("/ojs/v1/cron/{name}", "Switch a recurring job on or off")
            .takes(named("CronSwitch"))
            .gives(200, "The recurring job.", "ShownCron")
            .fails([Code::NotFound]),
        delete("/ojs/v1/cron/{name}", "Remove a recurring job")
            .details("Jobs that it has made stay.")
            .gives(200, "It is gone.", "ShownCron")
            .fails([Code::NotFound]),
        post("/ojs/v1/cron/{name}/run", "Make a job of it right away")
            .may_take(object([]).only().about("Nothing can be said."))
            .gives(200, "The job, or why there is none.", "ShownCron")
            .fails([Code::NotFound, Code::BackendUnavailable]),
        get("/ojs/v1/crons", "List recurring jobs by name (admin UI)")
            .details("For the official admin UI; others use `/ojs/v1/cron`.")
            .with(counted(ENTRY_OFFSET_MAX))
            .with([cursor(), enabled()])
            .gives(200, "A page of recurring jobs.", "CronItems"),
        get("/ojs/v1/crons/{id}", "Look at a recurring job (admin UI)")
            .gives(200, "The recurring job.", "CronItem")
            .fails([Code::NotFound]),
        patch("/ojs/v1/crons/{id}", "Switch a recurring job on or off (admin UI)")
            .takes(named("CronSwitch"))
            .gives(200, "The recurring job.", "CronItem")
            .fails([Code::NotFound]),
        delete("/ojs/v1/crons/{id}", "Remove a recurring job (admin UI)")
            .gives(200, "It is gone.", "CronItem")
            .fails([Code::NotFound]),
    ]
}

fn enabled() -> Parameter {
    query("enabled", "Only those that are switched on, or off.", flag())
}
