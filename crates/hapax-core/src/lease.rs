//! The right of one worker to one attempt.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use crate::Timestamp;

/// What a worker shows to prove that an attempt is its own: 128 random bits, made new for every fetch.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseToken(u128);

impl LeaseToken {
    /// The token of the caller's random bits.
    pub const fn new(random: [u8; 16]) -> LeaseToken {
        LeaseToken(u128::from_be_bytes(random))
    }

    /// The 16 bytes that stores keep.
    pub const fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }
}

impl fmt::Display for LeaseToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for LeaseToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LeaseToken(…)")
    }
}

impl FromStr for LeaseToken {
    type Err = ();

    /// Any text that is not a token of ours is an error; to a worker it is a lease that it does not hold.
    fn from_str(text: &str) -> Result<Self, ()> {
        let plain =
            text.len() == 32 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if plain { u128::from_str_radix(text, 16).map(LeaseToken).map_err(|_| ()) } else { Err(()) }
    }
}

/// How a worker calls itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorkerId(Arc<str>);

impl WorkerId {
    /// Longest name of a worker, in bytes.
    pub const LENGTH_MAX: usize = 256;

    /// Reads a worker's name: 1 to 256 bytes without control characters.
    pub fn parse(text: &str) -> Option<WorkerId> {
        let fits = (1..=Self::LENGTH_MAX).contains(&text.len()) && !text.chars().any(char::is_control);
        fits.then(|| WorkerId(text.into()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A lease on one attempt of one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The proof.
    pub token: LeaseToken,
    /// Who fetched the job, if it said.
    pub worker: Option<WorkerId>,
    /// When the lease ends unless a heartbeat moves the end.
    pub deadline: Timestamp,
    /// By how much a heartbeat moves the end.
    pub length: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_and_other_texts_do_not() {
        let token = LeaseToken::new([7; 16]);
        assert_eq!(token.to_string().parse(), Ok(token));
        for text in ["", "0", "+0000000000000000000000000000000", "0707070707070707070707070707070G"] {
            assert_eq!(text.parse::<LeaseToken>(), Err(()));
        }
    }

    #[test]
    fn a_token_is_not_shown_in_debug_output() {
        assert!(!format!("{:?}", LeaseToken::new([7; 16])).contains("0707"));
    }
}
