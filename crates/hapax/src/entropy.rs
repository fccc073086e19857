//! Random bits of the system, drawn in blocks.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use hapax_broker::Entropy;

/// How much is drawn at a time. A call to the system costs more than a job id; a block serves some 200 of them.
const BLOCK: usize = 4096;

/// The system's random source.
pub(crate) struct SystemEntropy(Mutex<Block>);

struct Block {
    bytes: [u8; BLOCK],
    used: usize,
}

impl SystemEntropy {
    /// Draws the first block, so that a system without a random source is found out at the start.
    pub(crate) fn open() -> Result<SystemEntropy, getrandom::Error> {
        let mut block = Block { bytes: [0; BLOCK], used: 0 };
        getrandom::fill(&mut block.bytes)?;
        Ok(SystemEntropy(Mutex::new(block)))
    }
}

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let mut block = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in bytes.chunks_mut(BLOCK) {
            block.take(piece);
        }
    }
}

impl Block {
    fn take(&mut self, wanted: &mut [u8]) {
        if BLOCK - self.used < wanted.len() {
            #[expect(clippy::expect_used, reason = "going on with predictable leases would be worse")]
            getrandom::fill(&mut self.bytes).expect("the system's random source worked at the start");
            self.used = 0;
        }
        let taken = &mut self.bytes[self.used..self.used + wanted.len()];
        wanted.copy_from_slice(taken);
        // Lease tokens are secrets: no copy stays behind.
        taken.fill(0);
        self.used += wanted.len();
    }
}

impl fmt::Debug for SystemEntropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SystemEntropy")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn nothing_is_given_out_twice_across_blocks() {
        let entropy = SystemEntropy::open().unwrap();
        let mut seen = HashSet::new();
        for _ in 0..2 * BLOCK / 10 {
            let mut bytes = [0; 10];
            entropy.fill(&mut bytes);
            assert!(seen.insert(bytes));
        }
    }

    #[test]
    fn more_than_a_block_is_filled_to_the_end() {
        let mut bytes = vec![0; 3 * BLOCK];
        SystemEntropy::open().unwrap().fill(&mut bytes);
        assert!(bytes.chunks(64).all(|chunk| chunk.iter().any(|byte| *byte != 0)));
    }
}
