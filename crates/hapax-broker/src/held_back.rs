//! Jobs for which a rate limit left no room, until they start: so that each is told of once.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use hapax_core::limit::{LimitKey, Strategy};
use hapax_core::{JobId, State, Timestamp};
use hapax_store::HeldBack;

use crate::events::{JobFact, News, Unnumbered};

/// How many are remembered. Of one that is forgotten it is not told when it starts.
const REMEMBERED_MAX: usize = 10_000;

/// See above. A std mutex: it is held for a few look-ups and never across an await.
#[derive(Debug, Default)]
pub(crate) struct HeldBacks {
    /// Whether anything is known. Most servers have no limits, and their requests take no lock to see that.
    is_any: AtomicBool,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_job: HashMap<JobId, Place>,
    /// Oldest first. One that started has left its place here; held back again, it has another.
    order: VecDeque<(JobId, u64)>,
    last_number: u64,
}

#[derive(Debug)]
struct Place {
    number: u64,
    key: LimitKey,
    strategy: Strategy,
}

impl HeldBacks {
    /// Adds what is to be told of those that were held back, and of those that started after all.
    pub(crate) fn tell(&self, held: Vec<HeldBack>, at: Timestamp, events: &mut Vec<Unnumbered>) {
        if held.is_empty() && !self.is_any.load(Ordering::Acquire) {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut more = Vec::new();
        for event in &*events {
            if let News::Job { id, fact: JobFact::Started { .. }, .. } = &event.news
                && let Some(Place { number: _, key, strategy }) = known.by_job.remove(id)
            {
                more.push(event.with_fact(JobFact::RateReleased { key, strategy }));
            }
        }
        for HeldBack { job, kind, queue, key, closed } in held {
            if known.by_job.contains_key(&job) {
                continue;
            }
            known.remember(job, key.clone(), closed.strategy);
            let fact = JobFact::RateExceeded { key, closed };
            let state = State::Available;
            let news = News::Job { id: job, job_type: kind, state, step: None, fact };
            more.push(Unnumbered { at, queue: Some(queue), news, traced: None });
        }
        self.is_any.store(!known.by_job.is_empty(), Ordering::Release);
        events.append(&mut more);
    }
}

impl Known {
    fn remember(&mut self, job: JobId, key: LimitKey, strategy: Strategy) {
        while self.order.len() >= REMEMBERED_MAX
            && let Some((oldest, left)) = self.order.pop_front()
        {
            if self.by_job.get(&oldest).is_some_and(|place| place.number == left) {
                self.by_job.remove(&oldest);
            }
        }
        self.last_number += 1;
        let number = self.last_number;
        self.order.push_back((job, number));
        self.by_job.insert(job, Place { number, key, strategy });
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::limit::Closed;
    use hapax_core::{JobType, QueueName};

    use super::*;
    use crate::testing::at;

    fn job(number: usize) -> JobId {
        let mut bits = [0; 10];
        bits[2..].copy_from_slice(&number.to_be_bytes());
        JobId::new(at(0), bits)
    }

    fn held(job: JobId) -> HeldBack {
        HeldBack {
            job,
            kind: JobType::parse("email.send").unwrap(),
            queue: QueueName::default_queue(),
            key: LimitKey::parse("mail").unwrap(),
            closed: Closed { strategy: Strategy::Concurrency, limit: 1, current: 1, until: None },
        }
    }

    /// What is told of jobs that are held back, beside what is told of one that starts.
    fn told(known: &HeldBacks, held: Vec<HeldBack>, started: Option<JobId>) -> Vec<&'static str> {
        let started = started.map(|id| {
            let fact = JobFact::Started { worker: None, attempt: 1, waited: std::time::Duration::ZERO };
            let job_type = JobType::parse("email.send").unwrap();
            let news = News::Job { id, job_type, state: State::Active, step: None, fact };
            Unnumbered { at: at(0), queue: Some(QueueName::default_queue()), news, traced: None }
        });
        let mut events: Vec<_> = started.into_iter().collect();
        let before = events.len();
        known.tell(held, at(0), &mut events);
        events[before..].iter().map(|event| event.news.kind().name()).collect()
    }

    #[test]
    fn one_that_was_held_back_again_is_remembered_by_its_newer_place() {
        let known = HeldBacks::default();
        let again = job(0);
        assert_eq!(told(&known, vec![held(again)], None), ["rate_limit.exceeded"]);
        assert_eq!(told(&known, Vec::new(), Some(again)), ["rate_limit.released"]);
        assert_eq!(told(&known, vec![held(again)], None), ["rate_limit.exceeded"]);
        // So many that its first place is needed for another.
        let others = (1..REMEMBERED_MAX).map(|number| held(job(number))).collect();
        assert_eq!(told(&known, others, None).len(), REMEMBERED_MAX - 1);
        assert!(told(&known, vec![held(again)], None).is_empty(), "it was told of already");
        assert_eq!(told(&known, Vec::new(), Some(again)), ["rate_limit.released"]);
    }

    #[test]
    fn the_oldest_is_forgotten_when_there_are_too_many() {
        let known = HeldBacks::default();
        told(&known, (0..=REMEMBERED_MAX).map(|number| held(job(number))).collect(), None);
        assert!(told(&known, Vec::new(), Some(job(0))).is_empty());
        assert_eq!(told(&known, Vec::new(), Some(job(1))), ["rate_limit.released"]);
    }
}
