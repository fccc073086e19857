//! Answers to enqueues: what the wish of an incoming job promises.

use hapax_core::unique::{Holder, JobKeyMode, UniquePolicy, Uniqueness};
use hapax_core::{Admission, Incoming, Job, JobId, Phase, Refusal, State, Timestamp, Verdict};
use proptest::{prop_assert, prop_assert_eq};

use super::super::sightings::Sight;
use super::{Check, Mirror, waits_for};

impl Mirror<'_> {
    pub(in super::super) fn admitted(
        &mut self,
        incoming: &Incoming,
        admission: &Admission,
        now: Timestamp,
    ) -> Check {
        self.check_verdict(incoming, admission, now)?;
        self.changed_by(admission)?;
        if admission.verdict.is_new() {
            prop_assert_eq!(admission.job.id, incoming.id);
            prop_assert!(!self.jobs.contains_key(&incoming.id), "{} was stored before", incoming.id);
            self.draw(&admission.job)?;
        }
        Ok(())
    }

    pub(in super::super) fn not_admitted(&self, refusal: &Refusal) {
        match refusal {
            Refusal::IdTaken { .. } => self.note(Sight::IdTaken),
            Refusal::InBatch { index: 1.., .. } => self.note(Sight::BatchRefusedMidway),
            Refusal::IdempotencyMismatch => self.note(Sight::MemoMismatch),
            Refusal::PayloadFull { .. } => self.note(Sight::PayloadFull),
            _ => {}
        }
    }

    /// The verdict, held against every stored job with that key.
    fn check_verdict(&self, incoming: &Incoming, admission: &Admission, now: Timestamp) -> Check {
        let Some(uniqueness) = &incoming.spec.unique else {
            prop_assert_eq!(&admission.verdict, &Verdict::Created, "a job that may have others like it");
            return Ok(());
        };
        let covered = self.covered(incoming, uniqueness, now);
        let alive: Vec<&Job> = covered.iter().copied().filter(|job| !job.state().is_terminal()).collect();
        match &admission.verdict {
            Verdict::Created => {
                self.note_if(!covered.is_empty() && alive.is_empty(), Sight::CreatedBesideHolder);
                self.check_created(uniqueness, admission, &covered)
            }
            Verdict::Replaced(ids) => {
                let alive: Vec<JobId> = alive.iter().map(|job| job.id).collect();
                prop_assert_eq!(ids, &alive, "all that wait or run, newest first");
                self.note(Sight::Replaced);
                self.note_if(ids.len() > 1, Sight::ReplacedSeveral);
                Ok(())
            }
            Verdict::Existing | Verdict::Updated(_) | Verdict::Rejected => {
                let shown = admission.job.id;
                let Some(holder) = covered.iter().find(|job| job.id == shown) else {
                    return Err(super::broken(format!("{shown} is no holder that counts")));
                };
                let counted = holder.ledger.count() + 1;
                prop_assert_eq!(admission.job.ledger.count(), counted, "the ledger of {}", shown);
                prop_assert_eq!(admission.job.key, incoming.key, "a holder keeps its key");
                if let Uniqueness::JobKey(job_key) = uniqueness {
                    let deduped = job_key.mode == JobKeyMode::UnsafeDedupe;
                    prop_assert_eq!(admission.verdict == Verdict::Existing, deduped);
                    self.note(if deduped { Sight::JobKeyDeduped } else { Sight::JobKeyUpdated });
                }
                match admission.verdict {
                    Verdict::Updated(_) => self.check_update(incoming, holder, &admission.job, now),
                    _ => Ok(()),
                }
            }
        }
    }

    /// A job is created beside living holders only where its wish says how.
    fn check_created(&self, uniqueness: &Uniqueness, admission: &Admission, covered: &[&Job]) -> Check {
        let is_queueing = uniqueness.policy().is_some_and(|policy| policy.while_active.is_some());
        let (waiting, running): (Vec<&Job>, Vec<&Job>) = covered
            .iter()
            .copied()
            .filter(|job| !job.state().is_terminal())
            .partition(|job| job.state().is_waiting() && !(is_queueing && is_lapsed(job)));
        let is_queued = is_queueing && !running.is_empty();
        let stands_against = |job: &&&Job| !is_queued || waits_for(job).is_some();
        let against = waiting.iter().find(stands_against).map(|job| job.id);
        prop_assert_eq!(against, None, "created beside what waits");
        let queued_after = match admission.job.phase {
            Phase::Pending { after } => after,
            _ => None,
        };
        let Some(newest) = running.first() else {
            prop_assert_eq!(queued_after, None, "nothing runs that it could wait for");
            return Ok(());
        };
        match uniqueness {
            Uniqueness::JobKey(_) => self.check_superseded(newest, admission),
            Uniqueness::Policy(UniquePolicy { while_active: Some(_), .. }) => {
                prop_assert_eq!(queued_after, Some(newest.id), "it waits for what runs");
                prop_assert!(admission.changed.is_empty());
                self.note(Sight::Queued);
                Ok(())
            }
            Uniqueness::Policy(UniquePolicy { debounce: Some(_), .. }) => {
                prop_assert_eq!(admission.job.state(), State::Scheduled);
                self.note(Sight::DebouncedBesideRunning);
                Ok(())
            }
            Uniqueness::Policy(_) => Err(super::broken(format!("created beside {}", newest.id))),
        }
    }

    /// What ran under the name goes on without it, and for the last time.
    fn check_superseded(&self, running: &Job, admission: &Admission) -> Check {
        let [(State::Active, job)] = &admission.changed[..] else {
            return Err(super::broken(format!("{} still has its name", running.id)));
        };
        let mut spec = (*running.spec).clone();
        spec.retry.max_attempts = running.attempt;
        prop_assert_eq!((job.id, &job.phase, &*job.spec), (running.id, &running.phase, &spec));
        prop_assert_eq!((job.key, job.released.as_ref().map(|release| release.key)), (None, running.key));
        self.note(Sight::JobKeySuperseded);
        Ok(())
    }

    /// The holders that make the job a duplicate, newest first.
    pub(super) fn covered(&self, incoming: &Incoming, uniqueness: &Uniqueness, now: Timestamp) -> Vec<&Job> {
        let watch = uniqueness.watch();
        let holds = |job: &&Job| job.key == incoming.key && watch.covers(Holder::from(*job), now);
        let mut covered: Vec<&Job> = self.jobs.values().filter(holds).collect();
        covered.sort_by_key(|job| std::cmp::Reverse((job.created_at, job.id)));
        covered
    }

    pub(super) fn note_holder(&self, verdict: &Verdict, before: State, holder: &Job) {
        match verdict {
            Verdict::Rejected => self.note(Sight::Rejected),
            Verdict::Existing => self.note(Sight::AnsweredByHolder),
            Verdict::Updated(_) => {
                self.note(Sight::Updated);
                self.note_if(before != holder.state(), Sight::UpdatedAndMoved);
            }
            Verdict::Replaced(_) => self.note_if(before == State::Active, Sight::ReplacedActive),
            Verdict::Created => {}
        }
    }
}

/// A worker that lost the lease of this job may still be at it.
fn is_lapsed(job: &Job) -> bool {
    matches!(job.phase, Phase::Available { lapsed: Some(_) })
}
