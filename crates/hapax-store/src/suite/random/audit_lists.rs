//! Lists of jobs, compared with the reference store and with what the answers amount to.

use hapax_core::{Job, JobFilter, KindPattern, Priority, State, StateSet, TimeRange};
use proptest::prop_assert_eq;

use super::super::draft::queue;
use super::super::wait;
use super::audit::PAGE;
use super::audit_keys::PAGES_MAX;
use super::mirror::Check;
use super::player::Player;
use super::shape::queue_name;
use crate::{JobQuery, ListOrder, Store};

impl Player<'_> {
    pub(super) fn audit_lists(&self) -> Check {
        let all = JobFilter::default;
        let middle = Some(self.middle());
        let states = |states: &[State]| JobFilter { states: StateSet::of(states), ..all() };
        let filters = [
            all(),
            states(&[State::Available, State::Active]),
            states(&[State::Discarded]),
            JobFilter { queue: Some(queue(queue_name(1))), ..all() },
            JobFilter { kind: KindPattern::parse("work.*").ok(), priority: Priority::new(1).ok(), ..all() },
            JobFilter { created: TimeRange { since: middle, until: None }, ..all() },
            JobFilter { enqueued: TimeRange { since: None, until: middle }, ..all() },
            JobFilter { ended: TimeRange { since: middle, until: None }, ..all() },
            JobFilter { dead_letters_only: true, ..all() },
            JobFilter { error_type: Some("Trouble".into()), ..all() },
        ];
        for filter in &filters[..2] {
            self.check_list(&JobQuery {
                order: ListOrder::OldestFirst,
                ..JobQuery::of(filter.clone(), PAGE)
            })?;
        }
        for filter in filters {
            self.check_list(&JobQuery::of(filter, PAGE))?;
        }
        Ok(())
    }

    /// Walks through the list part by part; what comes together must be the list.
    fn check_list(&self, query: &JobQuery) -> Check {
        let mut expected: Vec<Job> =
            self.mirror.jobs.values().filter(|job| query.filter.fits(job)).cloned().collect();
        expected.iter_mut().for_each(Job::forget_texts);
        if query.order == ListOrder::NewestFirst {
            expected.reverse();
        }
        let (mut query, mut found) = (query.clone(), Vec::new());
        for _ in 0..PAGES_MAX {
            let page = wait(self.bench.store().jobs(query.clone())).unwrap();
            prop_assert_eq!(&page, &wait(self.judge.jobs(query.clone())).unwrap(), "{:?}", query);
            found.extend(page.jobs);
            query.after = page.next;
            if query.after.is_none() {
                break;
            }
        }
        prop_assert_eq!(found, expected, "{:?}", query);
        Ok(())
    }
}
