//! A small generator of numbers that can be repeated from its seed.

use std::env;

use crate::clock;

/// Xorshift with a multiplication: good enough to choose the next request.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A seed that differs from run to run, unless `E2E_SEED` names one. It is printed, so that a failed
    /// run can be repeated as far as threads and kills can.
    #[expect(clippy::disallowed_methods, reason = "the one setting of the tests")]
    pub fn seeded() -> Random {
        let given = env::var("E2E_SEED").ok().and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(clock::unix_ms);
        eprintln!("E2E_SEED={seed}");
        Random::new(seed)
    }

    /// The generator of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number less than `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit.max(1)).unwrap_or(u64::MAX);
        usize::try_from((self.bits() >> 11) % limit).unwrap_or(0)
    }

    /// One of the choices.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}
