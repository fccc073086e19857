//! What was done, at the end.

use hapax_store::portable::{Census, Seal};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{self, plural};

/// See above.
#[derive(Debug)]
pub(super) struct Summary {
    pub(super) verb: &'static str,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) seal: Seal,
    pub(super) seconds: f64,
}

impl Summary {
    /// Prints it: to standard output, unless that has something else to hold.
    pub(super) fn print(&self, as_json: bool, output_is_taken: bool) -> Result<(), Failure> {
        let text = if as_json { format!("{}\n", self.json()) } else { self.text() };
        if output_is_taken {
            eprint!("{text}");
            return Ok(());
        }
        output::print(&text)
    }

    fn text(&self) -> String {
        let Summary { verb, from, to, seal, seconds } = self;
        let Census { queues, jobs, entries, memos } = seal.census;
        format!(
            "{verb} {}, {}, {} and {} from {from} to {to} in {seconds:.1} s.\n  sha256 {}\n",
            plural(jobs, "job"),
            plural(queues, "queue"),
            if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") },
            plural(memos, "remembered answer"),
            seal.checksum()
        )
    }

    fn json(&self) -> serde_json::Value {
        let Summary { verb: _, from, to, seal, seconds } = self;
        let Census { queues, jobs, entries, memos } = seal.census;
        json!({
            "from": from, "to": to, "queues": queues, "jobs": jobs, "entries": entries, "memos": memos,
            "sha256": seal.checksum(), "seconds": seconds,
        })
    }
}
