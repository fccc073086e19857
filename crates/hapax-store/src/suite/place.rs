//! The places that the rules of job keys tell apart: where a job stands that waits or was given up, and how it got
//! there.

use hapax_core::{Directive, Handback, JobId, State};

use super::bench::{Bench, HOUR, SECOND};
use super::draft::Draft;

/// Where a job stands that no worker holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Waits for its start, an hour from now.
    Scheduled,
    /// Waits for its first delivery.
    Available,
    /// Waits for its activation.
    Pending,
    /// Waits for its second attempt.
    Retryable,
    /// Waits for a worker after its first lease ran out.
    Lapsed,
    /// Waits for a worker after it failed once and was handed back once.
    HandedBack,
    /// Given up after an attempt.
    GivenUp,
    /// Given up without one: nobody started it in time.
    Expired,
}

impl Place {
    /// Waits and was never tried.
    pub(super) const UNTRIED: [Place; 3] = [Place::Scheduled, Place::Available, Place::Pending];

    /// Was tried or given up.
    pub(super) const FAILED: [Place; 5] =
        [Place::Retryable, Place::Lapsed, Place::HandedBack, Place::GivenUp, Place::Expired];

    pub(super) fn all() -> impl Iterator<Item = Place> {
        Place::UNTRIED.into_iter().chain(Place::FAILED)
    }

    pub(super) fn state(self) -> State {
        match self {
            Place::Scheduled => State::Scheduled,
            Place::Available | Place::Lapsed | Place::HandedBack => State::Available,
            Place::Pending => State::Pending,
            Place::Retryable => State::Retryable,
            Place::GivenUp | Place::Expired => State::Discarded,
        }
    }
}

impl Bench {
    /// Brings a new job to the place. Nothing else may wait in its queue, which is the default one.
    #[track_caller]
    pub(super) fn create_at(&mut self, place: Place, draft: Draft) -> JobId {
        let id = match place {
            Place::Expired => self.create(draft.expires_at(self.now + SECOND)),
            Place::Lapsed | Place::HandedBack => self.create_in(State::Active, draft),
            _ => self.create_in(place.state(), draft),
        };
        match place {
            Place::Expired => self.pass_and_advance(SECOND),
            Place::Lapsed => self.pass_and_advance(HOUR),
            Place::HandedBack => {
                let first = self.job(id);
                self.fail(&first).unwrap();
                self.pass_and_advance(SECOND);
                let second = self.fetch_one();
                self.fail_with(&second, Directive::Policy, Handback::Requeue).unwrap();
            }
            _ => {}
        }
        assert_eq!(self.state(id), place.state(), "{place:?}");
        id
    }
}
