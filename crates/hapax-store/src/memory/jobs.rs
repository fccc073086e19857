//! Lists of jobs.

use std::ops::Bound;

use hapax_core::{Job, JobId};

use super::contents::Contents;
use crate::{JobPage, JobQuery, JobScan, ListOrder};

impl Contents {
    pub(super) fn jobs(&self, query: &JobQuery) -> JobPage {
        let after = query.after.map_or(Bound::Unbounded, Bound::Excluded);
        match query.order {
            ListOrder::NewestFirst => page(self.between((Bound::Unbounded, after)).rev(), query),
            ListOrder::OldestFirst => page(self.between((after, Bound::Unbounded)), query),
        }
    }
}

fn page<'j>(mut list: impl Iterator<Item = (JobId, &'j Job)>, query: &JobQuery) -> JobPage {
    let mut scan = JobScan::new(query);
    for _ in 0..query.scan_max() {
        if scan.is_over() {
            break;
        }
        let Some((id, job)) = list.next() else { return scan.page(false) };
        if scan.wants(job) {
            scan.look(id, Some(job.clone()));
        } else {
            scan.pass(id);
        }
    }
    scan.page(list.next().is_some())
}
