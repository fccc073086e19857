//! What became of many jobs about which something was done.

use std::fmt::Display;

use axum::http::StatusCode;
use hapax_broker::{Deed, Error, Selection, Treated};
use hapax_core::StateSet;
use hapax_wire::writer::{self, Object};

use super::bulk::of_size;
use crate::problem::Problem;
use crate::reply::Reply;

/// Most errors that the answer to an operator names; all of them are counted.
const ERRORS_SHOWN_MAX: usize = 100;

/// What was done, in one word.
const fn done(deed: Deed) -> &'static str {
    match deed {
        Deed::Cancel => hapax_core::State::Cancelled.name(),
        Deed::Retry | Deed::Revive => "retried",
        Deed::Delete | Deed::Forget => "deleted",
    }
}

const fn action(deed: Deed) -> &'static str {
    match deed {
        Deed::Cancel => "cancel",
        Deed::Retry | Deed::Revive => "retry",
        Deed::Delete | Deed::Forget => "delete",
    }
}

/// The answer to an operator: nothing was done yet if there are none treated.
pub(crate) fn for_operator(
    deed: Deed,
    found: usize,
    treated: Option<&[Treated]>,
    next: Option<impl Display>,
) -> Reply {
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        o.text("action", action(deed));
        summary(o, found, treated);
        more(o, next);
    });
    Reply::ok(out)
}

/// The answer to who emptied a queue.
pub(crate) fn purged(
    states: StateSet,
    selection: &Selection<hapax_core::JobId>,
    treated: Option<&[Treated]>,
) -> Reply {
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        o.number("purged_count", treated.map_or(0, |treated| count(treated).0));
        o.texts("states", states.iter().map(hapax_core::State::name));
        summary(o, selection.ids.len(), treated);
        more(o, selection.next);
    });
    Reply::ok(out)
}

fn summary(o: &mut Object<'_>, found: usize, treated: Option<&[Treated]>) {
    o.number("matched", found);
    let Some(treated) = treated else { return o.flag("dry_run", true) };
    let (succeeded, failed) = count(treated);
    o.number("succeeded", succeeded);
    o.number("failed", failed);
    let failures = treated.iter().filter_map(|one| one.outcome.as_ref().err().map(|error| (one.id, error)));
    o.array("errors", failures.take(ERRORS_SHOWN_MAX), |(id, error), out| {
        writer::object(out, |o| {
            o.plain("job_id", id);
            o.text("error", &reason(error));
        });
    });
}

fn more(o: &mut Object<'_>, next: Option<impl Display>) {
    o.flag("has_more", next.is_some());
    o.plain_if("next_cursor", next);
}

fn count(treated: &[Treated]) -> (usize, usize) {
    let succeeded = treated.iter().filter(|one| one.outcome.is_ok()).count();
    (succeeded, treated.len() - succeeded)
}

fn reason(error: &Error) -> String {
    match error {
        Error::Refused(refusal) => refusal.to_string(),
        Error::Store(error) => error.to_string(),
        Error::Busy | Error::Maintenance { .. } => error.to_string(),
    }
}

/// One job of a client's request.
#[derive(Debug)]
pub(crate) enum Item {
    /// It was tried.
    Treated(Treated),
    /// No job can have this id.
    Foreign(Box<str>),
}

/// The answer to a client: an item for each job, and a status that says whether all went well.
pub(crate) fn for_client(deed: Deed, items: &[Item], next: Option<impl Display>) -> Reply {
    let is_done = |item: &&Item| matches!(item, Item::Treated(Treated { outcome: Ok(()), .. }));
    let (total, succeeded) = (items.len(), items.iter().filter(is_done).count());
    let mut out = Vec::with_capacity(160 + 120 * total);
    writer::object(&mut out, |o| {
        totals(o, deed, total, succeeded);
        o.array("items", items.iter().enumerate(), |(index, item), out| {
            writer::object(out, |o| {
                o.number("index", index);
                item.write(o, deed);
            });
        });
        more(o, next);
    });
    let status = match (succeeded, total - succeeded) {
        (_, 0) => StatusCode::OK,
        (0, _) => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::MULTI_STATUS,
    };
    of_size(Reply::json(status, out), total)
}

/// The same in the words of each of two documents.
fn totals(o: &mut Object<'_>, deed: Deed, total: usize, succeeded: usize) {
    o.number("total", total);
    o.number("succeeded", succeeded);
    o.number("failed", total - succeeded);
    o.number("total_matched", total);
    o.number(done(deed), succeeded);
    o.number("skipped", total - succeeded);
}

/// The answer to a client who only wanted to know.
pub(crate) fn counted(matched: usize, next: Option<impl Display>) -> Reply {
    let mut out = Vec::with_capacity(96);
    writer::object(&mut out, |o| {
        o.number("total_matched", matched);
        o.flag("dry_run", true);
        more(o, next);
    });
    Reply::ok(out)
}

impl Item {
    fn write(&self, o: &mut Object<'_>, deed: Deed) {
        match self {
            Item::Treated(Treated { id, outcome: Ok(()) }) => {
                o.plain("job_id", id);
                o.text("status", done(deed));
            }
            Item::Treated(Treated { id, outcome: Err(error) }) => {
                o.plain("job_id", id);
                skipped(o, &error.clone().into());
            }
            Item::Foreign(text) => {
                o.text("job_id", text);
                skipped(o, &Problem::no_resource("job", text));
            }
        }
    }
}

fn skipped(o: &mut Object<'_>, problem: &Problem) {
    o.text("status", "skipped");
    o.text("reason", &problem.message);
    o.object("error", |o| {
        o.text("code", problem.code.name());
        o.text("message", &problem.message);
    });
}
