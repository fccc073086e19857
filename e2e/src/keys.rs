//! What producers and operators do with keys and with many jobs at once, as methods of the client.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{Answer, Client, Job, Request};

/// A text as one segment of a path: everything but letters, digits and `-._~` escaped.
pub fn segment(text: &str) -> String {
    text.bytes().fold(String::new(), |mut segment, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            segment.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(segment, "%{byte:02X}");
        }
        segment
    })
}

/// The body of a request with several jobs.
pub fn jobs(jobs: &[Job]) -> Value {
    json!({"jobs": jobs.iter().map(Job::json).collect::<Vec<_>>()})
}

impl Client {
    /// Enqueues all of the jobs or none, whatever the answer.
    #[track_caller]
    pub fn batch(&mut self, several: &[Job]) -> Answer {
        self.post("/ojs/v1/jobs/batch", &jobs(several))
    }

    /// Enqueues each of the jobs on its own, whatever the answer.
    #[track_caller]
    pub fn bulk(&mut self, several: &[Job]) -> Answer {
        self.post("/ojs/v1/jobs/bulk", &jobs(several))
    }

    /// Asks what an enqueue would do, whatever the answer.
    #[track_caller]
    pub fn explain(&mut self, job: &Job) -> Answer {
        self.post("/ojs/v1/unique/explain", &job.json())
    }

    /// The list of held keys, with this query.
    #[track_caller]
    pub fn held_keys(&mut self, query: &str) -> Answer {
        self.get(&format!("/ojs/v1/unique/keys?{query}"))
    }

    /// Who carries a key, whatever the answer.
    #[track_caller]
    pub fn key(&mut self, key: &str) -> Answer {
        self.get(&format!("/ojs/v1/unique/keys/{key}"))
    }

    /// Takes a key away from its holders, whatever the answer.
    #[track_caller]
    pub fn release(&mut self, key: &str) -> Answer {
        self.send(&Request::new("POST", &format!("/ojs/v1/unique/keys/{key}/release")))
    }

    /// The key that a job holds.
    #[track_caller]
    pub fn key_of(&mut self, id: &str) -> String {
        let job = self.job(id);
        let key = job["unique"]["uniqueness_key"].as_str();
        key.unwrap_or_else(|| panic!("a job without a key: {job}")).to_owned()
    }

    /// Removes the job that has a job key, whatever the answer.
    #[track_caller]
    pub fn remove_job_key(&mut self, name: &str) -> Answer {
        self.delete(&format!("/ojs/v1/job-keys/{}", segment(name)))
    }

    /// A number that the server counts, by its name and labels as it prints them; 0 if it prints none.
    #[track_caller]
    pub fn metric(&mut self, name: &str) -> u64 {
        let answer = self.get("/metrics");
        let lines = answer.is(200).body.lines();
        let mut values = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
        values.next().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_no_letter_that_means_something_in_a_path() {
        assert_eq!(segment("a/b?c#d%e f"), "a%2Fb%3Fc%23d%25e%20f");
        assert_eq!(segment("é"), "%C3%A9");
    }
}
