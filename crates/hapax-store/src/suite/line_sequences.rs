//! Random sequences of what can happen to jobs in lines: after each step every line must be in order.

use std::time::Duration;

use hapax_core::unique::Strategy;
use hapax_core::{Directive, Event, Handback, Job, JobId, SpecPatch};

use super::bench::{Bench, MINUTE, SECOND, waits_for};
use super::chances::Chances;
use super::draft::{Draft, job_key, plain, unique};

/// How many sequences run for each thousand of those that the random part of the suite runs.
const SHARE: u32 = 20;
const STEPS: usize = 120;
const KEYS: [&str; 2] = ["a", "b"];

/// A sequence at work, and the lines as they have to be.
struct Run<'b> {
    bench: &'b mut Bench,
    chances: Chances,
    /// For each key those that have not ended, in the order in which they joined the line.
    lines: [Vec<JobId>; KEYS.len()],
    /// Jobs that workers hold, as they fetched them.
    running: Vec<Job>,
}

pub(super) fn sequences_keep_every_line_in_order(bench: &mut Bench) {
    let effort = bench.effort();
    for case in 0..(effort.cases * SHARE).div_ceil(1000) {
        bench.renew();
        let chances = Chances::new(effort.seed.wrapping_add(case.into()).wrapping_mul(77));
        let mut run = Run { bench, chances, lines: [const { Vec::new() }; KEYS.len()], running: Vec::new() };
        for step in 0..STEPS {
            let joined = run.step();
            run.check(&joined, &format!("case {case}, step {step}"));
        }
    }
}

impl Run<'_> {
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.chances.bits() % limit as u64).expect("a small number")
    }

    /// Something happens; the jobs that may have joined their lines by it, in order.
    fn step(&mut self) -> Vec<JobId> {
        match self.below(16) {
            0..=3 => {
                let draft = self.draft();
                self.bench.try_enqueue(draft).map(|admission| vec![admission.job.id]).unwrap_or_default()
            }
            4 => {
                let drafts = [self.draft(), self.draft(), self.draft()].into();
                let admitted = self.bench.try_enqueue_all(drafts).unwrap_or_default();
                admitted.into_iter().map(|admission| admission.job.id).collect()
            }
            5..=7 => {
                let count = 1 + self.below(4);
                let fetched = self.bench.fetch(&["default"], count);
                self.running.extend(fetched.into_iter().filter(|job| !job.state().is_terminal()));
                Vec::new()
            }
            8..=10 => self.end_attempt(),
            11 => self.touch(Event::Cancel),
            12 => self.touch(Event::Revive { patch: SpecPatch::default() }),
            13 => {
                drop(self.bench.remove_job_key("named"));
                Vec::new()
            }
            14 => {
                let spans = [SECOND, MINUTE, Duration::from_mins(31)];
                let span = spans[self.below(spans.len())];
                self.bench.pass(span);
                self.bench.advance();
                Vec::new()
            }
            _ => {
                self.bench.reopen();
                Vec::new()
            }
        }
    }

    fn draft(&mut self) -> Draft {
        let key = KEYS[self.below(KEYS.len())];
        let draft = match self.below(8) {
            0 => unique("replaced").on_conflict(Strategy::Replace),
            1 => unique("ignored").on_conflict(Strategy::Ignore),
            2 => job_key("named"),
            _ => plain(),
        };
        let now = self.bench.now;
        let draft = match self.below(8) {
            0 => draft.expires_at(now + MINUTE),
            1 => draft.scheduled_at(now + MINUTE),
            2 => draft.at_most_once(),
            3 | 4 => draft.dies_at_once(),
            _ => draft,
        };
        draft.ordered(key)
    }

    fn end_attempt(&mut self) -> Vec<JobId> {
        if self.running.is_empty() {
            return Vec::new();
        }
        let at = self.below(self.running.len());
        let job = self.running.swap_remove(at);
        // The lease may be lost, or the job called off.
        drop(match self.below(5) {
            0 => self.bench.fail(&job),
            1 => self.bench.fail_with(&job, Directive::DeadLetter, Handback::Failed),
            2 => self.bench.fail_with(&job, Directive::Policy, Handback::Requeue),
            _ => self.bench.acknowledge(&job),
        });
        Vec::new()
    }

    /// Lets something happen to one of all jobs.
    fn touch(&mut self, event: Event) -> Vec<JobId> {
        let ids = self.bench.ids().to_vec();
        if ids.is_empty() {
            return Vec::new();
        }
        let id = ids[self.below(ids.len())];
        drop(self.bench.step(id, event));
        vec![id]
    }

    #[track_caller]
    fn check(&mut self, joined: &[JobId], place: &str) {
        for (line, key) in self.lines.iter_mut().zip(KEYS) {
            let stands = |id: &JobId| {
                let job = self.bench.get(*id)?;
                let is_here = job.spec.ordering_key.as_ref().is_some_and(|other| other.as_str() == key);
                (is_here && !job.state().is_terminal()).then_some(job)
            };
            line.retain(|id| stands(id).is_some());
            for id in joined {
                if !line.contains(id) && stands(id).is_some() {
                    line.push(*id);
                }
            }
            let waiting: Vec<Option<JobId>> =
                line.iter().map(|id| stands(id).and_then(|job| waits_for(&job))).collect();
            let before = [None].into_iter().chain(line.iter().copied().map(Some));
            let expected: Vec<Option<JobId>> = before.take(line.len()).collect();
            assert_eq!(waiting, expected, "{place}: who waits for whom in the line {key}: {line:?}");
        }
    }
}
