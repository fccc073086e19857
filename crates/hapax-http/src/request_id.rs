//! The name of a request: the client's own, or one made here.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::HeaderValue;
use hapax_core::Timestamp;

/// Longest name that is taken from a client.
const LENGTH_MAX: usize = 128;

/// The name of a request. It comes back in a header, in errors, in logs and in the ledgers of holders.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    /// The client's name, if it is short and visible: it is printed in many places.
    pub(crate) fn of_client(header: Option<&HeaderValue>) -> Option<RequestId> {
        let header = header?;
        let fits =
            (1..=LENGTH_MAX).contains(&header.len()) && header.as_bytes().iter().all(u8::is_ascii_graphic);
        fits.then(|| RequestId(header.clone()))
    }

    /// As text.
    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// As a header.
    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

/// Makes names. They have to differ, nothing more: a counter under two seeds of the process is enough, and no
/// random bits are drawn for each request.
#[derive(Debug)]
pub(crate) struct Minter {
    seeds: [u64; 2],
    count: AtomicU64,
}

impl Minter {
    pub(crate) fn new() -> Minter {
        let state = RandomState::new();
        Minter { seeds: [state.hash_one(1_u8), state.hash_one(2_u8)], count: AtomicU64::new(0) }
    }

    /// `req_` and a UUID of version 7.
    pub(crate) fn mint(&self, now: Timestamp) -> RequestId {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let mut bits = [0; 10];
        bits[..2].copy_from_slice(&scrambled(self.seeds[0].wrapping_add(count)).to_ne_bytes()[..2]);
        bits[2..].copy_from_slice(&scrambled(self.seeds[1].wrapping_add(count)).to_ne_bytes());
        let millis = u64::try_from(now.millis()).unwrap_or(0);
        let uuid = uuid::Builder::from_unix_timestamp_millis(millis, &bits).into_uuid();
        let mut text = *b"req_00000000-0000-0000-0000-000000000000";
        uuid.as_hyphenated().encode_lower(&mut text[4..]);
        let header = HeaderValue::from_bytes(&text);
        RequestId(header.unwrap_or_else(|_| HeaderValue::from_static("req_unnamed")))
    }
}

/// One to one, so that different counts stay different (`SplitMix64`).
fn scrambled(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_names_differ_and_are_uuids() {
        let minter = Minter::new();
        let names: std::collections::HashSet<String> =
            (0..1000).map(|_| minter.mint(Timestamp::EPOCH).as_str().to_owned()).collect();
        assert_eq!(names.len(), 1000);
        for name in names {
            let uuid = uuid::Uuid::try_parse(name.strip_prefix("req_").unwrap()).unwrap();
            assert_eq!(uuid.get_version_num(), 7);
        }
    }

    #[test]
    fn names_of_clients_are_bounded_and_visible() {
        let taken = |text: &'static [u8]| {
            RequestId::of_client(Some(&HeaderValue::from_bytes(text).unwrap())).is_some()
        };
        assert!(taken(b"abc-123"));
        assert!(taken(&[b'x'; 128]));
        for text in [b"".as_slice(), b"a b", b"\xc3\xa9", b"a\tb", &[b'x'; 129]] {
            assert!(!taken(text), "{text:?}");
        }
        assert!(RequestId::of_client(None).is_none());
    }
}
