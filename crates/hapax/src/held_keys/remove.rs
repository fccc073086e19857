//! The job that holds a job key is removed.

use serde::Deserialize;

use super::consent::Consent;
use crate::cli::Remove;
use crate::client::{ApiPath, Reply};
use crate::failure::Failure;
use crate::output::{Text, facts, joined, plural};
use crate::session::Session;

/// What became of the jobs that held the job key.
#[derive(Debug, Deserialize)]
struct Outcome {
    job_key: Text,
    #[serde(default)]
    removed: Vec<Text>,
    #[serde(default)]
    released: Vec<Text>,
}

/// Removes the job, after a question.
pub(super) fn run(session: &Session, remove: &Remove) -> Result<(), Failure> {
    let Remove { name, confirmation } = remove;
    let question = format!(
        "Remove the job with the job key {name:?}? One that a worker has keeps running, without its retries."
    );
    Consent::find(confirmation).obtain(&question)?;
    let reply = session.client.delete(&ApiPath::new("/ojs/v1/job-keys").segment(name))?;
    session.print(&reply, for_eyes)
}

fn for_eyes(reply: &Reply) -> Result<String, Failure> {
    Ok(reply.read::<Outcome>()?.for_eyes())
}

impl Outcome {
    fn for_eyes(&self) -> String {
        let Outcome { job_key, removed, released } = self;
        let mut found = Vec::new();
        if !removed.is_empty() {
            found.push(("gone", joined(removed)));
        }
        if !released.is_empty() {
            found.push(("running on", format!("{}, without the key and without retries", joined(released))));
        }
        let jobs = plural((removed.len() + released.len()) as u64, "job");
        format!("removed: the job key {job_key}, which {jobs} held\n{}", facts(&found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        assert_eq!(serde_json::from_str::<Outcome>(json).unwrap().for_eyes(), expected);
    }

    #[test]
    fn what_is_gone_and_what_runs_on_are_told_apart() {
        check(
            r#"{"job_key":"report","removed":["1"],"released":["2"]}"#,
            "removed: the job key report, which 2 jobs held\n  \
             gone        1\n  \
             running on  2, without the key and without retries\n",
        );
        check(
            r#"{"job_key":"a\u001b]0;b","removed":["1"],"released":[]}"#,
            "removed: the job key a\\u{1b}]0;b, which 1 job held\n  gone  1\n",
        );
    }
}
