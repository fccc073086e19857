//! One text for all spellings of a JSON value: NFC, then RFC 8785, with exact integers.
//!
//! Keys are hashes of this text, so it may never change for a document that it can already write. That holds for
//! NFC as well: Unicode promises that assigned characters keep their normal form in every later version.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cmp::Ordering;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::json::fault::Excerpt;
use crate::json::string::plain_len;
use crate::json::{Member, Node, Value};

/// Why a valid document has no canonical text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum CanonicalError {
    #[error("two members of one object are both named {} once normalised to NFC", Excerpt(.name))]
    NamesCollide { name: Box<str> },
    #[error("number {} is beyond the range of a double", Excerpt(.text))]
    NumberOutOfRange { text: Box<str> },
}

/// Appends the canonical text of a value.
pub fn write(node: &Node<'_>, out: &mut String) -> Result<(), CanonicalError> {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(text) => return write_number(text, out),
        Value::String(text) => write_string(&nfc(text), out),
        Value::Array(items) => return write_array(items, out),
        Value::Object(members) => {
            let members = members.iter().map(|Member { name, node }| (name.as_ref(), node));
            return write_object(members, out, |node, out| write(node, out));
        }
    }
    Ok(())
}

/// The value of one member of [`object`].
#[derive(Debug, Clone)]
pub enum Part<'n, 'a> {
    /// A string.
    Text(&'n str),
    /// A value as it stands.
    Whole(&'n Node<'a>),
    /// An object of just these members.
    Picked(Vec<(&'n str, &'n Node<'a>)>),
}

/// The canonical text of an object that is put together from parts, given in any order.
pub fn object(parts: Vec<(&str, Part<'_, '_>)>) -> Result<String, CanonicalError> {
    let mut out = String::new();
    write_object(parts.into_iter(), &mut out, |part, out| match part {
        Part::Text(text) => {
            write_string(&nfc(text), out);
            Ok(())
        }
        Part::Whole(node) => write(node, out),
        Part::Picked(members) => write_object(members.into_iter(), out, write),
    })?;
    Ok(out)
}

fn write_object<'n, T>(
    members: impl Iterator<Item = (&'n str, T)>,
    out: &mut String,
    write_value: impl Fn(T, &mut String) -> Result<(), CanonicalError>,
) -> Result<(), CanonicalError> {
    let mut members: Vec<(Cow<'n, str>, T)> = members.map(|(name, value)| (nfc(name), value)).collect();
    members.sort_unstable_by(|(a, _), (b, _)| utf16_order(a, b));
    if let Some(pair) = members.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(CanonicalError::NamesCollide { name: pair[0].0.as_ref().into() });
    }
    out.push('{');
    for (index, (name, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(&name, out);
        out.push(':');
        write_value(value, out)?;
    }
    out.push('}');
    Ok(())
}

/// Compares by UTF-16 code units without making any. UTF-8 sorts by code point, and the two orders differ in one
/// thing: as surrogates, characters from U+10000 up (first byte F0 to F4) come before U+E000 to U+FFFF (EE, EF).
fn utf16_order(a: &str, b: &str) -> Ordering {
    let rank = |byte: u8| if matches!(byte, 0xee | 0xef) { byte | 0x10 } else { byte };
    match a.bytes().zip(b.bytes()).find(|(a, b)| a != b) {
        Some((a, b)) => rank(a).cmp(&rank(b)),
        None => a.len().cmp(&b.len()),
    }
}

fn write_array(items: &[Node<'_>], out: &mut String) -> Result<(), CanonicalError> {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item, out)?;
    }
    out.push(']');
    Ok(())
}

fn write_number(text: &str, out: &mut String) -> Result<(), CanonicalError> {
    let is_plain_integer = !text.contains(['.', 'e', 'E']);
    if is_plain_integer {
        // Up to 2^53 - 1 ECMAScript writes the same digits; beyond, its doubles would make neighbours equal.
        out.push_str(if text == "-0" { "0" } else { text });
        return Ok(());
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => {
            out.push_str(ryu_js::Buffer::new().format_finite(number));
            Ok(())
        }
        _ => Err(CanonicalError::NumberOutOfRange { text: text.into() }),
    }
}

pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_len(rest.as_bytes()));
        out.push_str(plain);
        let Some(&byte) = special.as_bytes().first() else { break };
        write_escape(byte, out);
        rest = &special[1..];
    }
    out.push('"');
}

fn write_escape(byte: u8, out: &mut String) {
    let short = match byte {
        b'"' | b'\\' => char::from(byte),
        0x08 => 'b',
        b'\t' => 't',
        b'\n' => 'n',
        0x0c => 'f',
        b'\r' => 'r',
        _ => {
            let digits = [byte >> 4, byte & 0xf].map(|digit| b"0123456789abcdef"[usize::from(digit)]);
            out.push_str("\\u00");
            out.extend(digits.map(char::from));
            return;
        }
    };
    out.extend(['\\', short]);
}

fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}
