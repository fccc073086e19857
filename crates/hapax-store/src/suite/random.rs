//! Random sequences of everything that can be done, on the engine and on the reference store at once.

mod action;
mod audit;
mod audit_keys;
mod audit_lists;
mod generate;
mod mirror;
mod player;
mod shape;
mod sightings;
mod step;
mod wish;

use std::cell::RefCell;

use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use self::player::Player;
use self::sightings::Sightings;
use self::step::Step;
use super::bench::Bench;

/// How often a failing sequence is shortened before it is shown.
const SHRINKS_MAX: u32 = 4000;

/// From so many sequences on, everything that is worth seeing must have been seen.
const CASES_FOR_SIGHTINGS: u32 = 1000;

pub(super) fn sequences_are_answered_like_the_reference(bench: &mut Bench) {
    let effort = bench.effort();
    let sightings = RefCell::new(Sightings::default());
    let config = Config {
        cases: effort.cases,
        failure_persistence: None,
        max_shrink_iters: SHRINKS_MAX,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, rng(effort.seed));
    let outcome = runner.run(&generate::steps(effort.steps), |steps| {
        let mut player = Player::new(bench.opener(), &sightings);
        steps.iter().enumerate().try_for_each(|(at, step)| player.play(at, step))?;
        player.finish()
    });
    match outcome {
        Ok(()) if effort.cases >= CASES_FOR_SIGHTINGS => sightings.into_inner().check(),
        Ok(()) => {}
        Err(TestError::Fail(reason, steps)) => panic!("seed {}: {reason}\n{}", effort.seed, listing(&steps)),
        Err(TestError::Abort(reason)) => panic!("the generator gave up: {reason}"),
    }
}

fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

fn listing(steps: &[Step]) -> String {
    let lines: Vec<String> = steps.iter().enumerate().map(|(at, step)| format!("{at:4} {step:?}")).collect();
    lines.join("\n")
}
