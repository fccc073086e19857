//! Reads about keys.

use std::cmp::Reverse;

use hapax_core::unique::Holder;
use hapax_core::{Job, StateSet};

use super::contents::{Contents, Seq};
use crate::{HELD_SCAN_MAX, HeldPage, HeldQuery, HolderQuery, Holders};

impl Contents {
    pub(crate) fn look_up(&self, query: &HolderQuery) -> Holders {
        let mut all = self.holders(&query.key);
        all.sort_by_key(|job| Reverse((job.created_at, job.id)));
        let (ended, live): (Vec<Job>, Vec<Job>) = all.into_iter().partition(|job| job.state().is_terminal());
        let covers =
            |job: &Job| query.covered_by.is_some_and(|(watch, now)| watch.covers(Holder::from(job), now));
        let newest_ended = ended.iter().find(|job| covers(job)).map(|job| job.id);
        let every_live = query.covered_by.is_some_and(|(watch, _)| watch.every_live);
        let mut met = StateSet::NONE;
        let mut matters = |job: &Job| {
            let is_first = !met.contains(job.state());
            let matters = covers(job) && (every_live || is_first);
            met = if matters { met.with(job.state()) } else { met };
            matters
        };
        let (live_count, ended_count) = (live.len() as u64, ended.len() as u64);
        let live = live.into_iter().enumerate().filter(|(at, job)| matters(job) || *at < query.limit);
        let ended = ended
            .into_iter()
            .enumerate()
            .filter(|(at, job)| *at < query.limit || Some(job.id) == newest_ended);
        let mut jobs: Vec<Job> = live.chain(ended).map(|(_, job)| job).collect();
        jobs.sort_by_key(|job| Reverse((job.created_at, job.id)));
        Holders { jobs, live: live_count, ended: ended_count }
    }

    pub(super) fn held_keys(&self, query: &HeldQuery) -> HeldPage {
        let first = query.after.map_or(Seq::MIN, |after| after.saturating_add(1));
        let mut rest = self.held_from(first);
        let mut page = HeldPage::default();
        let mut last = query.after;
        for (seq, job) in rest.by_ref().take(HELD_SCAN_MAX) {
            if page.jobs.len() == query.limit {
                page.next = last;
                return page;
            }
            last = Some(seq);
            page.jobs.extend(query.fits(job).then(|| without_texts(job)));
        }
        page.next = rest.next().and(last);
        page
    }
}

fn without_texts(job: &Job) -> Job {
    let mut job = job.clone();
    job.forget_texts();
    job
}
