//! Holders that took over what a duplicate says.

use hapax_core::unique::{Debounce, JobKey, JobKeyMode, UniquePolicy, Uniqueness};
use hapax_core::{Incoming, Job, Phase, State, Timestamp};
use proptest::{prop_assert, prop_assert_eq};

use super::super::sightings::Sight;
use super::{Check, Mirror, waits_for};

impl Mirror<'_> {
    /// What must hold after `before` took over the incoming job and became `after`.
    pub(super) fn check_update(
        &self,
        incoming: &Incoming,
        before: &Job,
        after: &Job,
        now: Timestamp,
    ) -> Check {
        prop_assert_eq!(after.fence, before.fence);
        prop_assert_eq!(waits_for(after), waits_for(before).filter(|_| after.state() == State::Pending));
        match &incoming.spec.unique {
            Some(Uniqueness::JobKey(job_key)) => {
                self.check_joined(incoming, before, after)?;
                self.check_renewed(job_key, incoming, before, after, now)
            }
            Some(Uniqueness::Policy(UniquePolicy { debounce: Some(debounce), .. })) => {
                self.check_joined(incoming, before, after)?;
                self.check_debounced(*debounce, before, after, now)
            }
            Some(Uniqueness::Policy(UniquePolicy { while_active: Some(_), .. }))
                if waits_for(before).is_some() =>
            {
                prop_assert_eq!(&*after.spec, &*incoming.spec, "the newest wins");
                prop_assert_eq!(&after.phase, &before.phase, "and waits like the one before");
                self.note(Sight::QueueUpdated);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn check_joined(&self, incoming: &Incoming, before: &Job, after: &Job) -> Check {
        let (old, new) = (before.spec.args.as_str(), incoming.spec.args.as_str());
        let both_are_arrays = old.starts_with("[[") && new.starts_with("[[");
        let expected =
            if both_are_arrays { format!("{},{}", &old[..old.len() - 2], &new[2..]) } else { new.to_owned() };
        prop_assert_eq!(after.spec.args.as_str(), expected, "the payload of {}", after.id);
        prop_assert_eq!((&after.spec.queue, &after.spec.kind), (&incoming.spec.queue, &incoming.spec.kind));
        let room = self.rules.joined_bytes_max.max(new.len());
        prop_assert!(after.spec.args.as_str().len() <= room, "the payload of {} is too large", after.id);
        self.note_if(both_are_arrays, Sight::PayloadJoined);
        Ok(())
    }

    fn check_renewed(
        &self,
        job_key: &JobKey,
        incoming: &Incoming,
        before: &Job,
        after: &Job,
        now: Timestamp,
    ) -> Check {
        prop_assert_eq!(after.attempt, 0);
        prop_assert_eq!(after.history.current(), None);
        prop_assert_eq!(after.history.entries(), before.history.entries());
        let has_failed = before.attempt > 0 || before.state() == State::Discarded;
        if job_key.mode == JobKeyMode::PreserveRunAt && !has_failed {
            prop_assert_eq!(&after.phase, &before.phase);
            prop_assert_eq!(&after.spec.scheduled_at, &before.spec.scheduled_at);
        } else {
            prop_assert_eq!(&after.spec.scheduled_at, &incoming.spec.scheduled_at);
            let starts_at = incoming.spec.scheduled_at.as_ref().map(|given| given.at).filter(|at| *at > now);
            let expected = match starts_at {
                _ if incoming.pending => Phase::Pending { after: None },
                Some(at) => Phase::Scheduled { at },
                None => Phase::Available { lapsed: None },
            };
            prop_assert_eq!(&after.phase, &expected);
        }
        self.note_if(before.state() == State::Discarded, Sight::JobKeyRevived);
        Ok(())
    }

    fn check_debounced(&self, debounce: Debounce, before: &Job, after: &Job, now: Timestamp) -> Check {
        let start = after.spec.scheduled_at.as_ref().map(|given| given.at);
        let Some(first) = after.first_start else {
            return Err(super::broken(format!("{} does not know its first start", after.id)));
        };
        prop_assert!(before.first_start.is_none_or(|known| known == first), "the first start moved");
        let wished = now + debounce.wait;
        let cap = debounce.max_wait.map(|max_wait| first + max_wait);
        prop_assert_eq!(start, Some(cap.map_or(wished, |cap| cap.min(wished))));
        match (&before.phase, start.filter(|at| *at > now)) {
            (Phase::Scheduled { .. } | Phase::Available { .. }, Some(at)) => {
                prop_assert_eq!(&after.phase, &Phase::Scheduled { at });
            }
            (Phase::Scheduled { .. }, None) => prop_assert_eq!(after.state(), State::Available),
            (Phase::Available { .. }, None) => {
                prop_assert_eq!(&after.phase, &Phase::Available { lapsed: None }, "nobody did the new work");
            }
            (Phase::Retryable { at }, _) => {
                let at = start.map_or(*at, |start| start.max(*at));
                prop_assert_eq!(&after.phase, &Phase::Retryable { at }, "it waits out its pause at least");
            }
            (phase, _) => prop_assert_eq!(&after.phase, phase, "it stays where it is"),
        }
        prop_assert_eq!((after.attempt, after.history.current()), (0, None), "the new work has not failed");
        self.note(Sight::Debounced);
        self.note_if(cap.is_some_and(|cap| cap < wished), Sight::DebounceCapped);
        Ok(())
    }
}
