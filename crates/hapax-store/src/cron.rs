//! Recurring jobs in a store: what happens when one is due, in one commit.

use hapax_core::cron::{Cron, Outcome, Run, Skip};
use hapax_core::unique::Uniqueness;
use hapax_core::{Admission, Event, Incoming, JobId, Refusal, State, Timestamp};

use crate::record::cron as record;
use crate::{Change, EntryKey, Followed, Ground, Register, Written, settings};

/// What happened when a recurring job was due.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// The recurring job, as it stands since.
    pub cron: Cron,
    /// The moment at which it was due.
    pub at: Timestamp,
    /// What became of it; nothing if it was seen to before.
    pub outcome: Option<Outcome>,
    /// Moments that clocks jumped over since the last time.
    pub skipped: Vec<Skip>,
    /// The job that was made, and what became of others by it.
    pub admission: Option<Box<Admission>>,
    /// What became of the job before, if it was called off.
    pub cancelled: Option<Box<Change>>,
}

/// The entry of a recurring job.
pub fn key(name: &str) -> EntryKey {
    EntryKey::new(Register::Cron, name)
}

/// What the entry of a recurring job says.
pub fn written(cron: &Cron) -> Written {
    Written { body: record::write(cron).into(), due_at: cron.next_run_at.filter(|_| cron.enabled) }
}

/// Lets a recurring job make its next one, if it is due.
pub fn tick<G: Ground>(ground: &mut G, key: &EntryKey, now: Timestamp) -> Result<Option<Tick>, G::Trouble> {
    let Some(entry) = ground.entry(key)? else { return Ok(None) };
    let mut cron = record::read(&key.name, &entry.written.body).map_err(|_| ground.unreadable(key))?;
    let Some(at) = cron.next_run_at.filter(|_| cron.is_due(now)) else {
        // Its entry is due, and it is not.
        ground.put_entry(key.clone(), Some(written(&cron)))?;
        return Ok(None);
    };
    let skipped = cron.tell_skipped(at);
    let id = cron.job_id(at);
    // The clock may have been set back over a moment whose job is gone already.
    let was_seen_to = cron.last_run_at == Some(at) && cron.last_job == Some(id);
    let run = if was_seen_to { Ran::default() } else { run(ground, &cron, at, now, id)? };
    let Ran { outcome, admission, cancelled } = run;
    if let Some(outcome) = &outcome {
        cron.note(at, outcome);
    }
    cron.passed(now);
    ground.put_entry(key.clone(), Some(written(&cron)))?;
    Ok(Some(Tick { cron, at, outcome, skipped, admission, cancelled }))
}

/// Makes a job now, whatever the schedule says.
pub fn run_now<G: Ground>(
    ground: &mut G,
    key: &EntryKey,
    id: JobId,
    now: Timestamp,
) -> Result<Result<Tick, Refusal>, G::Trouble> {
    let Some(entry) = ground.entry(key)? else { return Ok(Err(key.missing())) };
    let mut cron = record::read(&key.name, &entry.written.body).map_err(|_| ground.unreadable(key))?;
    let Ran { outcome, admission, cancelled } = run(ground, &cron, now, now, id)?;
    if let Some(outcome) = &outcome {
        cron.note(now, outcome);
    }
    ground.put_entry(key.clone(), Some(written(&cron)))?;
    Ok(Ok(Tick { cron, at: now, outcome, skipped: Vec::new(), admission, cancelled }))
}

#[derive(Default)]
struct Ran {
    outcome: Option<Outcome>,
    admission: Option<Box<Admission>>,
    cancelled: Option<Box<Change>>,
}

fn run<G: Ground>(
    ground: &mut G,
    cron: &Cron,
    at: Timestamp,
    now: Timestamp,
    id: JobId,
) -> Result<Ran, G::Trouble> {
    let previous = match cron.last_job {
        Some(last) => ground.job(last)?.map(|job| job.state()),
        None => None,
    };
    let (incoming, cancel) = match cron.run(at, now, id, previous) {
        Run::Overlaps(previous) => {
            let outcome = Some(Outcome::Overlapped(previous));
            return Ok(Ran { outcome, admission: None, cancelled: None });
        }
        Run::Make { incoming, cancel } => (incoming, cancel),
    };
    let incoming = match under_settings(ground, cron, *incoming)? {
        Ok(incoming) => incoming,
        Err(refusal) => {
            let outcome = Some(Outcome::Refused(Box::new(refusal)));
            return Ok(Ran { outcome, admission: None, cancelled: None });
        }
    };
    if ground.job(id)?.is_some() {
        // The moment was seen to.
        return Ok(Ran::default());
    }
    let mut cancelled = None;
    if let Some(previous) = cancel
        && makes_one_without(ground, &incoming, previous, now)?
    {
        cancelled = step(ground, previous, Event::Cancel, now)?.map(Box::new);
    }
    Ok(match ground.admit(incoming, now)? {
        Ok(admission) => {
            let outcome = Some(Outcome::of(&admission.verdict, admission.job.id));
            Ran { outcome, admission: Some(Box::new(admission)), cancelled }
        }
        Err(Refusal::IdTaken { .. }) => Ran { outcome: None, admission: None, cancelled },
        // A payload that cannot grow, a line that cannot be left, or too many to replace.
        Err(refusal) => {
            Ran { outcome: Some(Outcome::Refused(Box::new(refusal))), admission: None, cancelled }
        }
    })
}

/// The job as the settings of its queue want it, if they take it. A full queue takes it: its jobs are few, and each is
/// missed.
fn under_settings<G: Ground>(
    ground: &mut G,
    cron: &Cron,
    mut incoming: Incoming,
) -> Result<Result<Incoming, Refusal>, G::Trouble> {
    let settings = settings::in_force(ground, &incoming.spec.queue)?;
    settings.fill(&mut incoming.spec, cron.template.unsaid);
    Ok(match settings.bars(&incoming.spec.queue, &incoming.spec.kind) {
        Some(refusal) => Err(refusal),
        None => Ok(incoming),
    })
}

/// Whether a job would be made if the one before it were called off: else that one is left alone.
fn makes_one_without<G: Ground>(
    ground: &mut G,
    incoming: &Incoming,
    previous: JobId,
    now: Timestamp,
) -> Result<bool, G::Trouble> {
    let mut holders = ground.holders(incoming, now)?;
    let counts_cancelled = |unique: &Uniqueness| unique.watch().states.contains(State::Cancelled);
    if !incoming.spec.unique.as_ref().is_some_and(counts_cancelled) {
        holders.retain(|holder| holder.id != previous);
    }
    let admitted = incoming.clone().admit(holders, now, ground.rules());
    Ok(admitted.is_ok_and(|admission| admission.verdict.is_new()))
}

/// A step with what follows from it.
fn step<G: Ground>(
    ground: &mut G,
    id: JobId,
    event: Event,
    now: Timestamp,
) -> Result<Option<Change>, G::Trouble> {
    let Ok(mut change) = ground.step_alone(id, event, now)? else { return Ok(None) };
    if let Change::To { before, job, followers, workflow, said: _ } = &mut change
        && let Some(Followed { workflow: stands, followers: more }) =
            crate::workflow::follow(ground, State::clone(before), job, now)?
    {
        followers.extend(more);
        *workflow = Some(Box::new(stands));
    }
    Ok(Some(change))
}
