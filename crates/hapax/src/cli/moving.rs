//! The commands that carry everything from one store to another.

use std::path::PathBuf;

use clap::Args;

use crate::value::{Database, Schema};

/// Which store it is about.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The store in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["database_url", "database_schema"])]
    pub(crate) data: Option<PathBuf>,

    /// The store in this PostgreSQL database. Better in the environment, as `HAPAX_DATABASE_URL`, than on the command
    /// line, which others can see
    #[arg(long, value_name = "URL")]
    pub(crate) database_url: Option<Database>,

    /// The schema in which its tables are [default: hapax]
    #[arg(long, value_name = "NAME")]
    pub(crate) database_schema: Option<Schema>,

    /// The store that a server with this TOML file has
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// What is shown of the work.
#[derive(Debug, Args)]
pub(crate) struct Shown {
    /// Show no progress; the summary at the end stays
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The file to write; - is standard output
    #[arg(default_value = "-", hide_default_value = true)]
    pub(crate) file: PathBuf,

    /// Write over a file that is there
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file to read; - is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

pub(super) const EXPORT_EXAMPLES: &str = "\
Examples:
  hapax export jobs.ndjson                          the store that `hapax serve` would use here
  hapax export jobs.ndjson --data /var/lib/hapax
  hapax export --data ./hapax-data | gzip > jobs.ndjson.gz
  HAPAX_DATABASE_URL=postgres://hapax@db/jobs hapax export jobs.ndjson

Without a flag that names a store, the environment and --config say where it is, as for `hapax
serve`. A flag wins over them, so that --data means the folder even where HAPAX_DATABASE_URL is
set.

A folder is exported while no server runs on it. A database is exported as it is at one moment,
while servers go on. The file holds everything, secrets in arguments and leases too: it is
readable by its owner only. It has its name when it is whole; until then it is FILE.partial. An
export that was cut short starts over.

The summary has counts and a checksum. They are the same again when the imported store is exported.";

pub(super) const IMPORT_EXAMPLES: &str = "\
Examples:
  hapax import jobs.ndjson --database-url postgres://hapax@db/jobs
  hapax import jobs.ndjson --data ./new-folder
  gunzip -c jobs.ndjson.gz | hapax import --data ./new-folder
  hapax export --data ./hapax-data | hapax import --database-url postgres://hapax@db/jobs

The store must be empty: no jobs, no queues, no remembered answers. No server can use it until
the import is finished. An import that was cut short, by whatever, goes on where it was when
the same command is given again with the same export. Servers refuse the store until then.

Retention is stored with finished jobs in PostgreSQL: let HAPAX_RETAIN_COMPLETED and the like,
or --config, say what they say to the servers.

Exit codes:
  0  everything is there
  1  it is not: what is wrong was said, and what to do about it
  2  the command line is wrong";
