//! Telling of jobs that a full queue turned away (Backpressure 10.1).

use hapax_core::{Incoming, JobType, Refusal};

use crate::Broker;
use crate::events::{News, Unnumbered};

/// The types of jobs on their way in that a full queue may turn away; nothing if it may turn away none of them.
pub(crate) fn bounded_kinds(incoming: &[Incoming]) -> Vec<Option<JobType>> {
    if incoming.iter().all(|incoming| incoming.bound.is_none()) {
        return Vec::new();
    }
    incoming.iter().map(|incoming| incoming.bound.map(|_| incoming.spec.kind.clone())).collect()
}

impl Broker {
    /// Tells of those of these jobs for which there was no room.
    pub(crate) fn tell_turned_away<'r>(&self, refused: impl IntoIterator<Item = (&'r JobType, &'r Refusal)>) {
        let at = self.now();
        let told = |(job_type, refusal): (&JobType, &Refusal)| match refusal {
            Refusal::QueueFull { queue, depth, max } => {
                let news = News::TurnedAway { job_type: job_type.clone(), depth: *depth, max: *max };
                Some(Unnumbered { at, queue: Some(queue.clone()), news, traced: None })
            }
            _ => None,
        };
        self.announce(refused.into_iter().filter_map(told).collect());
    }
}
