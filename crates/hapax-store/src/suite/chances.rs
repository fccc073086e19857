//! Random bits that are the same in every run.

use hapax_core::{JobId, LeaseToken, Timestamp};

/// A stream of random bits (`SplitMix64`).
#[derive(Debug, Clone)]
pub(super) struct Chances(u64);

impl Chances {
    pub(super) fn new(seed: u64) -> Chances {
        Chances(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn random(&mut self) -> [u8; 10] {
        let mut random = [0; 10];
        random[..8].copy_from_slice(&self.bits().to_be_bytes());
        random[8..].copy_from_slice(&self.bits().to_be_bytes()[..2]);
        random
    }

    pub(super) fn id(&mut self, now: Timestamp) -> JobId {
        JobId::new(now, self.random())
    }

    pub(super) fn token(&mut self) -> LeaseToken {
        let bits = (u128::from(self.bits()) << 64) | u128::from(self.bits());
        LeaseToken::new(bits.to_be_bytes())
    }
}
