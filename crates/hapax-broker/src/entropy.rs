//! Random bits, as the outside gives them.

use std::fmt::Debug;

use hapax_core::{Chance, JobId, LeaseToken, Timestamp};

/// A source of random bits that nobody can predict: a lease token is a worker's only proof. Asked for a few
/// bytes at every enqueue and fetch, so it must be quick.
pub trait Entropy: Send + Sync + Debug {
    /// Fills all of it.
    fn fill(&self, bytes: &mut [u8]);
}

impl dyn Entropy {
    pub(crate) fn job_id(&self, now: Timestamp) -> JobId {
        JobId::new(now, self.draw())
    }

    pub(crate) fn lease_token(&self) -> LeaseToken {
        LeaseToken::new(self.draw())
    }

    pub(crate) fn chance(&self) -> Chance {
        Chance(u64::from_ne_bytes(self.draw()))
    }

    pub(crate) fn draw<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }
}
