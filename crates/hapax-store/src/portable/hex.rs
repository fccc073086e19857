//! Bytes as hexadecimal digits in lower case, two for each.

use std::fmt::Write as _;

pub(super) fn write(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a text cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// Nothing if the text was not written here.
pub(super) fn read(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| Some(value(*high)? << 4 | value(*low)?);
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(read(&write(&bytes)), Some(bytes));
        assert_eq!(write(&[0, 0x0a, 0xff]), "000aff");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["0", "0g", "0A", " 0", "é"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
