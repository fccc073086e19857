//! How a job is recognised as one that exists already, as clients see it: the policy or the job key, and the facts.

use hapax_core::unique::{
    Anchor, Debounce, Dimensions, Field, JobKey, JobKeyMode, Ledger, Release, Releaser, Replacement,
    Strategy, UniquePolicy, Uniqueness, WhileActive,
};
use hapax_core::{Job, State, format_iso8601};

use crate::writer::{self, Object};

/// What the `unique` member of a job says beyond the policy. Nobody can ask for it, but a job that is sent back as it
/// was read may have it.
pub const FACTS: &[&str] =
    &["uniqueness_key", "duplicates", "reentered_beside", "released", "waits_for", "first_start"];

/// The fact that a job lost its key before its time.
pub const RELEASED: &str = "released";

/// The fact that a job is debounced: from where its start moves.
pub const FIRST_START: &str = "first_start";

/// The members of a job that say how it is recognised.
pub(crate) fn members(o: &mut Object<'_>, job: &Job) {
    match &job.spec.unique {
        None => {}
        Some(Uniqueness::Policy(policy)) => o.object("unique", |o| {
            self::policy(o, policy);
            facts(o, job);
        }),
        Some(Uniqueness::JobKey(job_key)) => {
            self::job_key(o, job_key, job);
            if has_facts(job) {
                o.object("unique", |o| facts(o, job));
            }
        }
    }
}

/// A job key belongs to a job as long as the job holds it.
fn job_key(o: &mut Object<'_>, job_key: &JobKey, job: &Job) {
    if job.key.is_some() {
        o.text("job_key", &job_key.name);
        o.word("job_key_mode", JobKeyMode::name(job_key.mode));
    }
}

/// How jobs that are not there yet will be recognised.
pub fn wish(o: &mut Object<'_>, unique: Option<&Uniqueness>) {
    match unique {
        None => {}
        Some(Uniqueness::Policy(policy)) => o.object("unique", |o| self::policy(o, policy)),
        Some(Uniqueness::JobKey(job_key)) => {
            o.text("job_key", &job_key.name);
            o.word("job_key_mode", JobKeyMode::name(job_key.mode));
        }
    }
}

/// The name that the job has, as long as it holds it.
pub fn job_key_name(job: &Job) -> Option<&str> {
    match &job.spec.unique {
        Some(Uniqueness::JobKey(job_key)) if job.key.is_some() => Some(&job_key.name),
        Some(Uniqueness::JobKey(_) | Uniqueness::Policy(_)) | None => None,
    }
}

/// The members of a policy.
pub fn policy(o: &mut Object<'_>, policy: &UniquePolicy) {
    let UniquePolicy {
        dimensions,
        args_keys,
        meta_keys,
        key,
        period,
        period_from,
        states,
        on_conflict,
        replace,
        debounce,
        while_active,
    } = policy;
    o.words("keys", dimension_names(*dimensions));
    if let Some(names) = args_keys {
        o.texts("args_keys", names.iter().map(|name| &**name));
    }
    if let Some(names) = meta_keys {
        o.texts("meta_keys", names.iter().map(|name| &**name));
    }
    o.text_if("key", key.as_deref());
    o.plain_if("period", period.map(format_iso8601));
    if *period_from != Anchor::CreatedAt {
        o.word("period_from", period_from.name());
    }
    o.words("states", states.iter().map(State::name));
    match debounce {
        Some(debounce) => self::debounce(o, *debounce),
        None => o.word("on_conflict", Strategy::name(*on_conflict)),
    }
    if let Some(replacement) = replace {
        replaced_fields(o, *replacement);
    }
    o.text_if("while_active", while_active.map(WhileActive::name));
}

fn dimension_names(dimensions: Dimensions) -> impl Iterator<Item = &'static str> {
    let Dimensions { queue, args, meta } = dimensions;
    let named = [("type", true), ("queue", queue), ("args", args), ("meta", meta)];
    named.into_iter().filter(|(_, is_named)| *is_named).map(|(name, _)| name)
}

fn debounce(o: &mut Object<'_>, debounce: Debounce) {
    let Debounce { wait, max_wait } = debounce;
    o.object("debounce", |o| {
        o.plain("wait", format_iso8601(wait));
        o.plain_if("max_wait", max_wait.map(format_iso8601));
    });
}

/// A list if it is the same for all states.
fn replaced_fields(o: &mut Object<'_>, replacement: Replacement) {
    let everywhere = replacement.fields(State::Available);
    if replacement == Replacement::everywhere(everywhere) {
        o.words("replace", everywhere.iter().map(Field::name));
        return;
    }
    o.object("replace", |o| {
        for state in State::ALL {
            let fields = replacement.fields(state);
            if !fields.is_empty() {
                o.words(state.name(), fields.iter().map(Field::name));
            }
        }
    });
}

fn has_facts(job: &Job) -> bool {
    job.key.is_some() || job.reentered_beside.is_some() || job.released.is_some() || job.ledger.count() > 0
}

/// What the job is to others with its key.
fn facts(o: &mut Object<'_>, job: &Job) {
    if let Some(key) = &job.key {
        o.hex("uniqueness_key", key.bytes());
    }
    o.plain_if("reentered_beside", job.reentered_beside);
    o.plain_if("waits_for", job.waits_for().filter(|_| job.spec.ordering_key.is_none()));
    o.moment_if(FIRST_START, job.first_start);
    if let Some(release) = &job.released {
        o.object(RELEASED, |o| released(o, release));
    }
    if job.ledger.count() > 0 {
        o.object("duplicates", |o| duplicates(o, &job.ledger));
    }
}

fn released(o: &mut Object<'_>, release: &Release) {
    let Release { at, key, by, reason } = release;
    o.moment("at", *at);
    o.hex("key", key.bytes());
    o.word("by", Releaser::name(*by));
    o.text_if("reason", reason.as_deref());
}

/// What a holder turned away: how often, and the newest one by one.
pub fn duplicates(o: &mut Object<'_>, ledger: &Ledger) {
    duplicates_in_short(o, ledger);
    o.array("recent", ledger.recent(), |entry, out| {
        writer::object(out, |o| {
            o.moment("at", entry.at);
            o.word("outcome", entry.outcome);
            o.text_if("request_id", entry.request_id.as_deref());
        });
    });
}

/// What a holder turned away: how often, and when last.
pub fn duplicates_in_short(o: &mut Object<'_>, ledger: &Ledger) {
    o.number("count", ledger.count());
    o.moment_if("last_at", ledger.last_at());
}
