//! Answers to enqueues: what the policy of an incoming job promises.

use hapax_core::unique::{Holder, UniquePolicy};
use hapax_core::{Admission, Incoming, Job, JobId, Refusal, State, Timestamp, Verdict};
use proptest::{prop_assert, prop_assert_eq};

use super::super::sightings::Sight;
use super::{Check, Mirror};

impl Mirror<'_> {
    pub(in super::super) fn admitted(
        &mut self,
        incoming: &Incoming,
        admission: &Admission,
        now: Timestamp,
    ) -> Check {
        self.check_verdict(incoming, admission, now)?;
        for (before, holder) in &admission.changed {
            let was = self.jobs.get(&holder.id).map(Job::state);
            prop_assert_eq!(was, Some(*before), "the former state of {}", holder.id);
            self.note_holder(&admission.verdict, *before, holder);
            self.draw(holder)?;
        }
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
            _ => {}
        }
    }

    /// The verdict, held against every stored job with that key.
    fn check_verdict(&self, incoming: &Incoming, admission: &Admission, now: Timestamp) -> Check {
        let Some(policy) = &incoming.spec.unique else {
            prop_assert_eq!(&admission.verdict, &Verdict::Created, "a job without a policy");
            return Ok(());
        };
        let covered = self.covered(incoming, policy, now);
        let alive: Vec<JobId> =
            covered.iter().filter(|job| !job.state().is_terminal()).map(|job| job.id).collect();
        match &admission.verdict {
            Verdict::Created => {
                prop_assert!(alive.is_empty(), "created beside {alive:?}");
                self.note_if(!covered.is_empty(), Sight::CreatedBesideHolder);
            }
            Verdict::Replaced(ids) => {
                prop_assert_eq!(ids, &alive, "all that wait or run, newest first");
                self.note(Sight::Replaced);
                self.note_if(ids.len() > 1, Sight::ReplacedSeveral);
            }
            Verdict::Existing | Verdict::Updated(_) | Verdict::Rejected => {
                let shown = admission.job.id;
                prop_assert!(covered.iter().any(|job| job.id == shown), "{shown} is no holder");
                let before = self.jobs.get(&shown).map_or(0, |job| job.ledger.count());
                prop_assert_eq!(admission.job.ledger.count(), before + 1, "the ledger of {}", shown);
            }
        }
        Ok(())
    }

    /// The holders that make the job a duplicate, newest first.
    fn covered(&self, incoming: &Incoming, policy: &UniquePolicy, now: Timestamp) -> Vec<&Job> {
        let holds = |job: &&Job| job.key == incoming.key && policy.covers(Holder::from(*job), now);
        let mut covered: Vec<&Job> = self.jobs.values().filter(holds).collect();
        covered.sort_by_key(|job| std::cmp::Reverse((job.created_at, job.id)));
        covered
    }

    fn note_holder(&self, verdict: &Verdict, before: State, holder: &Job) {
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
