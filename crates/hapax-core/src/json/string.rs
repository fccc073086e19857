//! Strings: long plain runs found eight bytes at a time, and the escapes between them.

use std::borrow::Cow;

use super::fault::{Fault, What};
use super::reader::Reader;

impl<'a> Reader<'a> {
    /// Reads a string, standing on its opening quote.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.at += 1;
        let plain = self.plain_run();
        if self.take(b'"') { Ok(Cow::Borrowed(plain)) } else { self.escaped(plain).map(Cow::Owned) }
    }

    fn escaped(&mut self, plain: &str) -> Result<String, Fault> {
        let mut text = String::from(plain);
        while !self.take(b'"') {
            if !self.take(b'\\') {
                return Err(self.expected("a closing quote"));
            }
            text.push(self.escape()?);
            text.push_str(self.plain_run());
        }
        Ok(text)
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.expected("one of \" \\ / b f n r t u after a backslash")),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode_escape(&mut self) -> Result<char, Fault> {
        let backslash = self.at - 1;
        let first = self.code_unit()?;
        if let Some(character) = char::from_u32(first.into()) {
            return Ok(character);
        }
        let mut units = [first, 0];
        if self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            self.at += 1;
            units[1] = self.code_unit()?;
        }
        match char::decode_utf16(units).next() {
            Some(Ok(character)) => Ok(character),
            _ => Err(Fault { offset: backslash, what: What::LoneSurrogate(first) }),
        }
    }

    /// The `u` and its four digits.
    fn code_unit(&mut self) -> Result<u16, Fault> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(hex_digit) else {
                return Err(self.expected("four hexadecimal digits after \\u"));
            };
            unit = unit << 4 | digit;
            self.at += 1;
        }
        Ok(unit)
    }

    /// Everything up to the next quote, backslash or control character, or to the end of the text.
    fn plain_run(&mut self) -> &'a str {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        self.at += plain_len(rest);
        &self.text[start..self.at]
    }
}

fn hex_digit(byte: u8) -> Option<u16> {
    match byte {
        b'0'..=b'9' => Some(u16::from(byte - b'0')),
        b'a'..=b'f' => Some(u16::from(byte - b'a') + 10),
        b'A'..=b'F' => Some(u16::from(byte - b'A') + 10),
        _ => None,
    }
}

/// How many bytes come before the first that a JSON string must escape: a quote, a backslash, a control character.
pub(crate) fn plain_len(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let special = specials(u64::from_le_bytes(*word));
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let in_tail = tail.iter().position(|&byte| byte < b' ' || byte == b'"' || byte == b'\\');
    words.len() * 8 + in_tail.unwrap_or(tail.len())
}

/// Sets the high bit of each byte that ends a plain run. A borrow may set it in a byte above such a one too, so
/// only the lowest bit set is to be believed, which is the one that matters.
fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, b' ') | equal(b'"') | equal(b'\\')) & HIGHS
}
