//! Enqueue: a job on its way in, a batch of them, or many of which each stands for itself.

use std::sync::Arc;

use hapax_core::unique::Key;
use hapax_core::{Admission, Incoming, JobId, Refusal, Spec, Timestamp};
use hapax_store::{Action, Memo, Remembered};

use crate::conflict::{Rule, rule};
use crate::{Broker, Error, answer};

/// Most jobs of one request. Whoever takes requests checks it, with an answer for the client.
pub const BATCH_MAX: usize = 10_000;

/// A job as a request described it, checked in form.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The id that the client chose; one is made if it chose none.
    pub id: Option<JobId>,
    /// What the client asks for.
    pub spec: Spec,
    /// Its key, if it has a policy or a job key.
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
        let rule = rule(&draft);
        let incoming = Box::new(self.incoming(draft, Some(request_id), now));
        let done = self.commit_one(now, Action::Enqueue { incoming, memo }).await;
        let receipt = done.and_then(answer::enqueued);
        match &receipt {
            Ok(Receipt::Fresh(admission)) => self.count(Ok(admission), rule),
            Err(Error::Refused(refusal)) => self.count(Err(refusal), rule),
            Ok(Receipt::Remembered(_)) | Err(Error::Store(_)) => {}
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
        let now = self.now();
        let (rules, incoming) = self.all_incoming(drafts, request_id, now);
        let done = self.commit_one(now, Action::EnqueueAll { incoming, memo }).await;
        let receipt = done.and_then(answer::enqueued_all);
        match &receipt {
            Ok(Receipt::Fresh(admissions)) => {
                admissions.iter().zip(rules).for_each(|(admission, rule)| self.count(Ok(admission), rule));
            }
            Err(Error::Refused(Refusal::InBatch { index, refusal })) => {
                self.count(Err(refusal), rules.get(*index).copied().flatten());
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
        if drafts.is_empty() && memo.is_none() {
            return Ok(Receipt::Fresh(Vec::new()));
        }
        let now = self.now();
        let (rules, incoming) = self.all_incoming(drafts, request_id, now);
        let done = self.commit_one(now, Action::EnqueueEach { incoming, memo }).await?;
        let receipt = answer::enqueued_each(done)?;
        if let Receipt::Fresh(answers) = &receipt {
            answers.iter().zip(rules).for_each(|(answer, rule)| self.count(answer.as_ref(), rule));
        }
        Ok(receipt)
    }

    fn all_incoming(
        &self,
        drafts: Vec<Draft>,
        request_id: &str,
        now: Timestamp,
    ) -> (Vec<Rule>, Vec<Incoming>) {
        let incoming = |draft| (rule(&draft), self.incoming(draft, Some(request_id), now));
        drafts.into_iter().map(incoming).unzip()
    }

    pub(crate) fn incoming(&self, draft: Draft, request_id: Option<&str>, now: Timestamp) -> Incoming {
        let Draft { id, spec, key, pending } = draft;
        let id = id.unwrap_or_else(|| self.shared.entropy.job_id(now));
        Incoming { id, spec, key, pending, request_id: request_id.map(Arc::from) }
    }
}

#[cfg(test)]
mod tests;
