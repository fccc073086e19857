//! Who waits for a lane, and which of them can go while others are under way: those that meet none of them. Requests of one
//! server never wait for each other inside the database.

use std::collections::{HashSet, VecDeque};

use hapax_store::Weight;

use crate::fresh;
use crate::locks::{self, Lock};
use crate::request::Commit;

/// How many jobs one transaction touches at most, unless a single request touches more.
pub(crate) const JOBS_MAX: usize = 2048;
/// How many bytes one transaction writes at most, unless a single request has more.
const BYTES_MAX: usize = 4 << 20;

/// How many locks those who are under way have together, unless a single group has more: PostgreSQL has room for some 10,000
/// with its usual settings, for everybody.
const LOCKS_MAX: usize = 4096;

/// Requests in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    requests: VecDeque<Request>,
    jobs: usize,
    /// What those who are under way have locked, or are about to.
    busy: HashSet<Lock>,
}

#[derive(Debug)]
struct Request {
    commit: Commit,
    locks: Vec<Lock>,
    weight: Weight,
    /// Those that may be stored in one statement go together.
    is_hopeful: bool,
}

/// Requests that are carried out together.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) requests: Vec<Commit>,
    pub(crate) locks: Vec<Lock>,
}

impl Waiting {
    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// How many jobs those who wait are about.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs
    }

    pub(crate) fn push(&mut self, commit: Commit) {
        let weight = commit.ops.iter().map(Weight::of).fold(Weight::default(), Weight::plus);
        self.jobs += weight.jobs;
        let (locks, is_hopeful) = (locks::of_request(&commit.ops), fresh::is_hopeful(&commit.ops));
        self.requests.push_back(Request { commit, locks, weight, is_hopeful });
    }

    /// The next who can go, as many as one transaction can bear. They are busy until [`Waiting::end`].
    pub(crate) fn next_group(&mut self) -> Option<Group> {
        let mut group = Group::default();
        let mut total = Weight::default();
        let mut left = VecDeque::new();
        let mut is_hopeful: Option<bool> = None;
        // Nobody overtakes somebody whom it meets.
        let mut met: HashSet<Lock> = HashSet::new();
        while let Some(request) = self.requests.pop_front() {
            let sum = total.plus(request.weight);
            let locks = self.busy.len() + group.locks.len();
            let is_full = sum.jobs > JOBS_MAX || sum.bytes > BYTES_MAX;
            let is_crowded = locks > 0 && locks + request.locks.len() > LOCKS_MAX;
            if is_crowded || (is_full && !group.requests.is_empty()) {
                self.requests.push_front(request);
                break;
            }
            let is_of_another_kind = is_hopeful.is_some_and(|is_hopeful| is_hopeful != request.is_hopeful);
            let meets = |lock: &Lock| self.busy.contains(lock) || met.contains(lock);
            if is_of_another_kind || request.locks.iter().any(meets) {
                met.extend(&request.locks);
                left.push_back(request);
                continue;
            }
            is_hopeful = Some(request.is_hopeful);
            total = sum;
            group.locks.extend(&request.locks);
            group.requests.push(request.commit);
        }
        left.append(&mut self.requests);
        self.requests = left;
        self.jobs -= total.jobs;
        self.busy.extend(&group.locks);
        (!group.requests.is_empty()).then_some(group)
    }

    /// The group with these locks has ended.
    pub(crate) fn end(&mut self, locks: &[Lock]) {
        for lock in locks {
            self.busy.remove(lock);
        }
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::{Event, JobId, Timestamp};
    use hapax_store::{Action, Op};
    use tokio::sync::oneshot;

    use super::*;

    fn step(n: i64) -> Commit {
        let now = Timestamp::from_millis(n);
        let action = Action::Step { id: JobId::new(now, [0; 10]), event: Event::Cancel };
        Commit { ops: vec![Op { now, action }], caller: oneshot::channel().0 }
    }

    fn waiting(jobs: impl IntoIterator<Item = i64>) -> Waiting {
        let mut waiting = Waiting::default();
        jobs.into_iter().for_each(|n| waiting.push(step(n)));
        waiting
    }

    #[test]
    fn who_meets_somebody_under_way_waits_for_its_end_and_nobody_overtakes_it() {
        let mut waiting = waiting([1]);
        let first = waiting.next_group().unwrap();
        for n in [1, 2, 1] {
            waiting.push(step(n));
        }
        assert_eq!(waiting.next_group().map(|group| group.requests.len()), Some(1), "the job 2");
        assert!(waiting.next_group().is_none());
        assert_eq!(waiting.jobs(), 2);
        waiting.end(&first.locks);
        assert_eq!(waiting.next_group().map(|group| group.requests.len()), Some(2));
        assert!(waiting.is_empty());
    }

    #[test]
    fn those_under_way_have_only_so_many_locks_together() {
        let mut waiting = waiting(0..5000);
        let groups: Vec<Group> = std::iter::from_fn(|| waiting.next_group()).collect();
        assert_eq!(groups.iter().map(|group| group.locks.len()).collect::<Vec<_>>(), [2048, 2048]);
        waiting.end(&groups[0].locks);
        assert_eq!(waiting.next_group().map(|group| group.requests.len()), Some(5000 - 4096));
    }
}
