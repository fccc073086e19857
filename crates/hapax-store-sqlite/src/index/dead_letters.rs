//! The dead-letter list: all of it, and by queue.

use std::collections::{BTreeMap, BTreeSet};

use hapax_core::{JobId, QueueName, Timestamp};
use hapax_store::DeadLetterQuery;

use super::Facts;
use crate::row::Seq;

/// Dead letters by age.
#[derive(Debug, Default, PartialEq)]
pub(super) struct DeadLetters {
    all: Letters,
    by_queue: BTreeMap<QueueName, Letters>,
}

type Letters = BTreeSet<(Timestamp, JobId, Seq)>;

/// A part of the list.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) seqs: Vec<Seq>,
    pub(crate) total: u64,
    pub(crate) has_more: bool,
}

impl DeadLetters {
    pub(super) fn insert(&mut self, facts: &Facts<'_>) {
        let Some(since) = facts.dead_since else { return };
        let letter = (since, facts.id, facts.seq);
        self.all.insert(letter);
        self.by_queue.entry(facts.queue.clone()).or_default().insert(letter);
    }

    pub(super) fn remove(&mut self, facts: &Facts<'_>) {
        let Some(since) = facts.dead_since else { return };
        let letter = (since, facts.id, facts.seq);
        self.all.remove(&letter);
        if let Some(letters) = self.by_queue.get_mut(facts.queue) {
            letters.remove(&letter);
            if letters.is_empty() {
                self.by_queue.remove(facts.queue);
            }
        }
    }

    pub(super) fn list(&self, query: &DeadLetterQuery) -> Listed {
        let DeadLetterQuery { queue, after, offset, limit } = query;
        let none = Letters::new();
        let letters = match queue {
            Some(queue) => self.by_queue.get(queue).unwrap_or(&none),
            None => &self.all,
        };
        let older = match after {
            Some((since, id)) => letters.range(..(*since, *id, Seq::MIN)),
            None => letters.range(..),
        };
        let mut rest = older.rev().skip(*offset).map(|(_, _, seq)| *seq);
        let seqs = rest.by_ref().take(*limit).collect();
        Listed { seqs, total: letters.len() as u64, has_more: rest.next().is_some() }
    }
}
