//! Recurring jobs, with every name under which one of the documents or SDKs looks for a member.

use axum::http::StatusCode;
use hapax_broker::CronPage;
use hapax_core::cron::{Cron, Outcome, Skip, Template};
use hapax_core::{State, Timestamp};
use hapax_store::{Answer, Done, Tick};
use hapax_wire::writer::{self, Object};
use hapax_wire::{job, unique};

use super::admission::another_question;
use super::pagination;
use crate::compat::Dialect;
use crate::from_wire::{Listing, Preview};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_id::RequestId;

/// Most times that clocks jump over of which a preview tells.
const SKIPS_SHOWN_MAX: usize = 10;

/// The answer to a registration.
pub(crate) fn registered(cron: &Cron, is_new: bool, dialect: Dialect) -> Reply {
    Reply::json(if is_new { StatusCode::CREATED } else { StatusCode::OK }, one(cron, dialect))
}

/// A recurring job.
pub(crate) fn one(cron: &Cron, dialect: Dialect) -> Vec<u8> {
    write(dialect, cron, |_| {})
}

/// A recurring job with the next moments at which it is due.
pub(crate) fn shown(cron: &Cron, count: usize, now: Timestamp, dialect: Dialect) -> Vec<u8> {
    let mut runs = Vec::new();
    let mut next = cron.next_run_at.filter(|_| cron.enabled);
    while let Some(at) = next.filter(|_| runs.len() < count) {
        runs.push(at);
        next = cron.next_after(at.max(now));
    }
    write(dialect, cron, |o| o.array("next_runs", &runs, |at, out| writer::moment(out, *at)))
}

/// When a schedule would be due, by the clocks of its zone too, and what those would jump over meanwhile.
pub(crate) fn preview(preview: &Preview) -> Vec<u8> {
    let Preview { expression, schedule, zone, from, count: _ } = preview;
    let runs = preview.runs();
    let skips: Vec<Skip> = match runs.last() {
        Some(last) => schedule.skipped_between(*from, *last, zone).take(SKIPS_SHOWN_MAX).collect(),
        None => Vec::new(),
    };
    let mut out = Vec::with_capacity(256 + 128 * runs.len());
    writer::object(&mut out, |o| {
        o.text("expression", expression);
        o.text("timezone", zone.name());
        o.moment("from", *from);
        o.array("next_runs", &runs, |at, out| writer::moment(out, *at));
        o.array("runs", &runs, |at, out| {
            writer::object(out, |o| {
                o.moment("at", *at);
                o.plain_if("local", zone.local(*at));
            });
        });
        o.array("skipped", &skips, |skip, out| {
            writer::object(out, |o| {
                o.moment("at", skip.at);
                o.text("local", &skip.local);
            });
        });
    });
    out
}

/// A recurring job that was removed.
pub(crate) fn removed(cron: &Cron, dialect: Dialect) -> Vec<u8> {
    write(dialect, cron, |o| o.flag("deleted", true))
}

/// What became of a run by hand.
pub(crate) fn ran(tick: &Tick, dialect: Dialect) -> Vec<u8> {
    write(dialect, &tick.cron, |o| match &tick.outcome {
        Some(Outcome::Made(id)) => {
            o.flag("triggered", true);
            o.plain("job_id", id);
        }
        Some(other) => {
            o.flag("triggered", false);
            o.text_if("reason", other.reason());
            o.plain_if("existing_job_id", other.existing());
            if let Outcome::Refused(refusal) = other {
                o.text("message", &refusal.to_string());
            }
        }
        None => o.flag("triggered", false),
    })
}

/// The answer to a run by hand as it is remembered.
pub(crate) fn remembered(answer: &Answer, dialect: Dialect, id: &RequestId) -> Reply {
    match answer {
        Ok(Done::CronRan(tick)) => Reply::ok(ran(tick, dialect)),
        Ok(_) => another_question().reply(id),
        Err(refusal) => Problem::from(refusal.clone()).reply(id),
    }
}

/// The suite wants an object under `cron`, the Rust SDK the expression there and the rest beside it.
fn write(dialect: Dialect, cron: &Cron, more: impl Fn(&mut Object<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(2048);
    writer::object(&mut out, |o| {
        o.object("cron_job", |o| members(o, cron));
        if dialect.cron_is_an_expression() {
            members(o, cron);
        } else {
            o.object("cron", |o| members(o, cron));
            o.text("name", &cron.name);
        }
        more(o);
    });
    out
}

/// A page of recurring jobs, under both names.
pub(crate) fn list(page: &CronPage, listing: Listing) -> Vec<u8> {
    let CronPage { crons, next, total } = page;
    let mut out = Vec::with_capacity(256 + 2048 * crons.len());
    writer::object(&mut out, |o| {
        for name in ["crons", "cron_jobs"] {
            o.array(name, crons, |cron, out| writer::object(out, |o| members(o, cron)));
        }
        o.number("count", crons.len());
        pagination::listed(o, listing, *total, next.as_deref());
    });
    out
}

/// A page of recurring jobs, as the official admin UI reads it.
pub(crate) fn items(page: &CronPage, listing: Listing) -> Vec<u8> {
    let CronPage { crons, next, total } = page;
    let mut out = Vec::with_capacity(128 + 1024 * crons.len());
    writer::object(&mut out, |o| {
        o.array("items", crons, |cron, out| writer::object(out, |o| item_members(o, cron)));
        pagination::listed(o, listing, *total, next.as_deref());
    });
    out
}

/// A recurring job, as the official admin UI reads it.
pub(crate) fn item(cron: &Cron) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    writer::object(&mut out, |o| item_members(o, cron));
    out
}

/// It wants an id, the queue flat, and the expression under the one name that no SDK reads.
fn item_members(o: &mut Object<'_>, cron: &Cron) {
    o.text("id", &cron.name);
    o.text("schedule", &cron.expression);
    o.word("queue", cron.template.spec.queue.as_str());
    members(o, cron);
}

fn members(o: &mut Object<'_>, cron: &Cron) {
    let Cron {
        name,
        expression,
        schedule: _,
        zone,
        overlap,
        enabled,
        description,
        template,
        created_at,
        anchor: _,
        last_run_at,
        last_job,
        next_run_at,
        run_count,
        told_until: _,
    } = cron;
    o.text("name", name);
    o.text("expression", expression);
    o.text("cron", expression);
    o.text("timezone", zone.name());
    o.word("overlap_policy", overlap.name());
    o.flag("enabled", *enabled);
    o.word("status", if *enabled { State::Active.name() } else { "disabled" });
    o.text_if("description", description.as_deref());
    o.object("job_template", |o| job_members(o, template));
    job_members(o, template);
    o.moment("created_at", *created_at);
    o.moment_if("last_run_at", *last_run_at);
    o.plain_if("last_job_id", *last_job);
    match next_run_at.filter(|_| *enabled) {
        Some(at) => o.moment("next_run_at", at),
        None => o.raw("next_run_at", "null"),
    }
    o.number("run_count", run_count);
}

fn job_members(o: &mut Object<'_>, template: &Template) {
    let Template { spec, key: _, starts_after, expires_after, unsaid: _ } = template;
    o.word("type", spec.kind.as_str());
    o.raw("args", spec.args.as_str());
    o.raw("meta", spec.meta.as_str());
    o.object("options", |o| {
        o.word("queue", spec.queue.as_str());
        o.number("priority", spec.priority);
        job::wishes(o, spec);
        unique::wish(o, spec.unique.as_ref());
        let span = |span: std::time::Duration| format!("+{}", hapax_core::format_iso8601(span));
        o.text_if("scheduled_at", starts_after.map(span).as_deref());
        o.text_if("expires_at", expires_after.map(span).as_deref());
    });
}
