//! Names of requests in a ledger. Those that the server makes, `req_` and a UUID, are most of a ledger's length, so
//! they are written with 22 digits instead of 40 characters.

use std::sync::Arc;

use hapax_core::JobId;

use super::super::{Unreadable, json};

const MADE_HERE: &str = "req_";
/// Stands before the digits, and once more before any other name that begins with it.
const MARK: char = '=';
const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-";
const DIGITS_OF_UUID: usize = 22;

/// Writes the name as a JSON string.
pub(super) fn write(out: &mut String, name: &str) {
    // A job's id has the same form: a UUID of version 7, with one text for each.
    let made_here = name.strip_prefix(MADE_HERE).and_then(|uuid| uuid.parse::<JobId>().ok());
    match made_here {
        Some(uuid) => write_digits(out, *uuid.bytes()),
        None if name.starts_with(MARK) => out.push_str(&json(&format!("{MARK}{name}"))),
        None => out.push_str(&json(&name)),
    }
}

/// The name that was written.
pub(super) fn read(written: &str) -> Result<Arc<str>, Unreadable> {
    match written.strip_prefix(MARK) {
        None => Ok(written.into()),
        Some(name) if name.starts_with(MARK) => Ok(name.into()),
        Some(digits) => {
            let uuid = uuid(digits).and_then(JobId::from_bytes).ok_or(Unreadable)?;
            Ok(format!("{MADE_HERE}{uuid}").into())
        }
    }
}

fn write_digits(out: &mut String, uuid: [u8; 16]) {
    let mut rest = u128::from_be_bytes(uuid);
    let mut digits = [0; DIGITS_OF_UUID];
    for digit in &mut digits {
        // Six bits are less than 64.
        *digit = DIGITS[(rest & 63) as usize];
        rest >>= 6;
    }
    out.push_str("\"=");
    out.extend(digits.map(char::from));
    out.push('"');
}

fn uuid(digits: &str) -> Option<[u8; 16]> {
    if digits.len() != DIGITS_OF_UUID {
        return None;
    }
    let mut number: u128 = 0;
    for digit in digits.bytes().rev() {
        let value = DIGITS.iter().position(|known| *known == digit)?;
        number = number.checked_mul(64)?.checked_add(value as u128)?;
    }
    Some(number.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str) -> String {
        let mut out = String::new();
        write(&mut out, name);
        serde_json::from_str(&out).unwrap()
    }

    fn check(name: &str, short: &str) {
        assert_eq!(written(name), short);
        assert_eq!(&*read(short).unwrap(), name);
    }

    #[test]
    fn a_name_made_here_takes_half_the_room() {
        check("req_00000000-0000-7000-8000-000000000000", "=000000000080l100000000");
        let name = "req_ffffffff-ffff-7fff-bfff-ffffffffffff";
        assert_eq!(written(name).len(), 23);
        assert_eq!(&*read(&written(name)).unwrap(), name);
    }

    #[test]
    fn other_names_stay_as_they_are() {
        for name in ["", "r-1", "req_1", "req_550e8400-e29b-41d4-a716-446655440000", "a=b", "\"\\\n\u{1}é"] {
            check(name, name);
        }
        check("=1", "==1");
        check("==", "===");
    }

    #[test]
    fn what_is_no_uuid_is_damage() {
        for written in
            ["=", "=0", "=0000000000000000000000", "=----------------------", "=!00000000080l100000000"]
        {
            assert!(read(written).is_err(), "{written}");
        }
    }
}
