//! Lists of entries: those that fit, counted from a place on.

use std::sync::Arc;

use hapax_store::{Entry, EntryPage, EntryQuery, Register};

use crate::{Broker, Error};

/// How many entries one request looks at most, fitting or not.
pub const ENTRIES_LOOKED_AT_MAX: usize = 10_000;
/// How many are read at once.
const ENTRIES_PER_LOOK: usize = 500;

/// Which part of a list of entries.
#[derive(Debug, Clone, Default)]
pub struct EntryPart {
    /// Only names after this one.
    pub after: Option<Arc<str>>,
    /// So many of those that fit are left out.
    pub skipped: usize,
    /// At most so many.
    pub limit: usize,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Found<T> {
    pub(crate) items: Vec<T>,
    /// Behind which name others may follow. A part may be short, even empty, and others follow:
    /// [`ENTRIES_LOOKED_AT_MAX`] ends it early.
    pub(crate) next: Option<Arc<str>>,
    /// How many fit in all, if that is known without looking at all of them.
    pub(crate) total: Option<u64>,
}

impl Broker {
    /// Entries of a register by name, as far as they can be read.
    pub(crate) async fn list_entries<T>(
        &self,
        register: Register,
        part: EntryPart,
        read: impl Fn(&Entry) -> Result<T, Error>,
    ) -> Result<Found<T>, Error> {
        let EntryPart { mut after, mut skipped, limit } = part;
        loop {
            let count = if skipped == 0 { limit } else { skipped.min(ENTRIES_PER_LOOK) };
            let EntryPage { entries, has_more, total } = self.entries(register, after, count).await?;
            let last = entries.last().map(|entry| Arc::clone(&entry.key.name));
            if skipped == 0 || entries.is_empty() {
                let next = last.filter(|_| has_more);
                return Ok(Found { items: Broker::read_all(&entries, read), next, total: Some(total) });
            }
            skipped -= entries.len();
            after = last;
        }
    }

    /// Those of them that fit. How many fit is known where the look reached both ends of the register.
    pub(crate) async fn pick_entries<T>(
        &self,
        register: Register,
        part: EntryPart,
        read: impl Fn(&Entry) -> Result<T, Error>,
        fits: impl Fn(&T) -> bool,
    ) -> Result<Found<T>, Error> {
        let EntryPart { mut after, skipped, limit } = part;
        let is_from_start = after.is_none();
        let (mut items, mut met, mut shown_last) = (Vec::new(), 0, None);
        for _ in 0..ENTRIES_LOOKED_AT_MAX / ENTRIES_PER_LOOK {
            let query = EntryQuery { register, prefix: "".into(), after, limit: ENTRIES_PER_LOOK };
            let page = self.shared.store.entries(query).await?;
            after = page.entries.last().map(|entry| Arc::clone(&entry.key.name));
            for entry in &page.entries {
                let read = Broker::read_all(std::slice::from_ref(entry), &read);
                for item in read.into_iter().filter(&fits) {
                    met += 1;
                    if items.len() == limit {
                        return Ok(Found { items, next: shown_last, total: None });
                    }
                    if met > skipped {
                        items.push(item);
                        shown_last = Some(Arc::clone(&entry.key.name));
                    }
                }
            }
            if !page.has_more {
                let total = Some(met as u64).filter(|_| is_from_start);
                return Ok(Found { items, next: None, total });
            }
        }
        Ok(Found { items, next: after, total: None })
    }
}

#[cfg(test)]
mod tests {
    use hapax_store::EntryKey;

    use super::*;
    use crate::testing::rig;

    /// Names on a page, where to go on, and how many there are.
    type Shown = (String, Option<String>, Option<u64>);

    fn shown(found: Found<String>) -> Shown {
        (found.items.concat(), found.next.map(|name| name.to_string()), found.total)
    }

    fn part(after: Option<&str>, skipped: usize, limit: usize) -> EntryPart {
        EntryPart { after: after.map(Arc::from), skipped, limit }
    }

    async fn letters() -> Broker {
        let broker = rig().broker;
        for name in ["a", "b", "c", "d", "e"] {
            broker.make_entry(EntryKey::new(Register::Pool, name), name.into()).await.unwrap();
        }
        broker
    }

    fn read(entry: &Entry) -> Result<String, Error> {
        if &*entry.written.body == "?" {
            return Err(entry.key.damaged().into());
        }
        Ok(entry.written.body.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn a_part_begins_behind_a_name_or_after_so_many() {
        let broker = letters().await;
        for (part, expected) in [
            (part(None, 0, 2), ("ab", Some("b"), Some(5))),
            (part(None, 3, 2), ("de", None, Some(5))),
            (part(None, 9, 2), ("", None, Some(5))),
            (part(Some("b"), 0, 2), ("cd", Some("d"), Some(5))),
        ] {
            let found = broker.list_entries(Register::Pool, part.clone(), read).await.unwrap();
            let (names, next, total) = expected;
            assert_eq!(shown(found), (names.into(), next.map(str::to_owned), total), "{part:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn those_that_fit_are_counted_where_the_look_saw_all() {
        let broker = letters().await;
        broker.make_entry(EntryKey::new(Register::Pool, "bb"), "?".into()).await.unwrap();
        let is_odd = |name: &String| ["a", "c", "e"].contains(&name.as_str());
        for (part, expected) in [
            (part(None, 0, 2), ("ac", Some("c"), None)),
            (part(None, 0, 3), ("ace", None, Some(3))),
            (part(None, 2, 2), ("e", None, Some(3))),
            (part(Some("a"), 0, 9), ("ce", None, None)),
        ] {
            let found = broker.pick_entries(Register::Pool, part.clone(), read, is_odd).await.unwrap();
            let (names, next, total) = expected;
            assert_eq!(shown(found), (names.into(), next.map(str::to_owned), total), "{part:?}");
        }
    }
}
