//! The server's explanation, and how it reads.

use hapax_core::Timestamp;
use serde::Deserialize;

use crate::client::Told;
use crate::output::{Moment, Table, Text, facts, joined, plural};

/// What would happen to a job, and why.
#[derive(Debug, Deserialize)]
pub(super) struct Explanation {
    outcome: Text,
    unique: bool,
    rule: Rule,
    key: Option<Text>,
    canonical: Option<Text>,
    #[serde(default)]
    states: Vec<Text>,
    period: Option<Text>,
    period_from: Option<Text>,
    job_id: Option<Text>,
    #[serde(default)]
    replaced: Vec<Text>,
    #[serde(default)]
    updated: Vec<Text>,
    waits_for: Option<Text>,
    error: Option<Told>,
    #[serde(default)]
    holders: Vec<Holder>,
    #[serde(default)]
    holders_live: u64,
    #[serde(default)]
    holders_ended: u64,
    free: Option<Free>,
}

#[derive(Debug, Deserialize)]
struct Rule {
    name: Text,
    text: Text,
}

#[derive(Debug, Deserialize)]
struct Holder {
    job_id: Text,
    state: Text,
    #[serde(rename = "type")]
    job_type: Text,
    queue: Text,
    created_at: Moment,
    counts: bool,
    why: Text,
}

#[derive(Debug, Deserialize)]
struct Free {
    at: Option<Moment>,
    text: Text,
}

impl Explanation {
    /// What would happen in the first line, then the rule, the key and the jobs that carry it.
    pub(super) fn for_eyes(&self, now: Timestamp) -> String {
        let mut text = format!("{}: {}\n", self.outcome, self.consequence());
        text.push_str(&facts(&self.facts(now)));
        if self.unique {
            text.push_str(&self.holders(now));
        }
        text
    }

    fn consequence(&self) -> String {
        let holder = || self.job_id.as_ref().map_or_else(|| "another job".into(), |id| format!("job {id}"));
        match self.outcome.as_str() {
            "created" => match &self.waits_for {
                Some(id) => format!("the job would be enqueued, and wait until job {id} has ended"),
                None if self.unique => "the job would be enqueued".into(),
                None => "the job would be enqueued; it is not unique, so nothing stands against it".into(),
            },
            "existing" => format!("no job would be added; {} would be the answer", holder()),
            "replaced" => format!("the job would take the place of {}", joined(&self.replaced)),
            "updated" => {
                let what = if self.updated.is_empty() {
                    "nothing, it says the same"
                } else {
                    &joined(&self.updated)
                };
                format!("no job would be added; {} would take over: {what}", holder())
            }
            "rejected" => match &self.error {
                Some(error) => format!("the enqueue would be refused ({}): {}", error.code, error.sentence()),
                None => format!("the enqueue would be refused because of {}", holder()),
            },
            _ => "this version of the command does not know that outcome; --json shows all of it".into(),
        }
    }

    fn facts(&self, now: Timestamp) -> Vec<(&'static str, String)> {
        let Rule { name, text } = &self.rule;
        let mut facts = vec![("rule", format!("{name}: {text}"))];
        facts.extend(self.key.as_ref().map(|key| ("key", key.to_string())));
        facts.extend(self.canonical.as_ref().map(|canonical| ("canonical", canonical.to_string())));
        if !self.states.is_empty() {
            facts.push(("states", joined(&self.states)));
        }
        facts.extend(self.period.as_ref().map(|period| {
            let from = self.period_from.as_ref().map_or_else(String::new, |from| format!(" from {from}"));
            ("period", format!("{period}{from}"))
        }));
        facts.extend(self.free.as_ref().map(|free| ("free", free.for_eyes(now))));
        facts
    }

    fn holders(&self, now: Timestamp) -> String {
        let Explanation { holders, holders_live: live, holders_ended: ended, .. } = self;
        if holders.is_empty() {
            return "\nno job carries the key\n".into();
        }
        let mut table = Table::new(&["JOB", "STATE", "TYPE", "QUEUE", "AGE", "COUNTS", "WHY"]);
        for Holder { job_id, state, job_type, queue, created_at, counts, why } in holders {
            let counts = if *counts { "yes" } else { "no" };
            let age = created_at.age(now);
            table.row(
                [
                    job_id.as_str(),
                    state.as_str(),
                    job_type.as_str(),
                    queue.as_str(),
                    &age,
                    counts,
                    why.as_str(),
                ]
                .map(str::to_owned)
                .to_vec(),
            );
        }
        let shown = holders.len() as u64;
        let newest = if shown < live + ended { format!("; the newest {shown}:") } else { ":".into() };
        format!(
            "\n{} with this key, {live} live and {ended} ended{newest}\n{}",
            plural(live + ended, "job"),
            table.take_lines()
        )
    }
}

impl Free {
    fn for_eyes(&self, now: Timestamp) -> String {
        match self.at {
            Some(at) => at.told(&self.text, now),
            None => self.text.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
