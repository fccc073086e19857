//! Jobs that wait for others: what the end of one means for those behind it, in the same commit; and who joins a line.

use std::collections::HashMap;

use hapax_core::{
    Job, JobId, Parting, Refusal, State, Timestamp, hand_on, joins_line, let_go, line_up, parting,
};

use crate::Ground;

/// A job that parted from those who wait for it.
#[derive(Debug, Clone, Copy)]
pub struct Departure {
    id: JobId,
    parting: Parting,
    /// For whom it waited itself.
    waited_for: Option<JobId>,
}

impl Departure {
    /// Of a job that changed, if the change concerns those who wait for it.
    pub fn of(before: &Job, after: &Job) -> Option<Departure> {
        let parting = parting(before.state(), after)?;
        Some(Departure { id: before.id, parting, waited_for: before.waits_for() })
    }

    /// Of a job that is gone, if it had not ended.
    pub fn of_removed(job: &Job) -> Option<Departure> {
        let is_waited_for = !job.state().is_terminal();
        is_waited_for.then(|| Departure { id: job.id, parting: Parting::Ended, waited_for: job.waits_for() })
    }
}

/// Jobs that parted in one step: who waited for one of them may have waited for all.
#[derive(Debug, Default)]
pub struct Departures(HashMap<JobId, Departure>);

impl Departures {
    /// One more.
    pub fn add(&mut self, departure: Option<Departure>) {
        self.0.extend(departure.map(|departure| (departure.id, departure)));
    }

    /// That of one of them.
    pub fn of(&self, id: JobId) -> Option<Departure> {
        self.0.get(&id).copied()
    }

    /// What a departure means for those who waited for the job. All that parted are stored as they are by now, so that one
    /// that was called off with its predecessor waits for nothing.
    pub fn see_off<G: Ground>(
        &self,
        ground: &mut G,
        gone: Option<Departure>,
        now: Timestamp,
    ) -> Result<Vec<(State, Job)>, G::Trouble> {
        let Some(gone) = gone else { return Ok(Vec::new()) };
        // If it was the last in its line, this one is now, and somebody may ask for it.
        if let Some(other) = gone.waited_for {
            ground.job(other)?;
        }
        let mut followers = Vec::new();
        for successor in ground.successors(gone.id)? {
            let next = match self.heir(ground, &gone)? {
                Some(other) => hand_on(&successor, other),
                None => let_go(&successor, gone.parting, now),
            };
            if let Some(next) = next {
                ground.put(next.clone(), now)?;
                followers.push((State::Pending, next));
            }
        }
        // Who waits as before, for somebody else, has nothing to tell.
        followers.retain(|(_, job)| job.waits_for().is_none());
        Ok(followers)
    }

    /// For whom those have to wait who waited for a job that left before its turn; nobody, if it did not wait itself.
    fn heir<G: Ground>(&self, ground: &mut G, gone: &Departure) -> Result<Option<JobId>, G::Trouble> {
        if gone.parting != Parting::Ended {
            return Ok(None);
        }
        let mut heir = gone.waited_for;
        // They left together.
        while let Some(other) =
            heir.and_then(|id| self.0.get(&id)).filter(|other| other.parting == Parting::Ended)
        {
            heir = other.waited_for;
        }
        let Some(id) = heir else { return Ok(None) };
        let lives = ground.job(id)?.is_some_and(|job| !job.state().is_terminal());
        Ok(Some(id).filter(|_| lives))
    }
}

/// Whether a change gives a job a new place: in the line of those who wait for a worker, or for one before it.
pub fn takes_turn(before: &Job, after: &Job) -> bool {
    let becomes_available = before.state() != State::Available && after.state() == State::Available;
    let starts_to_wait = before.waits_for().is_none() || changes_line(before, after);
    becomes_available || (starts_to_wait && after.waits_for().is_some())
}

/// Whether a change takes a job from one line to another.
fn changes_line(before: &Job, after: &Job) -> bool {
    before.spec.queue != after.spec.queue && after.stands_in().is_some()
}

/// Whether a change brings a job into a line in which it did not stand.
pub fn enters_line(before: &Job, after: &Job) -> bool {
    joins_line(before.state(), after) || (!before.state().is_terminal() && changes_line(before, after))
}

/// Lets a job that changed enter the line in which it stands by now. One that moves to another queue does so after the one
/// before it: only then do those of a line keep their order.
pub fn enter<G: Ground>(
    ground: &mut G,
    before: &Job,
    job: &mut Job,
) -> Result<Result<(), Refusal>, G::Trouble> {
    if joins_line(before.state(), job) {
        return join(ground, job).map(Ok);
    }
    if let Some(after) = before.waits_for()
        && let Some(line) = ground.job(after)?.and_then(|other| other.stands_in())
        && Some(&line) != job.stands_in().as_ref()
    {
        return Ok(Err(Refusal::NotItsTurn { id: job.id, after }));
    }
    let Some(order) = job.spec.order() else { return Ok(Ok(())) };
    match ground.last_of(&order)? {
        Some(last) if before.waits_for().is_none() && waits_for_more_than_its_turn(job) => {
            Ok(Err(Refusal::NotItsTurn { id: job.id, after: last }))
        }
        Some(last) => {
            line_up(job, last);
            Ok(Ok(()))
        }
        None => Ok(Ok(())),
    }
}

/// Whether a job waits for a person, for its next attempt or for room: in a line it would forget that, and the end of the one
/// before it would let it go.
fn waits_for_more_than_its_turn(job: &Job) -> bool {
    match job.state() {
        State::Pending | State::Retryable => true,
        State::Scheduled => job.spec.scheduled_at.is_none(),
        State::Available | State::Active | State::Completed | State::Cancelled | State::Discarded => false,
    }
}

/// Puts a job at the end of its line, if it has one in which somebody stands.
pub fn join<G: Ground>(ground: &mut G, job: &mut Job) -> Result<(), G::Trouble> {
    let Some(order) = job.spec.order() else { return Ok(()) };
    if let Some(last) = ground.last_of(&order)? {
        line_up(job, last);
    }
    Ok(())
}
