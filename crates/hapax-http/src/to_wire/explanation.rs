//! Why a job would be a duplicate, and of what, and until when.

mod sentence;

use hapax_broker::{EXPLAINED_MAX, Explained};
use hapax_core::unique::{Freeing, Rule, Seen, Standing, Uniqueness, Watch};
use hapax_core::{Admission, Refusal, State, Verdict, format_iso8601};
use hapax_wire::unique::{duplicates, job_key_name};
use hapax_wire::writer::{self, Object};

use super::key::{chosen, freed_by, identity};
use crate::problem::Problem;
use crate::request_id::RequestId;

/// What a job that has neither a policy nor a job key is told.
const NO_RULE: &str = "none";

/// The answer to an explain.
pub(crate) fn write(explained: &Explained, canonical: Option<&str>, id: &RequestId) -> Vec<u8> {
    let Explained { at: _, uniqueness, key, explanation, live, ended } = explained;
    let mut out = Vec::with_capacity(1024 + 512 * explanation.holders.len().min(EXPLAINED_MAX));
    writer::object(&mut out, |o| {
        o.text("outcome", outcome(&explanation.admission));
        o.flag("unique", uniqueness.is_some());
        if let Some(key) = key {
            o.hex("key", key.bytes());
        }
        o.text_if("canonical", canonical);
        o.object("rule", |o| {
            o.text("name", rule_name(explained));
            o.text("text", &sentence::rule(explained));
        });
        let watch = uniqueness.as_ref().map(Uniqueness::watch);
        if let Some(watch) = watch {
            window(o, watch);
        }
        match &explanation.admission {
            Ok(admission) => consequence(o, admission),
            Err(refusal) => Problem::from(refusal.clone()).write(o, id),
        }
        if let Some(watch) = watch {
            holders(o, explanation.holders.clone(), watch);
            o.number("holders_live", live);
            o.number("holders_ended", ended);
            free(o, &explanation.freed_by, watch);
        }
    });
    out
}

/// What decides, or would if a holder counted.
fn rule_name(explained: &Explained) -> &'static str {
    let decided = explained.explanation.admission.as_ref().ok().and_then(|admission| admission.rule);
    let rule = decided.or_else(|| explained.uniqueness.as_ref().map(Uniqueness::rule));
    rule.map_or(NO_RULE, Rule::name)
}

fn outcome(admission: &Result<Admission, Refusal>) -> &'static str {
    admission.as_ref().map_or(Verdict::Rejected.name(), |admission| admission.verdict.name())
}

fn window(o: &mut Object<'_>, watch: Watch) {
    let Watch { states, period, period_from, every_live: _ } = watch;
    o.texts("states", states.iter().map(State::name));
    if let Some(period) = period {
        o.plain("period", format_iso8601(period));
        o.text("period_from", period_from.name());
    }
}

/// What would come of the enqueue.
fn consequence(o: &mut Object<'_>, admission: &Admission) {
    let Admission { verdict, job, changed: _, workflows: _, depth: _, rule: _, is_abridged: _ } = admission;
    match verdict {
        Verdict::Created => {}
        Verdict::Replaced(ids) => o.array("replaced", ids, |id, out| writer::plain(out, id)),
        Verdict::Existing | Verdict::Rejected => o.plain("job_id", job.id),
        Verdict::Updated(fields) => {
            o.plain("job_id", job.id);
            o.texts("updated", fields.iter().copied());
        }
    }
    // What the job says would run then; of a holder that merely answers it would be beside the point.
    let would_run = verdict.is_new() || matches!(verdict, Verdict::Updated(_));
    o.plain_if("waits_for", job.waits_for().filter(|_| would_run));
}

fn holders(o: &mut Object<'_>, seen: Vec<Seen>, watch: Watch) {
    let shown = chosen(seen, EXPLAINED_MAX, |seen| seen.standing == Standing::Counts);
    o.array("holders", &shown, |seen, out| {
        writer::object(out, |o| {
            identity(o, &seen.job);
            o.flag("counts", seen.standing == Standing::Counts);
            o.text("why", &sentence::standing(seen, watch));
            if let Standing::WindowOver { since } = seen.standing {
                o.moment("window_over_since", since);
            }
            if seen.job.ledger.count() > 0 {
                o.object("duplicates", |o| duplicates(o, &seen.job.ledger));
            }
            o.text_if("job_key", job_key_name(&seen.job));
        });
    });
}

fn free(o: &mut Object<'_>, freed: &[Freeing], watch: Watch) {
    o.object("free", |o| {
        o.flag("now", freed.is_empty());
        o.moment_if("at", sentence::free_at(freed));
        o.array("by", freed.iter().take(EXPLAINED_MAX), |freed, out| {
            writer::object(out, |o| {
                o.plain("job_id", freed.job);
                freed_by(o, freed);
            });
        });
        o.text("text", &sentence::free(freed, watch));
    });
}

#[cfg(test)]
mod tests;
