//! Rate limits in a store: whether a job may start, in the commit that starts it.

use std::time::Duration;

use hapax_core::limit::{Closed, LimitKey, Limits, Memory, OnLimit, RateLimit, Ruling};
use hapax_core::{Event, Job, JobId, JobType, QueueName, Said, Timestamp};

use crate::record::limit as record;
use crate::{Edit, EntryKey, Ground, Register, Revision, Written};

/// When a job comes back that shall not wait in line, if time alone does not make room.
pub const POSTPONED_FOR: Duration = Duration::from_secs(5);

/// A job that could not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    /// The job.
    pub job: JobId,
    /// Its type.
    pub kind: JobType,
    /// Its queue.
    pub queue: QueueName,
    /// The limit.
    pub key: LimitKey,
    /// What is in the way.
    pub closed: Closed,
}

/// The entry in which a store remembers what it has to know of a limit.
pub fn key(key: &LimitKey) -> EntryKey {
    EntryKey::new(Register::Limit, key.as_str())
}

/// The queue whose limit an entry holds.
pub fn limited_queue(key: &EntryKey) -> Option<QueueName> {
    let limit = LimitKey::parse_any(&key.name).ok().filter(|_| key.register == Register::Limit)?;
    limit.limited_queue()
}

/// What the entry of a limit says, if it has to be there. It is due when something changes by itself, or when somebody
/// wants to look again.
pub fn written(memory: &Memory, look_at: Option<Timestamp>) -> Revision {
    let due_at = memory.next_due().into_iter().chain(look_at).min();
    (!memory.is_empty()).then(|| Written { body: record::write(memory).into(), due_at })
}

/// What is in the way of a job, if anything is: the limit of its queue, or that which it shares.
fn in_the_way<G: Ground>(
    ground: &mut G,
    job: &Job,
    now: Timestamp,
) -> Result<Option<(LimitKey, Closed)>, G::Trouble> {
    let queue = &job.spec.queue;
    if ground.is_limited(queue) {
        let key = LimitKey::of_queue(queue);
        let active = ground.active_in(queue)?;
        let (memory, _) = load(ground, &key)?;
        if let Err(closed) = memory.admits(Limits::default(), active, now) {
            return Ok(Some((key, closed)));
        }
    }
    let Some(RateLimit { key, limits, .. }) = job.spec.rate_limit.as_deref() else { return Ok(None) };
    let active = ground.active(key)?;
    let (memory, _) = load(ground, key)?;
    Ok(memory.admits(*limits, active, now).err().map(|closed| (key.clone(), closed)))
}

/// Whether a rate limit leaves room for a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Room {
    /// It does.
    There,
    /// Not for this job, nor for others of its queue that share this limit.
    NotForIt(LimitKey),
    /// Not for any job of the queue.
    NotForAny,
    /// Not for this job, which does not wait for any: this happens to it instead.
    Never(Box<Event>),
}

/// Whether there is room for a job. If there is none and it waits, whoever asks sees to its line.
pub fn room<G: Ground>(
    ground: &mut G,
    job: &Job,
    now: Timestamp,
    held: &mut Vec<HeldBack>,
) -> Result<Room, G::Trouble> {
    let queue = &job.spec.queue;
    if job.spec.rate_limit.is_none() && !ground.is_limited(queue) {
        return Ok(Room::There);
    }
    let Some((key, closed)) = in_the_way(ground, job, now)? else { return Ok(Room::There) };
    let own = job.spec.rate_limit.as_deref().filter(|own| own.key == key);
    if let Some(instead) = own.and_then(|own| instead_of_waiting(own, &closed, now)) {
        return Ok(Room::Never(Box::new(instead)));
    }
    if let Some(until) = closed.until {
        look_again(ground, &key, until)?;
    }
    let room = if own.is_some() { Room::NotForIt(key.clone()) } else { Room::NotForAny };
    held.push(HeldBack { job: job.id, kind: job.spec.kind.clone(), queue: queue.clone(), key, closed });
    Ok(room)
}

/// What happens to a job that shall not wait for room.
fn instead_of_waiting(limit: &RateLimit, closed: &Closed, now: Timestamp) -> Option<Event> {
    match limit.on_limit {
        OnLimit::Wait => None,
        OnLimit::Drop => Some(Event::Drop),
        OnLimit::Reschedule => {
            let until = closed.until.filter(|until| *until > now).unwrap_or(now + POSTPONED_FOR);
            Some(Event::Postpone { until })
        }
    }
}

/// A job has started.
pub fn started<G: Ground>(ground: &mut G, job: &Job, now: Timestamp) -> Result<(), G::Trouble> {
    let queue = &job.spec.queue;
    if ground.is_limited(queue) {
        note_start(ground, &LimitKey::of_queue(queue), Limits::default(), now)?;
    }
    match job.spec.rate_limit.as_deref() {
        Some(RateLimit { key, limits, .. }) => note_start(ground, key, *limits, now),
        None => Ok(()),
    }
}

fn note_start<G: Ground>(
    ground: &mut G,
    key: &LimitKey,
    own: Limits,
    now: Timestamp,
) -> Result<(), G::Trouble> {
    let (mut memory, due_at) = load(ground, key)?;
    if !memory.in_force(own, now).count_starts() {
        return Ok(());
    }
    memory.started(own, now);
    // Somebody may want to look again before anything changes by itself.
    ground.put_entry(self::key(key), written(&memory, due_at.filter(|at| *at > now)))
}

/// Somebody was turned away, and wants to look again at that moment.
fn look_again<G: Ground>(ground: &mut G, key: &LimitKey, at: Timestamp) -> Result<(), G::Trouble> {
    let (memory, due_at) = load(ground, key)?;
    if due_at.is_some_and(|due_at| due_at <= at) {
        return Ok(());
    }
    match written(&memory, Some(at)) {
        // Time opens only what is remembered.
        None => Ok(()),
        revision => ground.put_entry(self::key(key), revision),
    }
}

/// A worker that failed says that no job with its limit shall start before a moment.
pub fn close<G: Ground>(
    ground: &mut G,
    job: &Job,
    until: Timestamp,
    now: Timestamp,
) -> Result<(), G::Trouble> {
    let Some(RateLimit { key, .. }) = job.spec.rate_limit.as_deref() else { return Ok(()) };
    let (mut memory, due_at) = load(ground, key)?;
    memory.close(until, now);
    ground.put_entry(self::key(key), written(&memory, due_at.filter(|at| *at > now)))
}

/// An operator decides about a key, or takes that back.
pub fn decided(ruling: Option<Ruling>, now: Timestamp) -> Edit {
    edited(move |memory| memory.rule(ruling), now)
}

/// Changes what is known of a key, as it stands at that moment.
pub fn edited(change: impl Fn(&mut Memory) + Send + Sync + 'static, now: Timestamp) -> Edit {
    Edit::new(move |before: Option<&Written>| {
        // What cannot be read is decided about as if nothing were known.
        let known = before.and_then(|written| record::read(&written.body).ok());
        let mut memory = known.unwrap_or_default();
        memory.forget(now);
        change(&mut memory);
        memory.forget(now);
        Ok(written(&memory, None))
    })
}

/// What an entry says after the clock was set back; nothing if it cannot be read.
pub fn settled(before: &Written, now: Timestamp) -> Option<Written> {
    let known = record::read(&before.body).ok()?;
    let mut memory = known.clone();
    memory.forget(now);
    if memory == known {
        return Some(before.clone());
    }
    // What it remembers means nothing any more: that is seen to when it falls due, and so it does now.
    Some(Written { due_at: Some(now), ..before.clone() })
}

/// Until when an event closes the limit of its job.
pub fn closes_until(event: &Event) -> Option<Timestamp> {
    match event.said() {
        Said::LimitClosed { until } => Some(until),
        Said::Nothing
        | Said::Heartbeat
        | Said::Progress { .. }
        | Said::Checkpoint
        | Said::Reprioritized { .. }
        | Said::Revived => None,
    }
}

/// Something changed by itself, or somebody wanted to look again.
pub fn fall_due<G: Ground>(ground: &mut G, key: &EntryKey, now: Timestamp) -> Result<(), G::Trouble> {
    let Ok(limit) = LimitKey::parse_any(&key.name) else { return Err(ground.unreadable(key)) };
    let (mut memory, _) = load(ground, &limit)?;
    memory.forget(now);
    ground.put_entry(key.clone(), written(&memory, None))?;
    ground.open(&limit)
}

/// What is remembered, and when the entry is due.
fn load<G: Ground>(ground: &mut G, key: &LimitKey) -> Result<(Memory, Option<Timestamp>), G::Trouble> {
    let key = self::key(key);
    let Some(entry) = ground.entry(&key)? else { return Ok((Memory::default(), None)) };
    match record::read(&entry.written.body) {
        Ok(memory) => Ok((memory, entry.written.due_at)),
        Err(_) => Err(ground.unreadable(&key)),
    }
}
