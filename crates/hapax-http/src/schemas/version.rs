//! Versions of a schema, in an order: whole numbers and semantic versions in one.

use std::cmp::Ordering;

/// Numbers of a version at most; what stands beyond them is compared as text.
const NUMBERS_MAX: usize = 3;

/// A version as far as order goes: `2`, `2.0` and `2.0.0+build` are the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Version {
    /// Not made of numbers: before all that are.
    Word(Box<str>),
    /// Made of numbers, perhaps with what stands after a hyphen: that is a version before the one without.
    Numbers([u64; NUMBERS_MAX], Option<Box<str>>),
}

impl Version {
    /// What the text says.
    pub(crate) fn parse(text: &str) -> Version {
        let core = text.split_once('+').map_or(text, |(before, _build)| before);
        let (core, before) = core.split_once('-').map_or((core, None), |(core, tag)| (core, Some(tag)));
        let mut numbers = [0; NUMBERS_MAX];
        let mut places = numbers.iter_mut();
        for part in core.split('.') {
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            match (places.next(), part.parse()) {
                (Some(place), Ok(number)) if is_number => *place = number,
                _ => return Version::Word(text.into()),
            }
        }
        Version::Numbers(numbers, before.map(Box::from))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        match (self, other) {
            (Version::Word(one), Version::Word(another)) => one.cmp(another),
            (Version::Word(_), Version::Numbers(..)) => Ordering::Less,
            (Version::Numbers(..), Version::Word(_)) => Ordering::Greater,
            (Version::Numbers(one, tag), Version::Numbers(another, other_tag)) => {
                one.cmp(another).then_with(|| match (tag, other_tag) {
                    (None, None) => Ordering::Equal,
                    (None, Some(_)) => Ordering::Greater,
                    (Some(_), None) => Ordering::Less,
                    (Some(tag), Some(other)) => by_parts(tag, other),
                })
            }
        }
    }
}

/// Semantic Versioning 11.4: part by part, numbers as numbers and before words, the shorter one first.
fn by_parts(one: &str, another: &str) -> Ordering {
    let part = |text: &str| text.parse::<u64>().map_err(|_| text.to_owned());
    let (mut ones, mut others) = (one.split('.').map(part), another.split('.').map(part));
    loop {
        let order = match (ones.next(), others.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            // A number is `Ok`, which is less than `Err`.
            (Some(one), Some(another)) => one.cmp(&another),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_stand_in_the_order_of_semantic_versioning() {
        let ordered = [
            "draft",
            "v2",
            "0.9",
            "1.0.0-1",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1",
            "1.0.1",
            "2",
            "10.0.0",
        ];
        let versions = ordered.map(Version::parse);
        for pair in versions.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
    }

    #[test]
    fn zeros_and_builds_make_no_other_version() {
        for same in ["2", "2.0", "2.0.0", "2+a", "2.0.0+b.1"] {
            assert_eq!(Version::parse(same), Version::parse("2"), "{same}");
        }
        assert_ne!(Version::parse("2.0.0.0"), Version::parse("2"), "four numbers are a word");
    }
}
