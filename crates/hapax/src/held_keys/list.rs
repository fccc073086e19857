//! The keys that are held, oldest first, page by page.

use std::time::Duration;

use serde::Deserialize;

use super::keys;
use crate::cli::Filter;
use crate::client::ApiPath;
use crate::failure::Failure;
use crate::output::{Table, Text, plural, span};
use crate::session::Session;

/// Size of a page when all are wanted: the largest that the server gives.
const PAGE_MAX: u32 = 1000;

/// A page of keys.
#[derive(Debug, Deserialize)]
struct Page {
    keys: Vec<Holding>,
    /// How many are held in all, whatever was asked for.
    held: Option<u64>,
    pagination: Pagination,
}

#[derive(Debug, Deserialize)]
struct Holding {
    key: Text,
    job_id: Text,
    #[serde(rename = "type")]
    job_type: Text,
    queue: Text,
    state: Text,
    held_for_ms: u64,
    job_key: Option<Text>,
    duplicates: Option<Duplicates>,
}

#[derive(Debug, Deserialize)]
struct Duplicates {
    count: u64,
}

#[derive(Debug, Deserialize)]
struct Pagination {
    has_more: bool,
    /// As it came, because it is sent back.
    next_cursor: Option<String>,
}

/// Lists a page, or all of them.
pub(super) fn run(session: &Session, filter: &Filter) -> Result<(), Failure> {
    let mut listing = Listing { filter, table: new_table(), shown: 0 };
    if filter.all {
        return follow(session, &mut listing);
    }
    let reply = session.client.get(&path(filter, filter.cursor.as_deref()))?;
    session.print(&reply, |reply| Ok(listing.for_eyes(&reply.read()?)))
}

/// Page after page. It ends because cursors only go forward.
fn follow(session: &Session, listing: &mut Listing<'_>) -> Result<(), Failure> {
    let mut cursor = listing.filter.cursor.clone();
    loop {
        let reply = session.client.get(&path(listing.filter, cursor.as_deref()))?;
        let page: Page = reply.read()?;
        session.print(&reply, |_| Ok(listing.for_eyes(&page)))?;
        let Pagination { has_more, next_cursor } = page.pagination;
        if !has_more {
            return Ok(());
        }
        if next_cursor.is_none() || next_cursor == cursor {
            return Err(Failure::new("the server says that there are more keys, but not where"));
        }
        cursor = next_cursor;
    }
}

fn path(filter: &Filter, cursor: Option<&str>) -> ApiPath {
    let Filter { job_type, queue, older_than, limit, cursor: _, all } = filter;
    keys()
        .parameter("type", job_type.as_ref())
        .parameter("queue", queue.as_ref())
        .parameter("older_than", older_than.as_ref())
        .parameter("limit", limit.or_else(|| all.then_some(PAGE_MAX)))
        .parameter("cursor", cursor)
}

fn new_table() -> Table {
    Table::new(&["HELD FOR", "STATE", "TYPE", "QUEUE", "DUPLICATES", "JOB", "KEY", "JOB KEY"])
}

/// What was printed so far.
struct Listing<'f> {
    filter: &'f Filter,
    table: Table,
    shown: u64,
}

impl Listing<'_> {
    /// The next page, and after the last one how many there were.
    fn for_eyes(&mut self, page: &Page) -> String {
        page.keys.iter().for_each(|held| self.table.row(held.row()));
        self.shown += page.keys.len() as u64;
        let lines = if self.shown > 0 { self.table.take_lines() } else { String::new() };
        let is_last = !self.filter.all || !page.pagination.has_more;
        if is_last { lines + &self.summary(page) } else { lines }
    }

    fn summary(&self, page: &Page) -> String {
        let total = page.held.map_or_else(String::new, |held| format!(" of {held} that are held"));
        let next = match &page.pagination.next_cursor {
            Some(cursor) if page.pagination.has_more => {
                format!("; the next page: --cursor {}, all pages: --all", Text::new(cursor))
            }
            _ => String::new(),
        };
        match self.shown {
            0 if page.held.unwrap_or(0) == 0 => "no key is held\n".into(),
            0 => format!("none{total}\n"),
            shown => format!("\n{}{total}{next}\n", plural(shown, "key")),
        }
    }
}

impl Holding {
    fn row(&self) -> Vec<String> {
        let Holding { key, job_id, job_type, queue, state, held_for_ms, job_key, duplicates } = self;
        vec![
            span(Duration::from_millis(*held_for_ms)),
            state.to_string(),
            job_type.to_string(),
            queue.to_string(),
            duplicates.as_ref().map_or(0, |duplicates| duplicates.count).to_string(),
            job_id.to_string(),
            key.to_string(),
            job_key.as_ref().map_or_else(String::new, Text::to_string),
        ]
    }
}

#[cfg(test)]
mod tests;
