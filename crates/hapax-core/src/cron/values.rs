//! A set of the small numbers that a field of an expression can hold.

/// Numbers from 0 to 63.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Values(u64);

const VALUE_MAX: i8 = 63;

impl Values {
    /// The values from the first to the last.
    pub(super) fn range(first: i8, last: i8) -> Values {
        (first..=last).collect()
    }

    pub(super) fn insert(&mut self, value: i8) {
        debug_assert!((0..=VALUE_MAX).contains(&value), "{value}");
        self.0 |= 1 << value;
    }

    pub(super) fn contains(self, value: i8) -> bool {
        self.at_or_after(value) == Some(value)
    }

    pub(super) fn at_or_after(self, value: i8) -> Option<i8> {
        if value > VALUE_MAX {
            return None;
        }
        let rest = self.0 & (u64::MAX << value.max(0));
        if rest == 0 { None } else { i8::try_from(rest.trailing_zeros()).ok() }
    }

    pub(super) fn first(self) -> Option<i8> {
        self.at_or_after(0)
    }

    pub(super) fn iter(self) -> impl Iterator<Item = i8> {
        std::iter::successors(self.first(), move |value| self.at_or_after(value + 1))
    }

    pub(super) fn union(self, other: Values) -> Values {
        Values(self.0 | other.0)
    }
}

impl FromIterator<i8> for Values {
    fn from_iter<T: IntoIterator<Item = i8>>(values: T) -> Values {
        values.into_iter().fold(Values::default(), |mut set, value| {
            set.insert(value);
            set
        })
    }
}
