//! Random sequences about rate limits, on the engine and on the reference store at once.

use std::time::Duration;

use hapax_core::limit::{LimitKey, Limits, OnLimit, Pace, RateLimit, Ruling, Share, Window};
use hapax_core::{Chance, Claimant, Directive, Event, Handback, JobId, State, Timestamp, WorkerError};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{Just, Strategy, TestCaseError, prop_oneof};
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use proptest::{prop_assert, prop_assert_eq};

use super::bench::{ALL, Bench, error};
use super::chances::Chances;
use super::draft::{plain, queue};
use super::{Open, wait};
use crate::{Action, Claim, EntryQuery, LimitQuery, MemoryStore, Op, Register, Store, limit};

const QUEUES: [&str; 3] = ["alpha", "beta", "default"];
const KEYS: [&str; 3] = ["a", "b", "c"];
/// A sequence of steps costs more than one of the general kind, and there is less to see.
const SEQUENCES_SHARE: u32 = 4;

#[derive(Debug, Clone)]
enum Step {
    Enqueue { queue: usize, priority: i64, shared: Option<(usize, Limits, OnLimit)>, expires_in: Option<u64> },
    Claim { queues: Vec<usize>, count: usize },
    Acknowledge(usize),
    Fail { nth: usize, closes_for: Option<u64>, requeue: bool },
    Cancel(usize),
    Decide { key: usize, ruling: Option<(Limits, Option<u64>)> },
    DecideQueue { queue: usize, limits: Option<Limits> },
    Pause(usize, bool),
    Advance,
    Pass(u64),
    Reopen,
}

pub(super) fn limited_sequences_are_answered_like_the_reference(bench: &mut Bench) {
    let effort = bench.effort();
    let config = Config {
        cases: effort.cases.div_ceil(SEQUENCES_SHARE),
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let mut seed = [3; 32];
    seed[..8].copy_from_slice(&effort.seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let open = bench.opener();
    let outcome = runner.run(&vec(step(), effort.steps / 2..=effort.steps), |steps| {
        let mut player = Player::new(open);
        steps.iter().try_for_each(|step| player.play(step))?;
        player.audit()
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, steps)) => {
            let lines: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
            panic!("seed {}: {reason}\n{}", effort.seed, lines.join("\n"))
        }
        Err(TestError::Abort(reason)) => panic!("the generator gave up: {reason}"),
    }
}

fn step() -> impl Strategy<Value = Step> {
    let shared = weighted(
        0.85,
        (
            0..3usize,
            limits(),
            select(vec![OnLimit::Wait; 6].into_iter().chain(OnLimit::ALL).collect::<Vec<_>>()),
        ),
    );
    prop_oneof![
        12 => (0..3usize, prop_oneof![3 => Just(0), 1 => -2..3i64], shared, weighted(0.1, 1..30_000u64)).prop_map(
            |(queue, priority, shared, expires_in)| Step::Enqueue { queue, priority, shared, expires_in }
        ),
        10 => (vec(0..3usize, 1..4), 1..5usize).prop_map(|(queues, count)| Step::Claim { queues, count }),
        8 => (0..50usize).prop_map(Step::Acknowledge),
        3 => (0..50usize, weighted(0.3, 0..20_000u64), weighted(0.3, Just(())))
            .prop_map(|(nth, closes_for, requeue)| Step::Fail { nth, closes_for, requeue: requeue.is_some() }),
        2 => (0..50usize).prop_map(Step::Cancel),
        2 => (0..3usize, weighted(0.6, (limits(), weighted(0.5, 1..20_000u64))))
            .prop_map(|(key, ruling)| Step::Decide { key, ruling }),
        1 => (0..3usize, weighted(0.5, limits())).prop_map(|(queue, limits)| Step::DecideQueue { queue, limits }),
        1 => (0..3usize, weighted(0.4, Just(()))).prop_map(|(queue, on)| Step::Pause(queue, on.is_some())),
        4 => Just(Step::Advance),
        8 => prop_oneof![6 => 0..500u64, 3 => 500..8_000u64, 1 => 8_000..100_000u64].prop_map(Step::Pass),
        1 => Just(Step::Reopen),
    ]
}

fn limits() -> impl Strategy<Value = Limits> {
    let pace = |window| {
        (1..4i64, 1..6u64)
            .prop_map(move |(limit, seconds)| Pace::new(limit, Duration::from_secs(seconds), window).unwrap())
    };
    (weighted(0.6, 0..4u32), weighted(0.4, pace(Window::Sliding)), weighted(0.2, pace(Window::Spaced)))
        .prop_map(|(concurrency, rate, throttle)| Limits { concurrency, rate, throttle })
}

struct Player {
    bench: Bench,
    judge: MemoryStore,
    chances: Chances,
    now: Timestamp,
    ids: Vec<JobId>,
}

type Check = Result<(), TestCaseError>;

impl Player {
    fn new(open: Open) -> Player {
        let bench = Bench::new(open);
        let judge = MemoryStore::new(bench.rules().clone());
        Player { now: bench.now, bench, judge, chances: Chances::new(11), ids: Vec::new() }
    }

    fn play(&mut self, step: &Step) -> Check {
        match step {
            Step::Enqueue { queue: number, priority, shared, expires_in } => {
                let mut draft = plain().queue(QUEUES[*number]).priority(*priority);
                draft = draft.visibility_timeout(Duration::from_secs(15));
                if let Some(millis) = expires_in {
                    draft = draft.expires_at(self.now + Duration::from_millis(*millis));
                }
                draft.spec.rate_limit = shared.map(|(key, limits, on_limit)| {
                    let key = LimitKey::parse(KEYS[key]).unwrap();
                    Box::new(RateLimit { key, limits, on_limit, share: Share::Line })
                });
                let id = self.chances.id(self.now);
                self.ids.push(id);
                self.act(Action::Enqueue { incoming: Box::new(draft.incoming(id)), memo: None })
            }
            Step::Claim { queues, count } => self.claim(queues, *count),
            Step::Acknowledge(nth) => {
                let claimant = Claimant::UNNAMED;
                self.step(*nth, State::Active, Event::Acknowledge { claimant, result: None })
            }
            Step::Fail { nth, closes_for, requeue } => {
                let until = closes_for.map(|millis| self.now + Duration::from_millis(millis));
                let error = WorkerError { rate_limit_until: until, ..error(Directive::Policy) };
                let handback = if *requeue { Handback::Requeue } else { Handback::Failed };
                let event = Event::Fail { claimant: Claimant::UNNAMED, error, handback, chance: Chance(0) };
                self.step(*nth, State::Active, event)
            }
            Step::Cancel(nth) => self.step(*nth, State::Available, Event::Cancel),
            Step::Decide { key, ruling } => {
                let ruling = ruling.map(|(limits, expires_in)| Ruling {
                    limits,
                    expires_at: expires_in.map(|millis| self.now + Duration::from_millis(millis)),
                });
                self.decide(&LimitKey::parse(KEYS[*key]).unwrap(), ruling)
            }
            Step::DecideQueue { queue: number, limits } => {
                let ruling = limits.map(|limits| Ruling { limits, expires_at: None });
                self.decide(&LimitKey::of_queue(&queue(QUEUES[*number])), ruling)
            }
            Step::Pause(number, true) => self.act(Action::Pause(queue(QUEUES[*number]))),
            Step::Pause(number, false) => self.act(Action::Resume(queue(QUEUES[*number]))),
            Step::Advance => self.advance(),
            Step::Pass(millis) => {
                self.now = self.now + Duration::from_millis(*millis);
                Ok(())
            }
            Step::Reopen => {
                self.bench.reopen();
                self.audit()
            }
        }
    }

    fn act(&mut self, action: Action) -> Check {
        let op = Op { now: self.now, action };
        let answer = wait(self.bench.store().commit(vec![op.clone()])).unwrap();
        let expected = wait(self.judge.commit(vec![op.clone()])).unwrap();
        prop_assert_eq!(answer, expected, "the answer to {:?}", op.action);
        Ok(())
    }

    /// A job in that state, else any.
    fn step(&mut self, nth: usize, state: State, event: Event) -> Check {
        let is_there = |id: &&JobId| {
            let job = wait(self.judge.get(**id)).unwrap();
            job.is_some_and(|job| job.state() == state)
        };
        let fitting: Vec<JobId> = self.ids.iter().filter(is_there).copied().collect();
        let Some(id) = fitting.get(nth % fitting.len().max(1)).copied() else { return Ok(()) };
        self.act(Action::Step { id, event })
    }

    fn decide(&mut self, key: &LimitKey, ruling: Option<Ruling>) -> Check {
        self.act(Action::Edit { key: limit::key(key), edit: limit::decided(ruling, self.now) })
    }

    /// That time made room may be noticed by the next advance only.
    fn claim(&mut self, queues: &[usize], count: usize) -> Check {
        let query = EntryQuery { register: Register::Limit, prefix: "".into(), after: None, limit: ALL };
        let entries = wait(self.judge.entries(query)).unwrap().entries;
        if entries.iter().any(|entry| entry.written.due_at.is_some_and(|at| at <= self.now)) {
            self.advance()?;
        }
        let claim = Claim {
            now: self.now,
            queues: queues.iter().map(|number| queue(QUEUES[*number])).collect(),
            count,
            worker: None,
            token: self.chances.token(),
            visibility_timeout: None,
            tenant: None,
        };
        let found = wait(self.bench.store().claim(claim.clone())).unwrap();
        let expected = wait(self.judge.claim(claim)).unwrap();
        prop_assert_eq!(found.changes, expected.changes, "the answer to a claim");
        Ok(())
    }

    fn advance(&mut self) -> Check {
        let found = wait(self.bench.store().advance(self.now, ALL, Chance(0))).unwrap();
        let expected = wait(self.judge.advance(self.now, ALL, Chance(0))).unwrap();
        prop_assert_eq!(found, expected, "what time changed");
        Ok(())
    }

    /// The stores know the same, and no more run than may: counted by hand.
    fn audit(&self) -> Check {
        let all = LimitQuery { after: None, limit: ALL };
        let found = wait(self.bench.store().limits(all.clone())).unwrap();
        let expected = wait(self.judge.limits(all)).unwrap();
        prop_assert_eq!(&found, &expected, "the limits");
        for facts in &found.limits {
            let jobs = self.ids.iter().filter_map(|id| wait(self.bench.store().get(*id)).unwrap());
            let shares = |job: &hapax_core::Job| {
                job.spec.rate_limit.as_deref().is_some_and(|limit| limit.key == facts.key)
            };
            let active = jobs.filter(|job| shares(job) && job.state() == State::Active).count() as u64;
            prop_assert!(facts.key.limited_queue().is_some() || facts.active == active);
        }
        Ok(())
    }
}
