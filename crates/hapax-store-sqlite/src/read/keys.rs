//! Reads about keys: the index says which rows, the rows prove it.

use std::cmp::Reverse;

use hapax_core::Job;
use hapax_core::unique::Holder;
use hapax_store::{HeldPage, HeldQuery, HolderQuery, Holders};

use super::View;
use crate::Fault;
use crate::index::{HeldPart, Wanted};

/// How many bytes of arguments and metadata one look at the held keys reads before it ends early: others want to read too.
const SCANNED_BYTES_MAX: usize = 64 << 20;

/// The holders of a key.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) holders: Holders,
    /// Whether each of them still was where the index had said.
    pub(crate) is_of_one_moment: bool,
}

impl View<'_> {
    pub(crate) fn holders(&mut self, query: &HolderQuery, wanted: &Wanted) -> Result<Found, Fault> {
        let Wanted { holders, live, ended } = wanted;
        let (mut jobs, mut is_of_one_moment) = (Vec::with_capacity(holders.len()), true);
        self.at_one_moment(|loader| {
            for (seq, state) in holders {
                let job = loader.load(*seq)?.map(|stored| stored.job);
                let job = job.filter(|job| job.key == Some(query.key));
                is_of_one_moment &= job.as_ref().is_some_and(|job| job.state() == *state);
                jobs.extend(job);
            }
            Ok(())
        })?;
        let holders = Holders { jobs: asked_for(jobs, query), live: *live, ended: *ended };
        Ok(Found { holders, is_of_one_moment })
    }

    pub(crate) fn held_keys(&mut self, query: &HeldQuery, part: &HeldPart) -> Result<HeldPage, Fault> {
        let HeldPart { seqs, has_more } = part;
        let mut page = HeldPage::default();
        let (mut last, mut bytes) = (query.after, 0);
        self.at_one_moment(|loader| {
            for seq in seqs {
                if page.jobs.len() == query.limit || bytes > SCANNED_BYTES_MAX {
                    page.next = last;
                    return Ok(());
                }
                last = Some(seq.unsigned_abs());
                let job = loader.load(*seq)?.map(|stored| stored.job);
                bytes +=
                    job.as_ref().map_or(0, |job| job.spec.args.as_str().len() + job.spec.meta.as_str().len());
                // It may have ended or lost its key since.
                let job = job.filter(Job::holds_key);
                if let Some(mut job) = job.filter(|job| query.fits(job)) {
                    job.forget_texts();
                    page.jobs.push(job);
                }
            }
            page.next = last.filter(|_| *has_more);
            Ok(())
        })?;
        Ok(page)
    }
}

/// The newest live and ended ones up to the limit, and those that the query says are covered: of the ended ones, the
/// newest.
fn asked_for(mut jobs: Vec<Job>, query: &HolderQuery) -> Vec<Job> {
    jobs.sort_by_key(|job| Reverse((job.created_at, job.id)));
    let (mut live, mut ended) = (0, 0);
    let mut has_covered = false;
    jobs.retain(|job| {
        let is_covered = query.covered_by.is_some_and(|(watch, now)| watch.covers(Holder::from(job), now));
        if job.state().is_terminal() {
            ended += 1;
            let is_newest = is_covered && !has_covered;
            has_covered |= is_covered;
            ended <= query.limit || is_newest
        } else {
            live += 1;
            live <= query.limit || is_covered
        }
    });
    jobs
}
