//! Going through the dead letters: those that fit a filter, and what they are together.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hapax_core::{Job, JobFilter, JobId, QueueName, Timestamp};
use hapax_store::{DeadLetterQuery, bytes_of};

use crate::{BULK_MAX, Broker, Error, Selection};

/// Most dead letters that one request looks at.
pub const LETTERS_LOOKED_AT_MAX: usize = 10_000;
/// How many are read at once, whole as they are.
const LETTERS_PER_LOOK: usize = 100;
/// How many bytes of letters one list has before it ends, give or take a letter.
pub const LETTERS_KEPT_BYTES: usize = 32 << 20;
/// Most types of errors that are told apart; the others are counted together.
const ERROR_TYPES_MAX: usize = 100;

/// A place in the list of dead letters: when it died, and its id.
pub type LetterPlace = (Timestamp, JobId);

/// Dead letters that fit a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct Letters {
    /// The letters, newest first.
    pub jobs: Vec<Job>,
    /// Behind which place others may follow.
    pub next: Option<LetterPlace>,
    /// How many the whole list has, or that of the queue which the filter names.
    pub total: u64,
}

/// What dead letters are together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LetterStats {
    /// How many there are.
    pub total: u64,
    /// How many of them were looked at, the newest: all, unless there are more than [`LETTERS_LOOKED_AT_MAX`].
    pub looked_at: u64,
    /// Those by queue.
    pub by_queue: BTreeMap<QueueName, u64>,
    /// Those by the type of their newest error; nothing for letters without one, or of further types.
    pub by_error_type: BTreeMap<Option<Box<str>>, u64>,
    /// When the newest died.
    pub newest_at: Option<Timestamp>,
    /// When the oldest died, if all were looked at.
    pub oldest_at: Option<Timestamp>,
}

/// Where going through the list ended.
struct End {
    /// Behind which place others follow, if they do.
    next: Option<LetterPlace>,
    total: u64,
}

impl Broker {
    /// Dead letters that fit, newest first, behind a place; without the first few of them. There may be fewer than asked
    /// for, and others follow: [`LETTERS_KEPT_BYTES`] ends the list early.
    pub async fn letters(
        &self,
        filter: &JobFilter,
        after: Option<LetterPlace>,
        skipped: usize,
        limit: usize,
    ) -> Result<Letters, Error> {
        let (mut jobs, mut met, mut bytes) = (Vec::new(), 0, 0);
        let visit = |job: Job| {
            if filter.fits(&job) {
                met += 1;
                if met > skipped {
                    bytes += bytes_of(&job);
                    jobs.push(job);
                }
            }
            enough(jobs.len() >= limit || bytes >= LETTERS_KEPT_BYTES)
        };
        let End { next, total } = self.go_through_letters(filter.queue.as_ref(), after, visit).await?;
        Ok(Letters { jobs, next, total })
    }

    /// Which dead letters fit, of the newest behind a place; in the order in which they died, up to [`BULK_MAX`].
    pub async fn select_letters(
        &self,
        filter: &JobFilter,
        after: Option<LetterPlace>,
    ) -> Result<Selection<LetterPlace>, Error> {
        let mut ids = Vec::new();
        let visit = |job: Job| {
            ids.extend(filter.fits(&job).then_some(job.id));
            enough(ids.len() >= BULK_MAX)
        };
        let End { next, .. } = self.go_through_letters(filter.queue.as_ref(), after, visit).await?;
        ids.reverse();
        Ok(Selection { ids, next })
    }

    /// What dead letters are together.
    pub async fn letter_stats(&self) -> Result<LetterStats, Error> {
        let mut stats = LetterStats::default();
        let visit = |job: Job| {
            stats.count(&job);
            ControlFlow::Continue(())
        };
        let End { next, total } = self.go_through_letters(None, None, visit).await?;
        stats.total = total;
        stats.oldest_at = stats.oldest_at.filter(|_| next.is_none());
        Ok(stats)
    }

    async fn go_through_letters(
        &self,
        queue: Option<&QueueName>,
        mut after: Option<LetterPlace>,
        mut visit: impl FnMut(Job) -> ControlFlow<()>,
    ) -> Result<End, Error> {
        let mut total = 0;
        for _ in 0..LETTERS_LOOKED_AT_MAX / LETTERS_PER_LOOK {
            let query = DeadLetterQuery { queue: queue.cloned(), after, offset: 0, limit: LETTERS_PER_LOOK };
            let page = self.dead_letters(query).await?;
            total = page.total;
            let mut jobs = page.items.into_iter();
            while let Some(job) = jobs.next() {
                after = place(&job).or(after);
                if visit(job).is_break() {
                    let has_more = page.has_more || jobs.len() > 0;
                    return Ok(End { next: after.filter(|_| has_more), total });
                }
            }
            if !page.has_more {
                return Ok(End { next: None, total });
            }
        }
        Ok(End { next: after, total })
    }
}

fn enough(is_enough: bool) -> ControlFlow<()> {
    if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Where a letter stands in its list.
fn place(job: &Job) -> Option<LetterPlace> {
    job.phase.finished_at().map(|at| (at, job.id))
}

impl LetterStats {
    fn count(&mut self, job: &Job) {
        self.looked_at += 1;
        *self.by_queue.entry(job.spec.queue.clone()).or_default() += 1;
        let kind = job.history.entries().last().map(|failure| failure.kind.clone());
        let has_room = self.by_error_type.len() < ERROR_TYPES_MAX || self.by_error_type.contains_key(&kind);
        *self.by_error_type.entry(kind.filter(|_| has_room)).or_default() += 1;
        let died = job.phase.finished_at();
        self.newest_at = self.newest_at.or(died);
        self.oldest_at = died;
    }
}

#[cfg(test)]
mod tests;
