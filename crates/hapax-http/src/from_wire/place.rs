//! Where in the body a value stood, for messages.

use std::fmt;

/// A path from the body down to a value. Kept as links, since it becomes text only when something is wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'p> {
    /// The body itself.
    Body,
    /// A member of the object at that place.
    Member(&'p Place<'p>, &'p str),
    /// An item of the array at that place.
    Item(&'p Place<'p>, usize),
    /// Somewhere inside the value at that place, as others wrote it: `[0].to`.
    Path(&'p Place<'p>, &'p str),
}

impl Place<'_> {
    /// Which item of the outermost array it is in, or is: the job of a batch.
    pub(crate) fn index(&self) -> Option<usize> {
        match self {
            Place::Body => None,
            Place::Member(parent, _) | Place::Path(parent, _) => parent.index(),
            Place::Item(parent, index) => parent.index().or(Some(*index)),
        }
    }
}

/// The longest member name that a message repeats.
const NAME_CHARS_MAX: usize = 60;

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Body => f.write_str("the body"),
            Place::Member(Place::Body, name) => shortened(name, f),
            Place::Member(parent, name) => {
                write!(f, "{parent}.")?;
                shortened(name, f)
            }
            Place::Item(parent, index) => write!(f, "{parent}[{index}]"),
            Place::Path(parent, path) => {
                write!(f, "{parent}")?;
                shortened(path, f)
            }
        }
    }
}

fn shortened(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match name.char_indices().nth(NAME_CHARS_MAX) {
        None => f.write_str(name),
        Some((end, _)) => write!(f, "{}…", &name[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_like_a_path() {
        let jobs = Place::Member(&Place::Body, "jobs");
        let third = Place::Item(&jobs, 2);
        let unique = Place::Member(&third, "unique");
        let key = Place::Item(&unique, 0);
        assert_eq!(key.to_string(), "jobs[2].unique[0]");
        assert_eq!(Place::Body.to_string(), "the body");
        assert_eq!(key.index(), Some(2));
        assert_eq!(Place::Member(&Place::Body, "args").index(), None);
        let long = "x".repeat(70);
        assert_eq!(Place::Member(&Place::Body, &long).to_string(), format!("{}…", "x".repeat(60)));
    }
}
