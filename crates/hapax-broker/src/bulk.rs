//! Having something done about many jobs, each for itself.

use std::sync::Arc;

use hapax_core::{Event, JobFilter, JobId, SpecPatch};
use hapax_store::{Action, StoreError};

use crate::{Broker, BulkFact, Error};

/// How many jobs are changed in one go: the store commits them together, and others get their turn in between.
const ROUND: usize = 100;

/// What is done about each of the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// It is called off.
    Cancel,
    /// It is tried again.
    Retry,
    /// What is left of it is removed.
    Delete,
    /// It is tried again if it is a dead letter.
    Revive,
    /// It is thrown away if it is a dead letter.
    Forget,
}

impl Deed {
    fn event(self) -> Event {
        match self {
            Deed::Cancel => Event::Cancel,
            Deed::Retry => Event::Retry,
            Deed::Delete => Event::Delete,
            Deed::Revive => Event::Revive { patch: SpecPatch::default() },
            Deed::Forget => Event::Forget,
        }
    }
}

/// What became of one of many jobs.
#[derive(Debug, Clone)]
pub struct Treated {
    /// The job.
    pub id: JobId,
    /// Why nothing was done about it, if nothing was; or that nobody knows.
    pub outcome: Result<(), Error>,
}

impl Broker {
    /// Has something done about each of these jobs, in this order: about those that are still what was meant, if a filter says
    /// what that is. Nothing is undone: when the store fails, those before it are done and those after it are not tried.
    pub async fn treat(&self, ids: Vec<JobId>, filter: Option<&JobFilter>, deed: Deed) -> Vec<Treated> {
        let treated = self.treat_in_rounds(ids, filter, deed).await;
        let done = treated.iter().filter(|treated| treated.outcome.is_ok()).count();
        self.tell_bulk(BulkFact { wish: deed.into(), total: treated.len(), done });
        treated
    }

    /// A request about many jobs was seen through.
    pub fn tell_bulk(&self, fact: BulkFact) {
        self.announce(vec![fact.at(self.now())]);
    }

    async fn treat_in_rounds(&self, ids: Vec<JobId>, filter: Option<&JobFilter>, deed: Deed) -> Vec<Treated> {
        let filter = filter.cloned().map(Arc::new);
        let event = || match &filter {
            Some(filter) => Event::OnlyIf { filter: Arc::clone(filter), event: Box::new(deed.event()) },
            None => deed.event(),
        };
        let mut treated: Vec<Treated> = Vec::with_capacity(ids.len());
        let mut trouble: Option<Error> = None;
        for round in ids.chunks(ROUND) {
            if let Some(error) = &trouble {
                treated.extend(spared(round, error));
                continue;
            }
            let actions = round.iter().map(|id| Action::Step { id: *id, event: event() }).collect();
            match self.commit(self.now(), actions).await {
                Ok(answers) => {
                    let outcomes = answers.into_iter().map(|answer| answer.map(drop).map_err(Error::from));
                    treated
                        .extend(round.iter().zip(outcomes).map(|(id, outcome)| Treated { id: *id, outcome }));
                }
                Err(error) => {
                    treated.extend(spared(round, &error));
                    trouble = Some(untried(error));
                }
            }
        }
        treated
    }
}

fn spared(round: &[JobId], error: &Error) -> impl Iterator<Item = Treated> {
    round.iter().map(|id| Treated { id: *id, outcome: Err(error.clone()) })
}

/// What is not known of one round is known of those that were not tried: nothing was done.
fn untried(error: Error) -> Error {
    match error {
        Error::Store(StoreError::Unknown(source)) => Error::Store(StoreError::Failed(source)),
        error => error,
    }
}

#[cfg(test)]
mod tests;
