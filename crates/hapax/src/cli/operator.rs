//! The commands that ask a running server about unique jobs.

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

const DEFAULT_SERVER: &str = "http://127.0.0.1:8080";
const KEY_DIGITS: usize = 64;

/// Which server is asked, and how its answer is printed.
#[derive(Debug, Args)]
pub(crate) struct Remote {
    /// Where the server is
    #[arg(long, env = "HAPAX_SERVER", value_name = "URL", default_value = DEFAULT_SERVER, global = true,
          hide_env_values = true)]
    pub(crate) server: String,

    /// Show the server the first key of this file, which may be its own; without it, the key in `HAPAX_API_KEY`
    #[arg(long, env = "HAPAX_API_KEY_FILE", value_name = "FILE", global = true)]
    pub(crate) api_key_file: Option<PathBuf>,

    /// Print the server's JSON instead of text for eyes
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The job as it would be sent to enqueue it, in JSON; - reads standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) action: Option<KeysAction>,
    #[command(flatten)]
    pub(crate) filter: Filter,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysAction {
    /// Show the jobs that carry a key, those that have ended too
    #[command(after_help = SHOW_EXAMPLES)]
    Show(Show),
    /// Take a key from every job that carries it: the jobs go on, and an equal job may be enqueued beside them
    #[command(after_help = RELEASE_EXAMPLES)]
    Release(Release),
    /// Remove the job that holds a job key; one that a worker has keeps running, without its key and its retries
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(Remove),
}

/// Which held keys are listed.
#[derive(Debug, Default, Args)]
pub(crate) struct Filter {
    /// Only keys of jobs of this type
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) job_type: Option<String>,

    /// Only keys of jobs in this queue
    #[arg(long, value_name = "QUEUE")]
    pub(crate) queue: Option<String>,

    /// Only keys that are held for longer than this: PT1H, P7D, or a number of seconds
    #[arg(long, value_name = "DURATION")]
    pub(crate) older_than: Option<String>,

    /// How many keys at a time
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,

    /// Go on where another page ended
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,

    /// Follow the pages to the end
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The key, as `hapax keys` shows it
    pub(crate) key: KeyDigits,

    /// How many jobs at most, newest first
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Release {
    /// The key, as `hapax keys` shows it
    pub(crate) key: KeyDigits,

    /// Why, to be kept on the jobs
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,

    #[command(flatten)]
    pub(crate) confirmation: Confirmation,
}

#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// The job key, as it was given when the job was enqueued
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) confirmation: Confirmation,
}

/// Whether a person has said yes.
#[derive(Debug, Args)]
pub(crate) struct Confirmation {
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// A uniqueness key as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyDigits(String);

impl KeyDigits {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for KeyDigits {
    type Err = String;

    fn from_str(text: &str) -> Result<KeyDigits, String> {
        if text.len() == KEY_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(KeyDigits(text.to_ascii_lowercase()));
        }
        Err(format!(
            "a key is {KEY_DIGITS} hexadecimal digits, as `hapax keys` and `hapax explain` show it; a job key is \
             removed by its name with `hapax keys remove`"
        ))
    }
}

impl Filter {
    /// The first flag that was given, by its name.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let Filter { job_type, queue, older_than, limit, cursor, all } = self;
        let flags = [
            ("--type", job_type.is_some()),
            ("--queue", queue.is_some()),
            ("--older-than", older_than.is_some()),
            ("--limit", limit.is_some()),
            ("--cursor", cursor.is_some()),
            ("--all", *all),
        ];
        flags.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }
}

pub(super) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  hapax explain job.json
  echo '{\"type\":\"email.send\",\"args\":[42],\"unique\":{\"keys\":[\"type\",\"args\"]}}' | hapax explain -
  hapax explain job.json --json | jq -r .outcome
  hapax explain job.json --server http://jobs.internal:8080 --api-key-file ./key

The server says what would happen if the job was enqueued at this moment, and changes nothing:
  created   the job would be enqueued
  existing  another job stands for it and would be the answer
  replaced  the job would take the place of others
  updated   another job would take over what is different in this one
  rejected  the enqueue would be refused

Exit codes:
  0  the server answered, whatever the outcome
  1  the job could not be read, the server could not be asked, or it refused the job as malformed
  2  the command line is wrong";

pub(super) const KEYS_EXAMPLES: &str = "\
Examples:
  hapax keys                                      the keys that are held, oldest first
  hapax keys --type email.send --older-than P1D
  hapax keys --all --json | jq -r '.keys[].key'   every key; each page is a JSON object of its own
  hapax keys show KEY                             who holds it, and until when
  hapax keys release KEY --reason 'worker died'   let an equal job in; the holders go on
  hapax keys remove nightly-report                remove the job that was enqueued with this job_key

Exit codes:
  0  the server answered
  1  the server could not be asked, refused, or you said no
  2  the command line is wrong";

const SHOW_EXAMPLES: &str = "\
Examples:
  hapax explain job.json            shows the key of a job
  hapax keys show KEY
  hapax keys show KEY --limit 1000 --json";

const RELEASE_EXAMPLES: &str = "\
Examples:
  hapax keys release KEY
  hapax keys release KEY --reason 'worker died, ticket 4711' --yes

You are shown who holds the key and asked before it is taken. Without a terminal --yes is needed.
Each job keeps when its key was taken, and why, in unique.released.";

const REMOVE_EXAMPLES: &str = "\
Examples:
  hapax keys remove nightly-report
  hapax keys remove 'report of user 42' --yes

You are asked before the job is removed. Without a terminal --yes is needed.
A key of 64 digits, as `hapax keys` shows it, is set free with `hapax keys release`.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_64_digits_of_either_case() {
        let digits = "0123456789abcdef".repeat(4);
        for text in [digits.clone(), digits.to_uppercase()] {
            assert_eq!(text.parse::<KeyDigits>().unwrap().as_str(), digits);
        }
        for text in ["", "nightly-report", &digits[1..], &"g".repeat(64), &"é".repeat(32)] {
            let fault = text.parse::<KeyDigits>().unwrap_err();
            assert!(fault.starts_with("a key is 64 hexadecimal digits"), "{fault}");
        }
    }
}
