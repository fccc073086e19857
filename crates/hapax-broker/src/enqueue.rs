//! Enqueue: a job on its way in, a batch of them, or many of which each stands for itself.

use std::sync::Arc;

use hapax_core::unique::Key;
use hapax_core::{Admission, Incoming, JobId, Refusal, Spec, Timestamp, Unsaid};
use hapax_store::{Action, Memo, Remembered};

use crate::turned_away::bounded_kinds;
use crate::{Broker, Error, answer};

/// Most jobs of one request. Whoever takes requests checks it, with an answer for the client.
pub const BATCH_MAX: usize = 10_000;

/// A job as a request described it, checked in form.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The id that the client chose; one is made if it chose none.
    pub id: Option<JobId>,
    /// What the client asks for.
    pub spec: Box<Spec>,
    /// Its key, if it has a policy or a job key.
    pub key: Option<Key>,
    /// Whether it waits for activation.
    pub pending: bool,
    /// What the client left open.
    pub unsaid: Unsaid,
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
        let kind = draft.spec.kind.clone();
        let receipt = self.try_enqueue(draft, request_id, memo).await;
        if let Err(Error::Refused(refusal)) = &receipt {
            self.tell_turned_away([(&kind, refusal)]);
        }
        receipt
    }

    /// The same, untold if there was no room: its client may try again.
    pub(crate) async fn try_enqueue(
        &self,
        draft: Draft,
        request_id: &str,
        memo: Option<Memo>,
    ) -> Result<Receipt<Admission>, Error> {
        self.admit_new_jobs()?;
        let now = self.now();
        let incoming = Box::new(self.incoming(draft, Some(request_id.into()), now));
        let done = self.commit_one(now, Action::Enqueue { incoming, memo }).await;
        let receipt = done.and_then(answer::enqueued);
        match &receipt {
            Ok(Receipt::Fresh(admission)) => self.count(Ok(admission)),
            Err(Error::Refused(refusal)) => self.count(Err(refusal)),
            Ok(Receipt::Remembered(_)) | Err(Error::Store(_) | Error::Busy | Error::Maintenance { .. }) => {}
        }
        match receipt {
            Ok(Receipt::Fresh(admission)) => match admission.refusal() {
                Some(refusal) => Err(refusal.into()),
                None => Ok(Receipt::Fresh(admission)),
            },
            other => other,
        }
    }

    /// Admits all of these jobs or none; each sees the ones before it.
    pub async fn enqueue_all(
        &self,
        drafts: Vec<Draft>,
        request_id: &str,
        memo: Option<Memo>,
    ) -> Result<Receipt<Vec<Admission>>, Error> {
        self.admit_new_jobs()?;
        let now = self.now();
        let incoming = self.all_incoming(drafts, request_id, now);
        let kinds = bounded_kinds(&incoming);
        let done = self.commit_one(now, Action::EnqueueAll { incoming, memo }).await;
        let receipt = done.and_then(answer::enqueued_all);
        match &receipt {
            Ok(Receipt::Fresh(admissions)) => {
                for admission in admissions {
                    self.count(Ok(admission));
                }
            }
            Err(Error::Refused(Refusal::InBatch { index, refusal })) => {
                self.count(Err(refusal));
                self.tell_turned_away(kinds.get(*index).into_iter().flatten().map(|kind| (kind, &**refusal)));
            }
            Ok(Receipt::Remembered(_)) | Err(_) => {}
        }
        receipt
    }

    /// Admits each of these jobs that can be admitted, in one commit; each sees the ones before it. A duplicate that
    /// its policy wants rejected is among the admissions, with its verdict.
    pub async fn enqueue_each(
        &self,
        drafts: Vec<Draft>,
        request_id: &str,
        memo: Option<Memo>,
    ) -> Result<Receipt<Vec<Result<Admission, Refusal>>>, Error> {
        self.admit_new_jobs()?;
        if drafts.is_empty() && memo.is_none() {
            return Ok(Receipt::Fresh(Vec::new()));
        }
        let now = self.now();
        let incoming = self.all_incoming(drafts, request_id, now);
        let kinds = bounded_kinds(&incoming);
        let done = self.commit_one(now, Action::EnqueueEach { incoming, memo }).await?;
        let receipt = answer::enqueued_each(done)?;
        if let Receipt::Fresh(answers) = &receipt {
            for answer in answers {
                self.count(answer.as_ref());
            }
            let refused = kinds.iter().zip(answers);
            self.tell_turned_away(
                refused.filter_map(|(kind, answer)| Some((kind.as_ref()?, answer.as_ref().err()?))),
            );
        }
        Ok(receipt)
    }

    fn all_incoming(&self, drafts: Vec<Draft>, request_id: &str, now: Timestamp) -> Vec<Incoming> {
        // One text for all of them: it will stand in many ledgers.
        let request_id: Arc<str> = request_id.into();
        drafts.into_iter().map(|draft| self.incoming(draft, Some(Arc::clone(&request_id)), now)).collect()
    }

    pub(crate) fn incoming(&self, draft: Draft, request_id: Option<Arc<str>>, now: Timestamp) -> Incoming {
        let Draft { id, mut spec, key, pending, unsaid } = draft;
        let id = id.unwrap_or_else(|| self.shared.entropy.job_id(now));
        let settings = self.shared.settings.of(&spec.queue);
        let mut barred = None;
        if let Some(settings) = &settings {
            settings.fill(&mut spec, unsaid);
            barred = settings.bars(&spec.queue, &spec.kind).map(Box::new);
        }
        let bound = settings.and_then(|settings| settings.bound());
        Incoming { id, spec, key, pending, after: None, bound, barred, request_id }
    }
}

#[cfg(test)]
mod tests;
