//! Reads about keys, compared with the reference store and with what the answers amount to.

use std::cmp::Reverse;

use hapax_core::unique::{Holder, JobKey, Watch};
use hapax_core::{Job, JobId, JobType, StateSet, Timestamp};
use proptest::{prop_assert, prop_assert_eq};

use super::super::draft::queue;
use super::super::wait;
use super::audit::PAGE;
use super::mirror::Check;
use super::player::Player;
use super::shape::queue_name;
use super::sightings::Sight;
use super::wish::{KeyName, Wish};
use crate::{HeldQuery, HolderQuery, Holders, Store};

/// More pages than any list has.
pub(super) const PAGES_MAX: usize = 10_000;

impl Player<'_> {
    /// Asks who carries a key, and who of them counts for the wish.
    pub(super) fn look(&self, key: KeyName, wish: Option<&Wish>, limit: usize) -> Check {
        let watch = |wish: &Wish| wish.draft().spec.unique.map(|uniqueness| uniqueness.watch());
        let covered_by = wish.and_then(watch).map(|watch| (watch, self.now));
        self.check_holders(&HolderQuery { key: key.key(), covered_by, limit })
    }

    pub(super) fn audit_keys(&self) -> Check {
        for name in KeyName::all() {
            let key = name.key();
            for limit in [1, PAGES_MAX] {
                self.check_holders(&HolderQuery { key, covered_by: None, limit })?;
            }
            self.check_holders(&HolderQuery { key, covered_by: Some((JobKey::WATCH, self.now)), limit: 0 })?;
            if let KeyName::Name(number) = name {
                let counts = |job: &&&Job| covers(Some((JobKey::WATCH, self.now)), job);
                let holders = self.carriers(&HolderQuery { key, covered_by: None, limit: 0 });
                let named = holders.iter().filter(counts).count();
                prop_assert!(named <= 1, "{} jobs have the name {}", named, number);
            }
        }
        Ok(())
    }

    /// All that carry the key, newest first.
    fn carriers(&self, query: &HolderQuery) -> Vec<&Job> {
        let mut all: Vec<&Job> = self.mirror.jobs.values().filter(|job| job.key == Some(query.key)).collect();
        all.sort_by_key(|job| Reverse((job.created_at, job.id)));
        all
    }

    fn check_holders(&self, query: &HolderQuery) -> Check {
        let found = wait(self.bench.store().holders(query.clone())).unwrap();
        prop_assert_eq!(&found, &wait(self.judge.holders(query.clone())).unwrap(), "{:?}", query);
        let all = self.carriers(query);
        let (mut live, mut ended) = (0, 0);
        let mut shown_ended_that_counts = false;
        let every_live = query.covered_by.is_some_and(|(watch, _)| watch.every_live);
        let mut shown_states = StateSet::NONE;
        let mut jobs = Vec::new();
        for job in all {
            let counts = covers(query.covered_by, job);
            let wanted = if job.state().is_terminal() {
                ended += 1;
                let is_newest_that_counts = counts && !shown_ended_that_counts;
                shown_ended_that_counts |= counts;
                ended <= query.limit || is_newest_that_counts
            } else {
                live += 1;
                let decides = counts && (every_live || !shown_states.contains(job.state()));
                shown_states = if decides { shown_states.with(job.state()) } else { shown_states };
                live <= query.limit || decides
            };
            jobs.extend(wanted.then(|| job.clone()));
        }
        self.mirror.note_if(jobs.len() > query.limit * 2, Sight::HoldersCovered);
        prop_assert_eq!(found, Holders { jobs, live: live as u64, ended: ended as u64 }, "{:?}", query);
        Ok(())
    }

    pub(super) fn audit_held(&self) -> Check {
        let all = || HeldQuery { limit: PAGE, ..HeldQuery::default() };
        let mut queries = vec![all(), HeldQuery { limit: PAGES_MAX, ..all() }];
        queries.extend((0..3).map(|number| HeldQuery { queue: Some(queue(queue_name(number))), ..all() }));
        queries.push(HeldQuery { created_before: Some(self.middle()), ..all() });
        queries.push(HeldQuery { kind: JobType::parse("work.do").ok(), ..all() });
        queries.push(HeldQuery { kind: JobType::parse("work.undone").ok(), ..all() });
        queries.iter().try_for_each(|query| self.check_held(query))
    }

    /// A moment before which some jobs were created and others not.
    pub(super) fn middle(&self) -> Timestamp {
        let mut moments: Vec<Timestamp> = self.mirror.jobs.values().map(|job| job.created_at).collect();
        moments.sort();
        moments.get(moments.len() / 2).copied().unwrap_or(self.now)
    }

    /// Walks through the list; what comes together must be the list, whatever places are called.
    fn check_held(&self, query: &HeldQuery) -> Check {
        let holds = |job: &&Job| job.key.is_some() && !job.state().is_terminal() && query.fits(job);
        let mut expected: Vec<&Job> = self.mirror.jobs.values().filter(holds).collect();
        expected.sort_by_key(|job| self.mirror.created_place(job.id));
        for store in [&**self.bench.store(), &self.judge] {
            let found = walk(store, query);
            let ids: Vec<JobId> = found.iter().map(|job| job.id).collect();
            prop_assert_eq!(ids, expected.iter().map(|job| job.id).collect::<Vec<_>>(), "{:?}", query);
            let is_same = |(found, job): (&Job, &&Job)| {
                let mut job = (*job).clone();
                job.forget_texts();
                *found == job
            };
            prop_assert!(found.iter().zip(&expected).all(is_same), "{query:?}");
        }
        Ok(())
    }
}

fn covers(covered_by: Option<(Watch, Timestamp)>, job: &Job) -> bool {
    covered_by.is_some_and(|(watch, now)| watch.covers(Holder::from(job), now))
}

fn walk(store: &dyn Store, query: &HeldQuery) -> Vec<Job> {
    let mut query = query.clone();
    let mut jobs = Vec::new();
    for _ in 0..PAGES_MAX {
        let page = wait(store.held_keys(query.clone())).unwrap();
        jobs.extend(page.jobs);
        match page.next {
            Some(place) => query.after = Some(place),
            None => return jobs,
        }
    }
    panic!("the list has no end: {query:?}")
}
