//! A key is taken from every job that carries it.

use std::fmt::Write as _;

use serde::Deserialize;

use super::consent::Consent;
use super::{keys, show};
use crate::cli::Release;
use crate::client::Reply;
use crate::failure::Failure;
use crate::output::{Table, Text, plural};
use crate::session::Session;

/// The jobs that gave the key up.
#[derive(Debug, Deserialize)]
struct Outcome {
    key: Text,
    released: Vec<Job>,
    #[serde(default)]
    remaining: u64,
}

#[derive(Debug, Deserialize)]
struct Job {
    job_id: Text,
    state: Text,
}

/// Releases the key, after a question that shows who holds it.
pub(super) fn run(session: &Session, release: &Release) -> Result<(), Failure> {
    let Release { key, reason, confirmation } = release;
    let consent = Consent::find(confirmation);
    let path = keys().segment(key.as_str());
    if consent == Consent::ToBeAsked {
        eprintln!("{}", show::for_eyes(&session.client.get(&path)?, session.now)?);
    }
    consent
        .obtain("Take the key from these jobs? They go on, and an equal job may be enqueued beside them.")?;
    let body = match reason {
        Some(reason) => serde_json::json!({ "reason": reason }).to_string().into_bytes(),
        None => Vec::new(),
    };
    let reply = session.client.post(&path.segment("release"), body)?;
    session.print(&reply, for_eyes)
}

fn for_eyes(reply: &Reply) -> Result<String, Failure> {
    Ok(reply.read::<Outcome>()?.for_eyes())
}

impl Outcome {
    fn for_eyes(&self) -> String {
        let Outcome { key, released, remaining } = self;
        let jobs = plural(released.len() as u64, "job");
        let mut table = Table::new(&["JOB", "STATE"]);
        for Job { job_id, state } in released {
            table.row(vec![job_id.to_string(), state.to_string()]);
        }
        let mut text = format!("released: {key}\n{jobs} gave it up and went on\n\n{}", table.take_lines());
        if *remaining > 0 {
            let left = plural(*remaining, "job");
            let advice = "the same command takes it from the next ones";
            let _infallible = writeln!(text, "\n{left} with this key left: {advice}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(json: &str) -> String {
        serde_json::from_str::<Outcome>(json).unwrap().for_eyes()
    }

    #[test]
    fn who_gave_the_key_up_is_listed() {
        let json = r#"{"key":"ab","released":[{"job_id":"1","state":"active"}],"remaining":0}"#;
        assert_eq!(shown(json), "released: ab\n1 job gave it up and went on\n\nJOB  STATE\n1    active\n");
    }

    #[test]
    fn what_is_left_is_told() {
        let json = r#"{"key":"ab","released":[{"job_id":"1","state":"active"}],"remaining":7}"#;
        assert!(
            shown(json)
                .ends_with("\n7 jobs with this key left: the same command takes it from the next ones\n")
        );
    }
}
