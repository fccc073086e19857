//! Keys and the jobs that carry them.

use hapax_broker::Released;
use hapax_core::unique::{Freeing, Key, UniquePolicy, Uniqueness, freeing};
use hapax_core::{Job, Rules, State, Timestamp};
use hapax_store::{HeldPage, Holders};
use hapax_wire::unique::{duplicates, duplicates_in_short, job_key_name, policy};
use hapax_wire::writer::{self, Object};

use super::pagination;
use crate::from_wire::Numbered;
use crate::limits::PAGE_BYTES_MAX;

/// The answer to a look at one key.
pub(crate) fn holders(key: Key, holders: Holders, limit: usize, now: Timestamp, rules: &Rules) -> Vec<u8> {
    let Holders { jobs, live, ended } = holders;
    let mut bytes = 0;
    let fits = |job: &Job| {
        bytes += policy_bytes(job);
        bytes <= PAGE_BYTES_MAX
    };
    let shown: Vec<Job> = chosen(jobs, limit, holds).into_iter().take_while(fits).collect();
    let mut out = Vec::with_capacity(160 + 512 * shown.len());
    writer::object(&mut out, |o| {
        o.hex("key", key.bytes());
        o.flag("held", live > 0);
        o.number("holders_live", live);
        o.number("holders_ended", ended);
        o.array("holders", &shown, |job, out| writer::object(out, |o| holder(o, job, now, rules)));
    });
    out
}

/// At most so many of the items, in the order in which they are given: those that matter rather than others.
pub(super) fn chosen<T>(items: Vec<T>, limit: usize, matters: impl Fn(&T) -> bool) -> Vec<T> {
    let mut places = limit.saturating_sub(items.iter().filter(|item| matters(item)).count());
    let has_place = |item: &T| {
        let is_free = places > 0;
        matters(item) || {
            places = places.saturating_sub(1);
            is_free
        }
    };
    items.into_iter().filter(has_place).take(limit).collect()
}

/// About how much a policy takes. Names may be long, and a key may have many holders.
fn policy_bytes(job: &Job) -> usize {
    let policy = job.spec.unique.as_ref().and_then(Uniqueness::policy);
    let Some(UniquePolicy { args_keys, meta_keys, key, .. }) = policy else { return 0 };
    args_keys.iter().chain(meta_keys).flatten().chain(key).map(|name| name.len()).sum()
}

fn holds(job: &Job) -> bool {
    !job.state().is_terminal()
}

/// What every list of holders says about one.
pub(super) fn identity(o: &mut Object<'_>, job: &Job) {
    o.plain("job_id", job.id);
    o.word("type", job.spec.kind.as_str());
    o.word("queue", job.spec.queue.as_str());
    o.word("state", job.state().name());
    o.moment("created_at", job.created_at);
}

fn holder(o: &mut Object<'_>, job: &Job, now: Timestamp, rules: &Rules) {
    identity(o, job);
    o.flag("held", holds(job));
    o.text_if("job_key", job_key_name(job));
    if let Some(Uniqueness::Policy(own)) = &job.spec.unique {
        o.object("unique", |o| policy(o, own));
    }
    if job.ledger.count() > 0 {
        o.object("duplicates", |o| duplicates(o, &job.ledger));
    }
    o.plain_if("reentered_beside", job.reentered_beside);
    let watch = job.spec.unique.as_ref().map(Uniqueness::watch);
    if let Some(freed) = watch.and_then(|watch| freeing(watch, job, now, rules)) {
        o.object("free", |o| freed_by(o, &freed));
    }
}

/// How a holder stops to count.
pub(super) fn freed_by(o: &mut Object<'_>, freed: &Freeing) {
    let Freeing { job: _, at, states } = freed;
    o.moment_if("at", *at);
    o.texts("states", states.iter().map(State::name));
}

/// The answer to a question for the keys that are held.
pub(crate) fn list(page: &HeldPage, held: u64, limit: usize, now: Timestamp) -> Vec<u8> {
    let HeldPage { jobs, next } = page;
    let mut out = Vec::with_capacity(160 + 384 * jobs.len());
    writer::object(&mut out, |o| {
        o.array("keys", jobs, |job, out| writer::object(out, |o| held_key(o, job, now)));
        o.number("held", held);
        o.object("pagination", |o| {
            o.number("limit", limit);
            o.flag("has_more", next.is_some());
            o.plain_if("next_cursor", *next);
        });
    });
    out
}

fn held_key(o: &mut Object<'_>, job: &Job, now: Timestamp) {
    if let Some(key) = &job.key {
        o.hex("key", key.bytes());
    }
    identity(o, job);
    o.number("held_for_ms", now.since(job.created_at).as_millis());
    o.text_if("job_key", job_key_name(job));
    o.object("duplicates", |o| duplicates_in_short(o, &job.ledger));
}

/// The same as the official admin UI reads it: a key with the job that holds it, and until when.
pub(crate) fn locks(
    page: &HeldPage,
    held: u64,
    numbered: Numbered,
    now: Timestamp,
    rules: &Rules,
) -> Vec<u8> {
    let HeldPage { jobs, next } = page;
    let shown = jobs.get(numbered.skipped()..).unwrap_or_default();
    let mut out = Vec::with_capacity(160 + 320 * shown.len());
    writer::object(&mut out, |o| {
        o.array("items", shown, |job, out| writer::object(out, |o| lock(o, job, now, rules)));
        pagination::numbered(o, numbered, Some(held), next.is_some(), *next);
    });
    out
}

fn lock(o: &mut Object<'_>, job: &Job, now: Timestamp, rules: &Rules) {
    match &job.key {
        Some(key) => o.hex("key", key.bytes()),
        None => o.text("key", job_key_name(job).unwrap_or_default()),
    }
    identity(o, job);
    let watch = job.spec.unique.as_ref().map(Uniqueness::watch);
    let freed = watch.and_then(|watch| freeing(watch, job, now, rules));
    o.moment_if("locked_until", freed.and_then(|freed| freed.at));
}

/// The answer to the release of a key.
pub(crate) fn released(key: Key, released: &Released) -> Vec<u8> {
    let Released { jobs, remaining } = released;
    let mut out = Vec::with_capacity(128 + 80 * jobs.len());
    writer::object(&mut out, |o| {
        o.hex("key", key.bytes());
        o.array("released", jobs, |job, out| {
            writer::object(out, |o| {
                o.plain("job_id", job.id);
                o.word("state", job.state().name());
            });
        });
        o.number("remaining", remaining);
    });
    out
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn those_that_matter_are_chosen_before_others_and_the_order_stays() {
        let even = |number: &i32| number % 2 == 0;
        assert_eq!(chosen(vec![1, 3, 2, 5, 4], 3, even), [1, 2, 4]);
        assert_eq!(chosen(vec![1, 2, 3], 3, even), [1, 2, 3]);
        assert_eq!(chosen(vec![2, 4, 6], 2, even), [2, 4]);
        assert_eq!(chosen(vec![1, 3], 1, even), [1]);
    }
}
