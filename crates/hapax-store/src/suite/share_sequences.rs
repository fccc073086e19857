//! Random sequences about fair shares, on the engine and on the reference store at once: jobs have to wait in one order.

use std::time::Duration;

use hapax_core::limit::Share;
use hapax_core::unique::Strategy as OnConflict;
use hapax_core::{Chance, Claimant, Directive, Event, Handback, JobId, Priority, State, Timestamp};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{Just, Strategy, TestCaseError, prop_oneof};
use proptest::prop_assert_eq;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use super::bench::{ALL, Bench, error};
use super::chances::Chances;
use super::draft::{Draft, plain, queue, unique};
use super::{Open, wait};
use crate::{Action, Claim, MemoryStore, Op, Store};

const QUEUES: [&str; 2] = ["alpha", "default"];
const KEYS: [&str; 3] = ["a", "b", "c"];
const UNIQUE: [&str; 3] = ["x", "y", "z"];
/// A part of what the general kind of sequences has.
const SEQUENCES_SHARE: u32 = 4;

#[derive(Debug, Clone)]
enum Step {
    Enqueue(Vec<Shape>),
    Claim { queues: Vec<usize>, count: usize },
    Acknowledge(usize),
    Fail { nth: usize, requeue: bool },
    Cancel(usize),
    Reprioritize(usize, i64),
    Advance,
    Pass(u64),
    Reopen,
}

/// A job: most share fairly, some have a key and do not, some have none.
#[derive(Debug, Clone)]
struct Shape {
    queue: usize,
    priority: i64,
    key: Option<(usize, Share)>,
    replaces: Option<usize>,
    starts_in: Option<u64>,
    expires_in: Option<u64>,
}

pub(super) fn shared_sequences_are_answered_like_the_reference(bench: &mut Bench) {
    let effort = bench.effort();
    let config = Config {
        cases: effort.cases.div_ceil(SEQUENCES_SHARE),
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&effort.seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let open = bench.opener();
    let outcome = runner.run(&vec(step(), effort.steps / 2..=effort.steps), |steps| {
        let mut player = Player::new(open);
        steps.iter().try_for_each(|step| player.play(step))?;
        player.empty()
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
    prop_oneof![
        12 => shape().prop_map(|shape| Step::Enqueue(vec![shape])),
        3 => vec(shape(), 2..8).prop_map(Step::Enqueue),
        9 => (vec(0..2usize, 1..3), 1..4usize).prop_map(|(queues, count)| Step::Claim { queues, count }),
        6 => (0..50usize).prop_map(Step::Acknowledge),
        4 => (0..50usize, select(vec![true, false])).prop_map(|(nth, requeue)| Step::Fail { nth, requeue }),
        3 => (0..50usize).prop_map(Step::Cancel),
        2 => (0..50usize, -1..2i64).prop_map(|(nth, priority)| Step::Reprioritize(nth, priority)),
        4 => Just(Step::Advance),
        4 => prop_oneof![3 => 0..500u64, 3 => 500..8_000u64, 1 => 8_000..100_000u64].prop_map(Step::Pass),
        1 => Just(Step::Reopen),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    let share = select(vec![Share::Fair, Share::Fair, Share::Fair, Share::Line]);
    (
        prop_oneof![1 => Just(0), 3 => Just(1)],
        prop_oneof![4 => Just(0), 1 => -1..2i64],
        weighted(0.85, (0..3usize, share)),
        weighted(0.15, 0..3usize),
        weighted(0.2, 1..10_000u64),
        weighted(0.15, 1..30_000u64),
    )
        .prop_map(|(queue, priority, key, replaces, starts_in, expires_in)| Shape {
            queue,
            priority,
            key,
            replaces,
            starts_in,
            expires_in,
        })
}

impl Shape {
    fn draft(&self, now: Timestamp) -> Draft {
        let draft = match self.replaces {
            Some(number) => unique(UNIQUE[number]).on_conflict(OnConflict::Replace),
            None => plain(),
        };
        let mut draft = draft.queue(QUEUES[self.queue]).priority(self.priority);
        draft = draft.visibility_timeout(Duration::from_secs(15));
        if let Some((number, share)) = self.key {
            draft = draft.fair(KEYS[number]).sharing(share);
        }
        if let Some(millis) = self.starts_in {
            draft = draft.scheduled_at(now + Duration::from_millis(millis));
        }
        match self.expires_in {
            Some(millis) => draft.expires_at(now + Duration::from_millis(millis)),
            None => draft,
        }
    }
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
        Player { now: bench.now, bench, judge, chances: Chances::new(13), ids: Vec::new() }
    }

    fn play(&mut self, step: &Step) -> Check {
        match step {
            Step::Enqueue(shapes) => self.enqueue(shapes),
            Step::Claim { queues, count } => self.claim(queues, *count),
            Step::Acknowledge(nth) => {
                let event = Event::Acknowledge { claimant: Claimant::UNNAMED, result: None };
                self.step(*nth, State::Active, event)
            }
            Step::Fail { nth, requeue } => {
                let (claimant, error) = (Claimant::UNNAMED, error(Directive::Policy));
                let handback = if *requeue { Handback::Requeue } else { Handback::Failed };
                self.step(*nth, State::Active, Event::Fail { claimant, error, handback, chance: Chance(0) })
            }
            Step::Cancel(nth) => self.step(*nth, State::Available, Event::Cancel),
            Step::Reprioritize(nth, priority) => {
                let priority = Priority::new(*priority).unwrap();
                self.step(*nth, State::Available, Event::Reprioritize { priority })
            }
            Step::Advance => self.advance(),
            Step::Pass(millis) => {
                self.now = self.now + Duration::from_millis(*millis);
                Ok(())
            }
            Step::Reopen => {
                self.bench.reopen();
                Ok(())
            }
        }
    }

    fn enqueue(&mut self, shapes: &[Shape]) -> Check {
        let first = self.ids.len();
        self.ids.extend(shapes.iter().map(|_| self.chances.id(self.now)));
        let drafts = shapes.iter().map(|shape| shape.draft(self.now)).zip(&self.ids[first..]);
        let incoming = drafts.map(|(draft, id)| draft.incoming(*id)).collect();
        self.act(Action::EnqueueAll { incoming, memo: None })
    }

    fn act(&mut self, action: Action) -> Check {
        let op = Op { now: self.now, action };
        let answer = wait(self.bench.store().commit(vec![op.clone()])).unwrap();
        let expected = wait(self.judge.commit(vec![op.clone()])).unwrap();
        prop_assert_eq!(answer, expected, "the answer to {:?}", op.action);
        Ok(())
    }

    fn step(&mut self, nth: usize, state: State, event: Event) -> Check {
        let is_there = |id: &&JobId| {
            let job = wait(self.judge.get(**id)).unwrap();
            job.is_some_and(|job| job.state() == state)
        };
        let fitting: Vec<JobId> = self.ids.iter().filter(is_there).copied().collect();
        let Some(id) = fitting.get(nth % fitting.len().max(1)).copied() else { return Ok(()) };
        self.act(Action::Step { id, event })
    }

    fn claim(&mut self, queues: &[usize], count: usize) -> Check {
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

    /// All that is left goes out in the same order.
    fn empty(&mut self) -> Check {
        for _ in 0..self.ids.len() {
            self.claim(&[0, 1], 1)?;
        }
        Ok(())
    }
}
