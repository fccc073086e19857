//! Jobs that wait for the end of another: who is let go, when, and in which order.

use hapax_core::{Admission, Job, JobId, Phase, State, Verdict};
use proptest::{prop_assert, prop_assert_eq};

use super::super::sightings::Sight;
use super::{Check, Mirror, waits_for};

impl Mirror<'_> {
    /// The jobs that wait for the end of this one, in the order of their creation.
    fn waiting_for(&self, id: JobId) -> Vec<JobId> {
        let waiting = self.jobs.values().filter(|job| waits_for(job) == Some(id));
        let mut waiting: Vec<JobId> = waiting.map(|job| job.id).collect();
        waiting.sort_by_key(|id| self.places[id].created);
        waiting
    }

    /// Who has to be let go after the job changed from `before`. Ask before the change is drawn.
    pub(super) fn to_be_let_go(&self, before: State, after: &Job) -> Vec<JobId> {
        let has_ended = after.state().is_terminal() && !before.is_terminal();
        let lost_its_key =
            self.jobs.get(&after.id).is_some_and(|old| old.key.is_some() && after.key.is_none());
        if has_ended || lost_its_key { self.waiting_for(after.id) } else { Vec::new() }
    }

    /// A successor goes as it was, at once or when its start has come.
    pub(super) fn let_go(&mut self, job: &Job) -> Check {
        let Some(old) = self.jobs.get(&job.id) else {
            return Err(super::broken(format!("{} waited for nobody", job.id)));
        };
        let start = job.spec.scheduled_at.as_ref().map(|given| given.at).filter(|at| *at > self.now);
        let (phase, enqueued_at) = match start {
            Some(at) => (Phase::Scheduled { at }, old.enqueued_at),
            None => (Phase::Available { lapsed: None }, Some(self.now)),
        };
        let expected = Job { phase, enqueued_at, activated_at: Some(self.now), ..old.clone() };
        prop_assert_eq!(job, &expected, "who is let go");
        self.note(Sight::SuccessorLetGo);
        self.note_if(start.is_some(), Sight::SuccessorStartsLater);
        self.draw(job)
    }

    /// The stored jobs that an enqueue changed: those it was about, each followed by those it let go.
    pub(super) fn changed_by(&mut self, admission: &Admission) -> Check {
        let Admission { verdict, job: shown, changed, workflows, depth: _, rule: _, is_abridged: _ } =
            admission;
        prop_assert!(workflows.is_empty());
        let replaced = |id| matches!(verdict, Verdict::Replaced(ids) if ids.contains(&id));
        let waited = |mirror: &Self, id| mirror.jobs.get(&id).and_then(waits_for).is_some();
        let is_direct = |mirror: &Self, id| replaced(id) || shown.id == id || !waited(mirror, id);
        let (direct, let_go): (Vec<_>, Vec<_>) = changed.iter().partition(|(_, job)| is_direct(self, job.id));
        let mut expected = Vec::new();
        for (before, job) in &direct {
            let was = self.jobs.get(&job.id).map(Job::state);
            prop_assert_eq!(was, Some(*before), "the former state of {}", job.id);
            self.note_holder(verdict, *before, job);
            let mut waiting = self.to_be_let_go(*before, job);
            let called_off = waiting.len();
            waiting.retain(|id| !replaced(*id));
            self.note_if(waiting.len() < called_off, Sight::SuccessorReplacedWithPredecessor);
            expected.push(job.id);
            expected.extend(waiting);
        }
        let found: Vec<JobId> = changed.iter().map(|(_, job)| job.id).collect();
        prop_assert_eq!(found, expected, "whom the enqueue changed");
        direct.iter().try_for_each(|(_, job)| self.draw(job))?;
        for (before, job) in let_go {
            prop_assert_eq!(*before, State::Pending);
            self.note(Sight::SuccessorLetGoByReplacement);
            self.let_go(job)?;
        }
        Ok(())
    }

    /// Nobody waits for what has ended or gave up its key: whoever waits will be let go.
    pub(in super::super) fn check_successors(&self) -> Check {
        for job in self.jobs.values() {
            let Some(awaited) = waits_for(job) else { continue };
            let Some(other) = self.jobs.get(&awaited) else {
                return Err(super::broken(format!("{} waits for {awaited}, which is gone", job.id)));
            };
            prop_assert!(!other.state().is_terminal(), "{} waits for what has ended", job.id);
            prop_assert!(other.key.is_some(), "{} waits for a key that was given up", job.id);
            prop_assert!(job.key.is_none() || job.key == other.key, "{} waits for another key", job.id);
        }
        Ok(())
    }
}
