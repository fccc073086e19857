//! Answers about stored jobs: steps, deliveries, time.

use std::cmp::Reverse;

use hapax_core::unique::{JobKey, Key, Uniqueness};
use hapax_core::{
    AgentDeed, Cause, Event, Handback, Job, JobId, LeaseToken, Phase, Refusal, State, Timestamp,
};
use proptest::{prop_assert, prop_assert_eq};

use super::super::sightings::Sight;
use super::{Check, Mirror};
use crate::{Advance, Change, Claim};

impl Mirror<'_> {
    pub(in super::super) fn stepped(&mut self, event: &Event, change: &Change) -> Check {
        self.note_if(event.bare() != event, Sight::DoneToWhatWasMeant);
        let event = event.bare();
        self.note_step(event, change);
        if let (Event::Reprioritize { priority }, Change::To { before, job, .. }) = (event, change) {
            prop_assert_eq!(
                (job.spec.priority, job.state()),
                (*priority, *before),
                "what a priority changes"
            );
        }
        if let (Event::MoveTo { queue }, Change::To { before, job, .. }) = (event, change) {
            prop_assert_eq!((&job.spec.queue, job.state()), (queue, *before), "what a move changes");
        }
        self.changed(change)
    }

    pub(in super::super) fn not_stepped(&self, event: &Event, refusal: &Refusal) {
        match (event, refusal) {
            (Event::Acknowledge { .. }, Refusal::LeaseLost { .. }) => self.note(Sight::StaleAckRefused),
            (Event::Fail { .. }, Refusal::LeaseLost { .. }) => self.note(Sight::StaleFailureRefused),
            (Event::OnlyIf { .. }, Refusal::NotMeant(_)) => self.note(Sight::NotMeant),
            _ => {}
        }
    }

    pub(in super::super) fn claimed(&mut self, claim: &Claim, changes: &[Change]) -> Check {
        let waits = |job: &Job| job.state() == State::Available && claim.queues.contains(&job.spec.queue);
        let held_back = self.jobs.values().any(|job| waits(job) && self.paused.contains(&job.spec.queue));
        self.note_if(held_back, Sight::PausedQueueHeldBack);
        let (mut rest, mut delivered) = (changes.iter(), 0);
        for queue in &claim.queues {
            while delivered < claim.count
                && let Some(next) = self.next_in_line(queue)
            {
                let change = rest.next();
                prop_assert_eq!(change.map(|change| change.job().id), Some(next), "the order of the line");
                let Some(change) = change else { break };
                self.delivered(claim.token, change)?;
                delivered += usize::from(change.job().state() != State::Discarded);
            }
        }
        prop_assert_eq!(rest.next(), None, "more than was asked for");
        Ok(())
    }

    fn delivered(&mut self, token: LeaseToken, change: &Change) -> Check {
        let Change::To { before: State::Available, job, .. } = change else {
            return Err(super::broken(format!("a claim did {change:?}")));
        };
        match &job.phase {
            Phase::Discarded { .. } => {
                self.note(Sight::ExpiredInClaim);
            }
            phase => {
                prop_assert!(
                    matches!(phase.state(), State::Active | State::Completed),
                    "handed out as {phase:?}"
                );
                self.tokens.entry(job.id).or_default().push(token);
                self.note(Sight::Delivered);
                self.note_if(phase.state() == State::Completed, Sight::DeliveredAtMostOnce);
            }
        }
        self.changed(change)
    }

    pub(in super::super) fn advanced(&mut self, now: Timestamp, limit: usize, advance: &Advance) -> Check {
        let mut due = self.due(now);
        self.note_if(due.len() > limit, Sight::AdvanceCutShort);
        due.truncate(limit);
        let found: Vec<JobId> = advance.changes.iter().map(|change| change.job().id).collect();
        prop_assert_eq!(found, due, "what is due, the most overdue first");
        for change in &advance.changes {
            self.note_passed(change);
            self.changed(change)?;
        }
        prop_assert_eq!(advance.next_due, self.next_due(), "when something is due next");
        Ok(())
    }

    fn changed(&mut self, change: &Change) -> Check {
        match change {
            Change::To { before, job, followers, workflow, said: _ } => {
                prop_assert_eq!(workflow.as_ref(), None);
                let was = self.jobs.get(&job.id).map(Job::state);
                prop_assert_eq!(was, Some(*before), "the former state of {}", job.id);
                self.note_if(*before != State::Discarded && job.phase.is_dead_letter(), Sight::DeadLettered);
                let expected = self.to_be_let_go(*before, job);
                let found: Vec<JobId> = followers.iter().map(|(_, job)| job.id).collect();
                prop_assert_eq!(found, expected, "whom {} let go", job.id);
                self.draw(job)?;
                followers.iter().try_for_each(|(before, job)| {
                    prop_assert_eq!(*before, State::Pending);
                    self.let_go(job)
                })
            }
            Change::Removed { job, followers: _ } => {
                prop_assert_eq!(self.jobs.get(&job.id), Some(job), "what was removed");
                self.erase(job.id);
                Ok(())
            }
        }
    }

    /// What happened to the holders of a key: to each whom it can happen to, as many as were meant, those that live before
    /// those that have ended, and of both the newest first.
    pub(in super::super) fn stepped_holders(
        &mut self,
        key: &Key,
        event: &Event,
        limit: usize,
        changes: &[Change],
    ) -> Check {
        let can_happen = |job: &&Job| match event {
            Event::RemoveByKey => JobKey::WATCH.states.contains(job.state()) && has_name(job),
            _ => true,
        };
        let holders = self.jobs.values().filter(|job| job.key.as_ref() == Some(key)).filter(can_happen);
        let rank = |job: &Job| (job.state().is_terminal(), Reverse((job.created_at, job.id)));
        let mut expected: Vec<_> = holders.map(rank).collect();
        expected.sort();
        expected.truncate(limit);
        let expected: Vec<JobId> = expected.into_iter().map(|(_, Reverse((_, id)))| id).collect();
        let found: Vec<JobId> = changes.iter().map(|change| change.job().id).collect();
        prop_assert_eq!(found, expected, "to whom it happened");
        self.note_if(changes.is_empty(), Sight::KeyNotHeld);
        changes.iter().try_for_each(|change| self.stepped(event, change))
    }

    fn note_step(&self, event: &Event, change: &Change) {
        let Change::To { before, job, followers, .. } = change else {
            self.note_if(*event == Event::Forget, Sight::Forgotten);
            self.note_if(*event == Event::Delete, Sight::Deleted);
            return self.note_if(*event == Event::RemoveByKey, Sight::RemovedByKey);
        };
        match event {
            Event::Acknowledge { .. } => {
                self.note(if *before == State::Active {
                    Sight::Acknowledged
                } else {
                    Sight::LateAckAccepted
                });
            }
            Event::Fail { handback: Handback::Requeue, .. } => self.note(Sight::Requeued),
            Event::Fail { .. } => self.note_if(job.state() == State::Retryable, Sight::Retried),
            Event::Heartbeat { .. } => self.note(Sight::HeartbeatTaken),
            Event::Progress { .. } => {
                let is_taken = *before == State::Active;
                self.note(if is_taken { Sight::ProgressTaken } else { Sight::ProgressPassedOver });
            }
            Event::SaveCheckpoint { .. } => {
                let is_running = *before == State::Active;
                self.note(if is_running { Sight::CheckpointSaved } else { Sight::CheckpointPrepared });
            }
            Event::DropCheckpoint => self.note(Sight::CheckpointDropped),
            Event::Activate => self.note(Sight::Activated),
            Event::Agent(AgentDeed::Pause { .. }) => self.note(Sight::AgentPaused),
            Event::Agent(AgentDeed::Resume { .. }) => self.note(Sight::AgentResumed),
            Event::Agent(AgentDeed::RetryTool { .. }) => self.note(Sight::ToolTriedAgain),
            Event::Revive { .. } => self.note(Sight::Revived),
            Event::TimePassed { .. } => self.note_passed(change),
            Event::Release { .. } => {
                self.note(if before.is_terminal() { Sight::ReleasedEnded } else { Sight::Released });
                self.note_if(!followers.is_empty(), Sight::ReleaseLetSuccessorGo);
            }
            Event::RemoveByKey => self.note(Sight::KeyRemovedWhileRunning),
            Event::Retry => {
                self.note(if *before == State::Retryable { Sight::RetriedEarly } else { Sight::RetriedAnew });
            }
            Event::Reprioritize { .. } => self.note_if(job.state() == State::Available, Sight::Reprioritized),
            Event::Abandon { .. } => self.note(Sight::Abandoned),
            Event::MoveTo { .. } => self.note_if(job.state() == State::Available, Sight::Moved),
            Event::LoseQueue => self.note(Sight::LostItsQueue),
            Event::Claim { .. }
            | Event::Cancel
            | Event::Forget
            | Event::Delete
            | Event::OnlyIf { .. }
            | Event::LetGo { .. }
            | Event::Displace
            | Event::Postpone { .. }
            | Event::Drop
            | Event::Withdraw => {}
        }
    }

    fn note_passed(&self, change: &Change) {
        let Change::To { before, job, .. } = change else { return self.note(Sight::Removed) };
        let sight = match (before, &job.phase) {
            (_, Phase::Discarded { cause: Cause::Expired, .. }) => Sight::Expired,
            (_, Phase::Discarded { cause: Cause::LeaseExpired(_), .. }) => Sight::LapsedAtLast,
            (State::Active, Phase::Available { .. }) => Sight::Lapsed,
            (State::Active, _) => Sight::TimedOut,
            (State::Retryable, _) => Sight::RetryPromoted,
            _ => Sight::Promoted,
        };
        self.note(sight);
        let newest = job.history.entries().last().filter(|entry| entry.overrun.is_some());
        match newest.map(|entry| &*entry.kind) {
            Some("stalled") => self.note(Sight::Stalled),
            Some("enqueue_ttl_expired") => self.note(Sight::OutwaitedItsQueue),
            Some("total_timeout") => self.note(Sight::ExceededTotal),
            _ => {}
        }
    }
}

fn has_name(job: &Job) -> bool {
    matches!(job.spec.unique, Some(Uniqueness::JobKey(_)))
}
