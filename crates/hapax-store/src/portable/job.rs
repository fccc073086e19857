//! The line of a job: the columns of the tables under the same names, without those that have nothing to say.
//!
//! Both ways take every field apart by name, so that a new one cannot be forgotten.

use std::sync::Arc;

use hapax_core::unique::Key;
use hapax_core::{Job, JobId, JobType, Json, Phase, Priority, QueueName, Spec, State, Timestamp};

use super::LineFault;
use super::members::{Members, wrong};
use super::object::Object;
use crate::desk::{Numbered, PROVISIONAL};
use crate::record::ledger::{Held, Holding};
use crate::record::phase::Damage;
use crate::record::{Unreadable, failures, ledger, millis, options, phase, policy, span};

/// The largest attempt that every engine can keep.
const ATTEMPT_MAX: u32 = i32::MAX.unsigned_abs();

pub(super) fn write(line: &mut Object, stored: &Numbered) {
    let Numbered { seq, turn, job } = stored;
    let Job {
        id,
        spec,
        key,
        created_at,
        enqueued_at,
        activated_at,
        started_at,
        attempt,
        fence,
        phase,
        history,
        retry_delay,
        ledger,
        reentered_beside,
        released,
        first_start,
        progress,
        checkpoint,
        begun_at,
    } = job;
    line.number("seq", *seq);
    line.number("turn", *turn);
    line.text("id", &id.to_string());
    write_spec(line, spec, key.as_ref());
    line.number("created_at", created_at.millis());
    line.text("state", phase.state().name());
    line.number("attempt", *attempt);
    line.number("fence", *fence);
    let moments = [("enqueued_at", enqueued_at), ("activated_at", activated_at), ("started_at", started_at)];
    for (name, at) in moments {
        line.number_if(name, at.map(Timestamp::millis));
    }
    write_phase(line, phase);
    line.number_if("retry_ms", retry_delay.map(millis));
    if let Some(id) = reentered_beside {
        line.text("reentered_beside", &id.to_string());
    }
    line.json_if("errors", failures::write(history).as_deref());
    let held = Held {
        ledger,
        released: released.as_ref(),
        first_start: *first_start,
        progress: progress.as_ref(),
        checkpoint: checkpoint.as_ref(),
        begun_at: *begun_at,
    };
    line.json_if("ledger", ledger::write(held).as_deref());
}

fn write_spec(line: &mut Object, spec: &Spec, key: Option<&Key>) {
    // The rest is in the options, which take `Spec` apart without `..`.
    let Spec { kind, queue, priority, args, meta, unique, extra, .. } = spec;
    line.text("type", kind.as_str());
    line.text("queue", queue.as_str());
    line.number("priority", priority.get());
    if let Some(key) = key {
        line.text("key", &key.to_string());
    }
    line.json_if("policy", unique.as_ref().map(policy::write).as_deref());
    line.json_if("options", options::write(spec).as_deref());
    line.json("args", args.as_str());
    line.json_if("meta", unless_empty(meta));
    line.json_if("extra", unless_empty(extra));
}

fn unless_empty(json: &Json) -> Option<&str> {
    Some(json.as_str()).filter(|text| *text != "{}")
}

fn write_phase(line: &mut Object, phase: &Phase) {
    let phase::Columns { at, token, worker, deadline, lease_ms, times_out_at, detail, dead_letter, result } =
        phase::write(phase);
    line.number_if("at", at);
    if let Some(token) = token {
        line.text("token", &super::hex::write(&token));
    }
    if let Some(worker) = worker {
        line.text("worker", &worker);
    }
    line.number_if("deadline", deadline);
    line.number_if("lease_ms", lease_ms);
    line.number_if("times_out_at", times_out_at);
    if let Some(detail) = detail {
        line.text("detail", &detail);
    }
    if dead_letter {
        line.flag("dead_letter", true);
    }
    line.json_if("result", result.as_deref());
}

pub(super) fn read(members: &mut Members<'_>) -> Result<Numbered, LineFault> {
    let (seq, turn) = (place(members, "seq", 1)?, place(members, "turn", 0)?);
    let id = members.needed_parsed("id", "a UUID of version 7 in lower case", |text| text.parse().ok())?;
    let (spec, key) = read_spec(members)?;
    let created_at = members.needed_time("created_at")?;
    let is_state = |text: &str| text.parse::<State>().ok();
    let state = members.needed_parsed("state", "one of the eight states", is_state)?;
    let attempt = members.needed_number("attempt")?;
    if attempt > ATTEMPT_MAX {
        return Err(wrong("attempt", "a number of attempts"));
    }
    let fence = members.needed_number("fence")?;
    let [enqueued_at, activated_at, started_at] =
        [members.time("enqueued_at")?, members.time("activated_at")?, members.time("started_at")?];
    let phase = read_phase(members, state)?;
    let retry_delay = members.number("retry_ms")?.map(span).transpose();
    let is_id = |text: &str| text.parse::<JobId>().ok();
    let reentered_beside = members.parsed("reentered_beside", "the id of a job", is_id)?;
    let history = record(members, "errors", failures::read)?;
    let Holding { ledger, released, first_start, progress, checkpoint, begun_at } =
        record(members, "ledger", ledger::read)?;
    let job = Job {
        id,
        spec: Arc::new(spec),
        key,
        created_at,
        enqueued_at,
        activated_at,
        started_at,
        attempt,
        fence,
        phase,
        history,
        retry_delay: retry_delay.map_err(|_| wrong("retry_ms", "a span in milliseconds"))?,
        ledger,
        reentered_beside,
        released,
        first_start,
        progress,
        checkpoint,
        begun_at,
    };
    Ok(Numbered { seq, turn, job })
}

/// A place in an order, below those that a desk hands out for a moment.
fn place(members: &mut Members<'_>, name: &'static str, least: u64) -> Result<u64, LineFault> {
    let place = members.needed_number(name)?;
    if (least..PROVISIONAL).contains(&place) { Ok(place) } else { Err(wrong(name, "a place in an order")) }
}

fn read_spec(members: &mut Members<'_>) -> Result<(Spec, Option<Key>), LineFault> {
    let kind = members.needed_parsed("type", "a job type", |text| JobType::parse(text).ok())?;
    let queue = members.needed_parsed("queue", "the name of a queue", |text| QueueName::parse(text).ok())?;
    let priority = Priority::new(members.needed_number("priority")?);
    let key = members.parsed("key", "64 hexadecimal digits", |text| text.parse().ok())?;
    let unique = |text: Option<&str>| text.map(policy::read).transpose();
    let unique = record(members, "policy", unique)?;
    let options = record(members, "options", options::read)?;
    let args = members.json("args")?.ok_or(LineFault::Missing("args"))?;
    let spec = options.with(options::Columns {
        kind,
        queue,
        priority: priority.map_err(|_| wrong("priority", "between -100 and 100"))?,
        unique,
        args,
        meta: members.json("meta")?.unwrap_or_else(Json::empty_object),
        extra: members.json("extra")?.unwrap_or_else(Json::empty_object),
    });
    Ok((spec, key))
}

/// A text that the engines share.
fn record<T>(
    members: &mut Members<'_>,
    name: &'static str,
    read: impl FnOnce(Option<&str>) -> Result<T, Unreadable>,
) -> Result<T, LineFault> {
    let json = members.json(name)?;
    read(json.as_ref().map(Json::as_str)).map_err(|_| wrong(name, "what is written there"))
}

fn read_phase(members: &mut Members<'_>, state: State) -> Result<Phase, LineFault> {
    let at = members.time("at")?.map(Timestamp::millis);
    let token = members.bytes("token", "32 hexadecimal digits")?;
    let worker = members.text("worker")?;
    let deadline = members.time("deadline")?.map(Timestamp::millis);
    let lease_ms = members.number("lease_ms")?;
    let times_out_at = members.time("times_out_at")?.map(Timestamp::millis);
    let detail = members.text("detail")?;
    let dead_letter = members.flag("dead_letter")?.unwrap_or(false);
    let result = members.json("result")?;
    let columns = || phase::Columns {
        at,
        token,
        worker: worker.as_deref().map(Into::into),
        deadline,
        lease_ms,
        times_out_at,
        detail: detail.as_deref().map(Into::into),
        dead_letter,
        result: result.as_ref().map(|json| json.as_str().into()),
    };
    let damaged = |Damage { column, found }| LineFault::Phase { member: column, found };
    let phase = phase::read(state, columns()).map_err(damaged)?;
    // A phase leaves out what it does not need, and with it what nobody wrote.
    if phase::write(&phase) == columns() {
        Ok(phase)
    } else {
        Err(LineFault::Phase { member: "state", found: "beside members that belong to others" })
    }
}
