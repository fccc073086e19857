//! The command line. The same settings may stand in the environment and in a file; see `config.rs`.

mod moving;
mod operator;

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Deserialize;

pub(crate) use moving::{Export, Import, Place};
pub(crate) use operator::{Confirmation, Explain, Filter, Keys, KeysAction, Release, Remote, Remove, Show};

use crate::refuse::Refuse;
use crate::value::{Database, Hidden, Listen, Schema, Span};
use moving::{EXPORT_EXAMPLES, IMPORT_EXAMPLES};
use operator::{EXPLAIN_EXAMPLES, KEYS_EXAMPLES};

/// A durable background-job server: a job that was accepted is never lost, a job that is declared unique
/// exists once.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server: Open Job Spec over HTTP
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Box<Serve>),
    /// Bring the tables in a PostgreSQL database up to date; a server that may do so does it when it starts
    #[command(after_help = MIGRATE_EXAMPLES)]
    Migrate(Migrate),
    /// Write everything that a store holds to a file: jobs, queues, remembered answers
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(Export),
    /// Fill an empty store with what another one held
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(Import),
    /// Ask a server what would happen to a job if it was enqueued, and why
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(Explain),
    /// List the uniqueness keys that jobs hold, look at one, or set it free
    #[command(after_help = KEYS_EXAMPLES)]
    Keys(Keys),
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Take settings from this TOML file: the same names as the flags below, without the dashes in front
    #[arg(long, env = "HAPAX_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// The database. Better in the environment than on the command line, which others can see
    #[arg(long, env = "HAPAX_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Database,

    /// The schema in which the tables are [default: hapax]
    #[arg(long, env = "HAPAX_DATABASE_SCHEMA", value_name = "NAME")]
    pub(crate) database_schema: Option<Schema>,

    /// Only say what would be done
    #[arg(long, conflicts_with = "show_sql")]
    pub(crate) dry_run: bool,

    /// Only print the statements that would be executed
    #[arg(long)]
    pub(crate) show_sql: bool,
}

/// What can be said on the command line, in the environment and in a file, with one name in all three.
#[derive(Debug, Default, Args, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Settings {
    /// Where to listen [default: 127.0.0.1:8080]
    #[arg(long, env = "HAPAX_LISTEN", value_name = "ADDR:PORT")]
    pub(crate) listen: Option<Listen>,

    /// Where jobs are kept; the folder is made if it is not there [default: ./hapax-data]
    #[arg(long, env = "HAPAX_DATA", value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// What keeps the jobs [default: embedded]
    #[arg(long, env = "HAPAX_STORE")]
    pub(crate) store: Option<StoreKind>,

    /// Keep the jobs in this PostgreSQL database, which any number of servers may share; wins over --data. Better in the
    /// environment than on the command line, which others can see (`DATABASE_URL` is read too)
    #[arg(long, env = "HAPAX_DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Option<Database>,

    /// The schema in which the tables are [default: hapax]
    #[arg(long, env = "HAPAX_DATABASE_SCHEMA", value_name = "NAME")]
    pub(crate) database_schema: Option<Schema>,

    /// Most connections to the database [default: 16]
    #[arg(long, env = "HAPAX_DATABASE_CONNECTIONS", value_name = "NUMBER")]
    pub(crate) database_connections: Option<usize>,

    /// A way to the database past a pooler in transaction mode, for notifications [default: the same]
    #[arg(long, env = "HAPAX_LISTEN_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) listen_url: Option<Database>,

    /// Answer only to clients that show a key of this file: one `name:secret` per line, not readable by others
    #[arg(long, env = "HAPAX_API_KEY_FILE", value_name = "FILE")]
    pub(crate) api_key_file: Option<PathBuf>,

    /// Listen beyond this machine without keys, because a proxy in front asks who calls
    #[arg(long, env = "HAPAX_INSECURE", value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) insecure: Option<bool>,

    /// How long a worker holds a job without a heartbeat, unless it or the job says otherwise [default: PT30M]
    #[arg(long, env = "HAPAX_VISIBILITY_TIMEOUT", value_name = "DURATION")]
    pub(crate) visibility_timeout: Option<Span>,

    /// How long completed jobs are kept [default: P7D]
    #[arg(long, env = "HAPAX_RETAIN_COMPLETED", value_name = "DURATION")]
    pub(crate) retain_completed: Option<Span>,

    /// How long cancelled jobs are kept [default: P7D]
    #[arg(long, env = "HAPAX_RETAIN_CANCELLED", value_name = "DURATION")]
    pub(crate) retain_cancelled: Option<Span>,

    /// How long discarded jobs are kept, dead letters among them [default: P30D]
    #[arg(long, env = "HAPAX_RETAIN_DISCARDED", value_name = "DURATION")]
    pub(crate) retain_discarded: Option<Span>,

    /// Largest job [default: 1048576]
    #[arg(long, env = "HAPAX_MAX_JOB_BYTES", value_name = "BYTES")]
    pub(crate) max_job_bytes: Option<usize>,

    /// Largest request with many jobs [default: 16777216]
    #[arg(long, env = "HAPAX_MAX_REQUEST_BYTES", value_name = "BYTES")]
    pub(crate) max_request_bytes: Option<usize>,

    /// Send webhooks to private addresses too: this machine, its network. Whoever may subscribe can then have the server call
    /// on its neighbours
    #[arg(long, env = "HAPAX_WEBHOOK_ALLOW_PRIVATE", value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) webhook_allow_private: Option<bool>,

    /// Tell the collector of OpenTelemetry at this address what happens to jobs, as spans over HTTP in JSON. Needs a program
    /// that was built with the feature `otlp` (`OTEL_EXPORTER_OTLP_ENDPOINT` is read too)
    #[arg(long, env = "HAPAX_OTLP_ENDPOINT", value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,

    /// What to send to the collector along with spans: name=value, separated by commas, values percent-encoded. Better in
    /// the environment than on the command line, which others can see (`OTEL_EXPORTER_OTLP_HEADERS` is read too)
    #[arg(long, env = "HAPAX_OTLP_HEADERS", hide_env_values = true, value_name = "HEADERS")]
    pub(crate) otlp_headers: Option<Hidden>,

    /// What the server calls itself in spans (`OTEL_SERVICE_NAME` is read too) [default: hapax]
    #[arg(long, env = "HAPAX_OTLP_SERVICE_NAME", value_name = "NAME")]
    pub(crate) otlp_service_name: Option<String>,

    /// How log lines are written, to standard error [default: text]
    #[arg(long, env = "HAPAX_LOG")]
    pub(crate) log: Option<LogFormat>,

    /// Which log lines are written: error, warn, info, debug, trace, or a filter such as `info,hapax_http=debug`
    /// [default: info]
    #[arg(long, env = "HAPAX_LOG_LEVEL", value_name = "FILTER")]
    pub(crate) log_level: Option<String>,

    /// For the conformance suite: anybody may wipe everything. Only on this machine
    #[arg(long, env = "HAPAX_CONFORMANCE", value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) conformance: Option<bool>,

    /// Take no request about jobs that does not say for which tenant, by the header X-OJS-Tenant
    #[arg(long, env = "HAPAX_REQUIRE_TENANT", value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub(crate) require_tenant: Option<bool>,

    /// Jobs that are not taken: `[[refuse]]` tables in the file.
    #[arg(skip)]
    #[serde(default)]
    pub(crate) refuse: Vec<Refuse>,
}

/// What keeps the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StoreKind {
    /// One SQLite file in the data folder; every answer is on disk first
    Embedded,
    /// Memory: everything is gone when the server stops
    Memory,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LogFormat {
    /// For eyes
    Text,
    /// One JSON object per line
    Json,
}

const EXAMPLES: &str = "\
Examples:
  hapax serve                  listen on 127.0.0.1:8080, keep jobs in ./hapax-data
  hapax serve --help           everything that can be set
  hapax explain job.json       why would this job be a duplicate, and of which?
  hapax keys --older-than P1D  which keys are held for more than a day?
  hapax export jobs.ndjson     everything in ./hapax-data, for `hapax import` elsewhere";

const MIGRATE_EXAMPLES: &str = "\
Examples:
  hapax migrate                    with HAPAX_DATABASE_URL set
  hapax migrate --dry-run          which steps are missing?
  hapax migrate --show-sql | less  what would they do?

All steps are taken in one transaction, or none. Only one migration runs at a time, also when many servers start at once.
Servers whose role may not create tables can run after this was done with a role that may.";

const SERVE_EXAMPLES: &str = "\
Examples:
  hapax serve
  hapax serve --store memory --listen 127.0.0.1:9000
  hapax serve --listen 0.0.0.0:8080 --data /var/lib/hapax --api-key-file /etc/hapax/keys --log json
  hapax serve --config /etc/hapax.toml
  HAPAX_DATABASE_URL=postgres://hapax@db/jobs hapax serve    any number of servers, one database

A setting on the command line comes before one in the environment, that before one in the file:
  listen = \"0.0.0.0:8080\"
  api-key-file = \"/etc/hapax/keys\"
  retain-completed = \"P1D\"

Jobs that are not to be taken stand in the file too:
  [[refuse]]
  type = \"report.old\"
  meta = { source = \"legacy\" }
  message = \"use report.generate\"

Durations are written as in ISO 8601: PT30S, PT30M, P7D.

Other names in the environment:
  DATABASE_URL the database, unless --database-url, HAPAX_DATABASE_URL or --store is given
  OJS_PORT     the port to listen on at 127.0.0.1, unless --listen or HAPAX_LISTEN is given
  OJS_API_KEY  one key that clients may show, by the name of default
  RUST_LOG     the same as HAPAX_LOG_LEVEL
  OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME
               the collector, unless --otlp-endpoint and its kin are given; for a program with the feature otlp

SIGTERM and SIGINT stop the server: it ends the requests in progress first. A second one stops it at once.";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_flag_has_a_name_in_the_environment_that_follows_from_it() {
        let serve = Cli::command().find_subcommand("serve").cloned().unwrap();
        for flag in serve.get_arguments().filter(|flag| flag.get_id() != "help") {
            let long = flag.get_long().unwrap();
            let expected = format!("HAPAX_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(flag.get_env().and_then(|name| name.to_str()), Some(&*expected), "--{long}");
        }
    }
}
