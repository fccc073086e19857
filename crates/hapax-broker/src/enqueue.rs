//! Enqueue: a job on its way in, or a batch of them.

use hapax_core::unique::Key;
use hapax_core::{Admission, Incoming, JobId, Refusal, Spec, Timestamp, Verdict};
use hapax_store::{Action, Memo, Remembered};

use crate::{Broker, Error, answer};

/// Most jobs of one batch. Whoever takes requests checks it, with an answer for the client.
pub const BATCH_MAX: usize = 10_000;

/// A job as a request described it, checked in form.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The id that the client chose; one is made if it chose none.
    pub id: Option<JobId>,
    /// What the client asks for.
    pub spec: Spec,
    /// Its key, if it has a policy.
    pub key: Option<Key>,
    /// Whether it waits for activation.
    pub pending: bool,
}

/// An answer, or the answer that an earlier request with the same idempotency key got.
#[derive(Debug, Clone, PartialEq)]
pub enum Receipt<T> {
    /// It was done now.
    Fresh(T),
    /// It was done before, and answered like this.
    Remembered(Remembered),
}

impl Broker {
    /// Admits a job. A duplicate that its policy wants rejected is refused.
    pub async fn enqueue(
        &self,
        draft: Draft,
        request_id: &str,
        memo: Option<Memo>,
    ) -> Result<Receipt<Admission>, Error> {
        let now = self.now();
        let strategy = strategy(&draft);
        let incoming = Box::new(self.incoming(draft, request_id, now));
        let done = self.commit_one(now, Action::Enqueue { incoming, memo }).await?;
        match answer::enqueued(done)? {
            Receipt::Fresh(admission) => {
                self.count_conflict(&admission.verdict, strategy);
                match admission.refusal() {
                    Some(refusal) => Err(refusal.into()),
                    None => Ok(Receipt::Fresh(admission)),
                }
            }
            remembered @ Receipt::Remembered(_) => Ok(remembered),
        }
    }

    /// Admits all of these jobs or none; each sees the ones before it.
    pub async fn enqueue_all(
        &self,
        drafts: Vec<Draft>,
        request_id: &str,
        memo: Option<Memo>,
    ) -> Result<Receipt<Vec<Admission>>, Error> {
        let now = self.now();
        let strategies: Vec<_> = drafts.iter().map(strategy).collect();
        let incoming = drafts.into_iter().map(|draft| self.incoming(draft, request_id, now)).collect();
        let done = self.commit_one(now, Action::EnqueueAll { incoming, memo }).await;
        let receipt = done.and_then(answer::enqueued_all);
        match &receipt {
            Ok(Receipt::Fresh(admissions)) => {
                for (admission, strategy) in admissions.iter().zip(strategies) {
                    self.count_conflict(&admission.verdict, strategy);
                }
            }
            Err(Error::Refused(Refusal::InBatch { index, refusal })) => {
                if let Refusal::Duplicate { .. } | Refusal::Twin { .. } = **refusal {
                    self.count_conflict(&Verdict::Rejected, strategies.get(*index).copied().flatten());
                }
            }
            Ok(Receipt::Remembered(_)) | Err(_) => {}
        }
        receipt
    }

    fn incoming(&self, draft: Draft, request_id: &str, now: Timestamp) -> Incoming {
        let Draft { id, spec, key, pending } = draft;
        let id = id.unwrap_or_else(|| self.shared.entropy.job_id(now));
        Incoming { id, spec, key, pending, request_id: Some(request_id.into()) }
    }

    fn count_conflict(&self, verdict: &Verdict, strategy: Option<&'static str>) {
        if let (false, Some(strategy)) = (*verdict == Verdict::Created, strategy) {
            self.shared.observer.conflict(strategy);
        }
    }
}

/// What decides if the job meets a holder.
fn strategy(draft: &Draft) -> Option<&'static str> {
    let policy = draft.spec.unique.as_ref()?;
    Some(if policy.replace.is_some() { "update" } else { policy.on_conflict.name() })
}

#[cfg(test)]
mod tests;
