//! Job ids as clients choose them: UUIDs of version 7.

use crate::{Random, clock};

/// A new id.
pub fn fresh(random: &mut Random) -> String {
    let ms = clock::unix_ms();
    let (a, b) = (random.bits(), random.bits());
    let variant = 0x8000 | (a >> 16) & 0x3fff;
    format!(
        "{:08x}-{:04x}-7{:03x}-{variant:04x}-{:012x}",
        (ms >> 16) & 0xffff_ffff,
        ms & 0xffff,
        a & 0xfff,
        b & 0xffff_ffff_ffff
    )
}

/// Whether a text is an id as the server must write it.
pub fn is_id(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let hex = |part: &&str| part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    lengths == [8, 4, 4, 4, 12]
        && parts.iter().all(hex)
        && parts[2].starts_with('7')
        && parts[3].starts_with(['8', '9', 'a', 'b'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_ids_are_ids_and_differ() {
        let mut random = Random::new(7);
        let (a, b) = (fresh(&mut random), fresh(&mut random));
        assert!(is_id(&a) && is_id(&b) && a != b, "{a} {b}");
        assert!(!is_id("0198e4a0-0000-4000-8000-000000000000"));
    }
}
