//! The proof that a delivery comes from here and was not changed (Webhooks 8).

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// What a subscriber shares with the server. It is shown when it is made and never again.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

/// A text that cannot be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must have {} to {} visible ASCII characters", Secret::LENGTH_MIN, Secret::LENGTH_MAX)]
pub struct SecretError;

impl Secret {
    /// Shorter ones could be guessed.
    pub const LENGTH_MIN: usize = 16;
    /// Longer ones are no safer.
    pub const LENGTH_MAX: usize = 256;
    const PREFIX: &'static str = "whsec_";

    /// Takes one that a client chose.
    pub fn parse(text: &str) -> Result<Secret, SecretError> {
        let fits = (Secret::LENGTH_MIN..=Secret::LENGTH_MAX).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Secret(text.into()))
        } else {
            Err(SecretError)
        }
    }

    /// Makes one of random bits.
    pub fn new(random: [u8; 32]) -> Secret {
        Secret(format!("{}{}", Secret::PREFIX, hex(&random)).into())
    }

    /// The text, for whoever is to share it and for the store.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The signature of a body that is sent at this Unix second, as the header has it.
    pub fn sign(&self, unix_seconds: i64, body: &[u8]) -> String {
        let timestamp = unix_seconds.to_string();
        let code = hmac_sha256(self.0.as_bytes(), &[timestamp.as_bytes(), b".", body]);
        format!("sha256={}", hex(&code))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// HMAC-SHA256 (RFC 2104) of the parts, one after the other.
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length fits");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: &[u8], data: &[u8], expected: &str) {
        assert_eq!(hex(&hmac_sha256(key, &[data])), expected);
    }

    #[test]
    fn the_vectors_of_rfc_4231_come_out() {
        check(&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        check(
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
        check(
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        );
    }

    #[test]
    fn the_parts_are_signed_as_one_text() {
        let secret = Secret::parse("whk_test_secret_001").unwrap();
        let whole = hmac_sha256(b"whk_test_secret_001", &[br#"1708030665.{"a":1}"#]);
        assert_eq!(secret.sign(1_708_030_665, br#"{"a":1}"#), format!("sha256={}", hex(&whole)));
    }

    #[test]
    fn a_secret_is_long_enough_visible_and_never_shown_by_accident() {
        for text in
            ["", "short", "fifteen-letters", "sixteen letters!", "sixteen-letters\u{7f}", "sixteen-ümlauts!"]
        {
            assert!(Secret::parse(text).is_err(), "{text}");
        }
        assert!(Secret::parse(&"x".repeat(257)).is_err());
        let made = Secret::new([7; 32]);
        assert_eq!(Secret::parse(made.reveal()).as_ref(), Ok(&made));
        assert!(!format!("{made:?}").contains("07"));
    }
}
