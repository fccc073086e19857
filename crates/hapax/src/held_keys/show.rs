//! One key: the jobs that carry it, and until when they hold it.

use std::fmt::Write as _;

use hapax_core::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::keys;
use crate::cli::Show;
use crate::client::Reply;
use crate::failure::Failure;
use crate::output::{Moment, Table, Text, joined, plural};
use crate::session::Session;

/// A key and its holders, newest first.
#[derive(Debug, Deserialize)]
pub(super) struct Carried {
    key: Text,
    held: bool,
    holders_live: u64,
    holders_ended: u64,
    holders: Vec<Holder>,
}

#[derive(Debug, Deserialize)]
struct Holder {
    job_id: Text,
    state: Text,
    #[serde(rename = "type")]
    job_type: Text,
    queue: Text,
    created_at: Moment,
    held: bool,
    job_key: Option<Text>,
    unique: Option<Policy>,
    duplicates: Option<Duplicates>,
    free: Option<Free>,
}

#[derive(Debug, Deserialize)]
struct Policy {
    on_conflict: Option<Text>,
    debounce: Option<IgnoredAny>,
    while_active: Option<Text>,
}

#[derive(Debug, Deserialize)]
struct Duplicates {
    count: u64,
}

#[derive(Debug, Deserialize)]
struct Free {
    at: Option<Moment>,
    #[serde(default)]
    states: Vec<Text>,
}

/// Shows the key.
pub(super) fn run(session: &Session, show: &Show) -> Result<(), Failure> {
    let Show { key, limit } = show;
    let reply = session.client.get(&keys().segment(key.as_str()).parameter("limit", *limit))?;
    session.print(&reply, |reply| for_eyes(reply, session.now))
}

/// What the server says about a key.
pub(super) fn for_eyes(reply: &Reply, now: Timestamp) -> Result<String, Failure> {
    Ok(reply.read::<Carried>()?.for_eyes(now))
}

impl Carried {
    fn for_eyes(&self, now: Timestamp) -> String {
        let Carried { key, held, holders_live, holders_ended, holders } = self;
        let state = if *held { "held" } else { "free" };
        let jobs = plural(holders_live + holders_ended, "job");
        // The key is made of the job key and of nothing else: all have the same one.
        let job_key = holders.iter().find_map(|holder| holder.job_key.as_ref());
        let job_key = job_key.map_or_else(String::new, |job_key| format!(", the job key {job_key}"));
        let mut text = format!(
            "{state}: {key}{job_key}\n{jobs} with this key, {holders_live} live and {holders_ended} ended\n\n"
        );
        let mut table =
            Table::new(&["JOB", "STATE", "TYPE", "QUEUE", "CREATED", "HOLDS", "DUPLICATES", "RULE", "UNTIL"]);
        for holder in holders {
            table.row(holder.row(now));
        }
        text.push_str(&table.take_lines());
        if (holders.len() as u64) < holders_live + holders_ended {
            let _infallible = writeln!(text, "\nthe newest {}; more with --limit", holders.len());
        }
        text
    }
}

impl Holder {
    fn row(&self, now: Timestamp) -> Vec<String> {
        let Holder { job_id, state, job_type, queue, created_at, held, job_key, unique, duplicates, free } =
            self;
        let rule = match (job_key, unique) {
            (Some(_), _) => "job_key".to_owned(),
            (None, Some(policy)) => policy.rule(),
            (None, None) => String::new(),
        };
        vec![
            job_id.to_string(),
            state.to_string(),
            job_type.to_string(),
            queue.to_string(),
            created_at.shown(now),
            if *held { "yes" } else { "no" }.to_owned(),
            duplicates.as_ref().map_or(0, |duplicates| duplicates.count).to_string(),
            rule,
            free.as_ref().map_or_else(String::new, |free| free.for_eyes(now)),
        ]
    }
}

impl Policy {
    fn rule(&self) -> String {
        let Policy { on_conflict, debounce, while_active } = self;
        let debounce = debounce.as_ref().map(|IgnoredAny| "debounce");
        let named = debounce.or(while_active.as_ref().or(on_conflict.as_ref()).map(Text::as_str));
        named.unwrap_or_default().to_owned()
    }
}

impl Free {
    fn for_eyes(&self, now: Timestamp) -> String {
        let states = (!self.states.is_empty()).then(|| joined(&self.states));
        match (self.at.map(|at| at.shown(now)), states) {
            (Some(at), Some(states)) => format!("{at}, or {states}"),
            (at, states) => at.or(states).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests;
