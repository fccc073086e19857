//! A value of the body together with its place: every reading of it can say what was wrong where.

use hapax_core::WorkerId;
use hapax_core::json::Node;

use super::near_miss::near_miss;
use super::{Fault, Place};

/// Most names of a list in which each is compared with the others.
const NAMES_MAX: usize = 256;

/// A value and where it stood.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'n, 'a> {
    /// The value.
    pub(crate) node: &'n Node<'a>,
    /// Where it stood.
    pub(crate) place: Place<'n>,
}

impl<'n, 'a> Given<'n, 'a> {
    /// The body, which has to be an object.
    pub(crate) fn body(node: &'n Node<'a>) -> Result<Given<'n, 'a>, Fault> {
        let given = Given { node, place: Place::Body };
        given.expect_object("a JSON object")?;
        Ok(given)
    }

    /// The member of that name; null counts as absent.
    pub(crate) fn member<'m>(&'m self, name: &'m str) -> Option<Given<'m, 'a>> {
        let node = self.node.get(name).filter(|node| !node.is_null())?;
        Some(Given { node, place: Place::Member(&self.place, name) })
    }

    /// The member of that name, which has to be there.
    pub(crate) fn required<'m>(&'m self, name: &'m str, wanted: &str) -> Result<Given<'m, 'a>, Fault> {
        self.member(name).ok_or_else(|| Fault::missing(Place::Member(&self.place, name), wanted))
    }

    /// A string.
    pub(crate) fn text(&self, wanted: &str) -> Result<&'n str, Fault> {
        self.node.as_str().ok_or_else(|| self.wrong(wanted))
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self) -> Result<bool, Fault> {
        self.node.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    /// An integer within the bounds.
    pub(crate) fn integer(&self, least: i64, most: i64) -> Result<i64, Fault> {
        match self.node.as_i64() {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            Some(number) if number < least => {
                Err(Fault::new(self.place, format_args!("must be at least {least}, not {number}")))
            }
            Some(number) => Err(Fault::new(self.place, format_args!("must be at most {most}, not {number}"))),
            None if self.node.as_f64().is_some() => {
                Err(Fault::new(self.place, format_args!("must be an integer from {least} to {most}")))
            }
            None => Err(self.wrong("an integer")),
        }
    }

    /// The items of an array.
    pub(crate) fn items<'m>(&'m self, wanted: &str) -> Result<impl Iterator<Item = Given<'m, 'a>>, Fault> {
        let items = self.node.as_array().ok_or_else(|| self.wrong(wanted))?;
        let given = |(index, node)| Given { node, place: Place::Item(&self.place, index) };
        Ok(items.iter().enumerate().map(given))
    }

    /// An array of strings.
    pub(crate) fn texts(&self) -> Result<Vec<Box<str>>, Fault> {
        self.items("an array of strings")?.map(|item| item.text("a string").map(Box::from)).collect()
    }

    /// A short array of strings, none twice.
    pub(crate) fn names(&self) -> Result<Vec<Box<str>>, Fault> {
        if self.node.as_array().is_some_and(|items| items.len() > NAMES_MAX) {
            return Err(Fault::new(self.place, format_args!("must have at most {NAMES_MAX} items")));
        }
        let names = self.texts()?;
        match (1..names.len()).find(|index| names[..*index].contains(&names[*index])) {
            Some(index) => {
                Err(Fault::new(Place::Item(&self.place, index), format_args!("repeats {:?}", names[index])))
            }
            None => Ok(names),
        }
    }

    /// Refuses anything but an object.
    pub(crate) fn expect_object(&self, wanted: &str) -> Result<(), Fault> {
        self.node.as_object().map(|_| ()).ok_or_else(|| self.wrong(wanted))
    }

    /// Refuses members of other names: a misspelt one would silently not be there.
    pub(crate) fn expect_only(&self, known: &[&str]) -> Result<(), Fault> {
        let names = self.node.as_object().unwrap_or_default().iter().map(|member| member.name.as_ref());
        match names.into_iter().find(|name| !known.contains(name)) {
            Some(name) => Err(Fault::unknown(Place::Member(&self.place, name), "member", name, known)),
            None => Ok(()),
        }
    }

    /// Refuses members whose names are nearly known ones. Others are let pass: those who speak the protocol in their own
    /// way send facts of their own.
    pub(crate) fn refuse_near_misses(&self, known: &[&str]) -> Result<(), Fault> {
        for member in self.node.as_object().unwrap_or_default() {
            let name = member.name.as_ref();
            if known.contains(&name) || member.node.is_null() {
                continue;
            }
            if let Some(meant) = near_miss(name, known.iter().copied()) {
                return Err(Fault::misspelt(Place::Member(&self.place, name), name, meant));
            }
        }
        Ok(())
    }

    /// A worker's name.
    pub(crate) fn worker(&self) -> Result<WorkerId, Fault> {
        WorkerId::parse(self.text("the name of a worker")?).ok_or_else(|| {
            let most = WorkerId::LENGTH_MAX;
            Fault::new(self.place, format_args!("must have 1 to {most} bytes and no control characters"))
        })
    }

    /// The value is not of the wanted kind.
    pub(crate) fn wrong(&self, wanted: &str) -> Fault {
        Fault::kind(self.place, wanted, self.node)
    }
}
