//! Names that are nearly those of known members: whoever wrote one of them meant the other.

use hapax_core::nearest;

/// Shorter names are near to too many words that mean something of their own.
const KNOWN_CHARS_MIN: usize = 4;

/// The known name that was probably meant by an unknown one.
pub(super) fn near_miss<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let long: Vec<&str> = known.into_iter().filter(|known| known.len() >= KNOWN_CHARS_MIN).collect();
    nearest(name, &long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_near_to_nothing() {
        assert_eq!(near_miss("uid", ["id", "pid"]), None);
        assert_eq!(near_miss("queu", ["id", "queue"]), Some("queue"));
        assert_eq!(near_miss("runtime", ["queues", "count", "wait_ms"]), None);
    }
}
