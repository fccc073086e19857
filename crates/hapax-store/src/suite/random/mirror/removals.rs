//! Queues that are taken away.

use hapax_core::{Job, QueueName, Refusal};
use proptest::{prop_assert, prop_assert_eq};

use super::super::sightings::Sight;
use super::{Check, Mirror};

impl Mirror<'_> {
    /// Nothing lived in it. What has ended there keeps it, without its pause.
    pub(in super::super) fn queue_removed(&mut self, name: &QueueName) -> Check {
        prop_assert_eq!(self.living_in(name), 0, "the jobs that live in {}", name);
        self.paused.remove(name);
        let is_kept = self.jobs.values().any(|job| job.spec.queue == *name);
        self.note_if(is_kept, Sight::QueueKeptForWhatEnded);
        if !is_kept && self.queues.remove(name).is_some() {
            self.note(Sight::QueueRemoved);
        }
        Ok(())
    }

    /// It is only refused because of jobs that live there.
    pub(in super::super) fn queue_not_removed(&self, name: &QueueName, refusal: &Refusal) -> Check {
        let jobs = self.living_in(name);
        prop_assert_eq!(refusal, &Refusal::QueueInUse { queue: name.clone(), jobs });
        prop_assert!(jobs > 0, "nothing lives in {name}");
        self.note(Sight::QueueInUse);
        Ok(())
    }

    fn living_in(&self, name: &QueueName) -> u64 {
        let lives = |job: &&Job| job.spec.queue == *name && !job.state().is_terminal();
        self.jobs.values().filter(lives).count() as u64
    }
}
