//! Where settings come from, what they default to, and what is refused.

use std::io::Write as _;

use clap::Parser as _;

use super::*;
use crate::cli::{Cli, Command};
use crate::environment::OtlpEnvironment;
use crate::secret::Secret;

/// The configuration of a command line, read as if nothing stood in the environment but this.
fn load(arguments: &[&str], environment: Environment) -> Result<Config, Failure> {
    match Cli::parse_from(["hapax", "serve"].iter().chain(arguments)).command {
        Command::Serve(serve) => Config::load(*serve, environment),
        other => panic!("{other:?}"),
    }
}

fn loaded(arguments: &[&str]) -> Config {
    load(arguments, Environment::default()).unwrap()
}

#[track_caller]
fn refused(arguments: &[&str], sentence: &str) -> Failure {
    let failure = load(arguments, Environment::default()).unwrap_err();
    assert!(failure.sentence().contains(sentence), "{failure}");
    failure
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

#[test]
fn the_defaults_are_a_safe_server_on_this_machine() {
    let config = loaded(&[]);
    assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.store, StoreConfig::Embedded { data: "./hapax-data".into() });
    assert!(config.keys.is_empty() && !config.conformance);
    assert_eq!(config.rules, Rules::default());
    assert_eq!(config.log, LogConfig { format: LogFormat::Text, filter: "info".into() });
    assert_eq!((config.limits.job_bytes, config.limits.request_bytes), (1 << 20, 16 << 20));
}

#[test]
fn every_setting_of_the_file_arrives() {
    let settings = file(
        "listen = '127.0.0.1:1'\ndata = 'd'\nstore = 'embedded'\ninsecure = true\nconformance = true\n\
         visibility-timeout = 'PT1S'\nretain-completed = 'PT2S'\nretain-cancelled = 'PT3S'\n\
         retain-discarded = 'PT4S'\nmax-job-bytes = 5\nmax-request-bytes = 6\nlog = 'json'\nlog-level = 'debug'\n",
    );
    let config = loaded(&["--config", settings.path().to_str().unwrap()]);
    assert_eq!(config.listen.port(), 1);
    assert_eq!(config.store, StoreConfig::Embedded { data: "d".into() });
    assert!(config.conformance);
    let Rules { visibility_timeout, retention, joined_bytes_max } = config.rules;
    let Retention { completed, cancelled, discarded } = retention;
    assert_eq!(
        [visibility_timeout, completed, cancelled, discarded].map(|span| span.as_secs()),
        [1, 2, 3, 4]
    );
    assert_eq!((config.limits.job_bytes, joined_bytes_max, config.limits.request_bytes), (5, 5, 6));
    assert_eq!(config.log, LogConfig { format: LogFormat::Json, filter: "debug".into() });
}

#[test]
fn a_flag_comes_before_an_alias_in_the_environment_and_that_before_the_file() {
    let settings = file("listen = '127.0.0.1:1'\nlog-level = 'debug'\n");
    let path = settings.path().to_str().unwrap();
    let environment =
        || Environment { port: Some("2".into()), log_filter: Some("trace".into()), ..Environment::default() };
    let from_file = load(&["--config", path], Environment::default()).unwrap();
    assert_eq!((from_file.listen.port(), &*from_file.log.filter), (1, "debug"));
    let from_environment = load(&["--config", path], environment()).unwrap();
    assert_eq!((from_environment.listen.port(), &*from_environment.log.filter), (2, "trace"));
    let arguments = ["--config", path, "--listen", "127.0.0.1:3", "--log-level", "warn"];
    let from_flags = load(&arguments, environment()).unwrap();
    assert_eq!((from_flags.listen.port(), &*from_flags.log.filter), (3, "warn"));
}

#[test]
fn a_switch_can_be_turned_off_again() {
    let settings = file("conformance = true\n");
    let path = settings.path().to_str().unwrap();
    assert!(loaded(&["--config", path]).conformance);
    assert!(!loaded(&["--config", path, "--conformance=false"]).conformance);
    assert!(loaded(&["--conformance", "--store", "memory"]).conformance);
}

#[test]
fn a_server_that_others_can_reach_needs_keys_or_a_word() {
    for listen in ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:80"] {
        let failure = refused(&["--listen", listen], "can be reached from outside");
        assert!(failure.advice().unwrap().contains("--api-key-file"), "{failure}");
        loaded(&["--listen", listen, "--insecure"]);
        let environment =
            Environment { api_key: Some(Secret::new("0123456789abcdef")), ..Environment::default() };
        assert_eq!(load(&["--listen", listen], environment).unwrap().keys.len(), 1);
    }
    for listen in ["127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
        loaded(&["--listen", listen]);
    }
}

#[test]
fn a_conformance_server_is_never_reached_from_outside() {
    refused(&["--listen", "0.0.0.0:1", "--conformance", "--insecure"], "anybody may wipe everything");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    refused(&["--visibility-timeout", "PT0S"], "visibility-timeout must be longer than zero");
    refused(&["--max-job-bytes", "2", "--max-request-bytes", "1"], "max-job-bytes is 2");
    refused(&["--max-job-bytes", "0"], "max-job-bytes is 0");
    refused(
        &["--max-request-bytes", "268435457"],
        "max-request-bytes is 268435457; it must be at most 268435456",
    );
    refused(
        &["--max-job-bytes", "33554433", "--max-request-bytes", "268435456"],
        "max-job-bytes is 33554433; it must be at most 33554432",
    );
    loaded(&["--max-job-bytes", "33554432", "--max-request-bytes", "268435456"]);
    refused(&["--config", "does/not/exist.toml"], "could not read the settings in does/not/exist.toml");
    let port = load(&[], Environment { port: Some("http".into()), ..Environment::default() });
    assert!(port.unwrap_err().sentence().contains("OJS_PORT is \"http\""));
}

fn of_environment(url: &str) -> Environment {
    Environment { database_url: Some(Secret::new(url)), ..Environment::default() }
}

#[track_caller]
fn database(config: &Config) -> String {
    match &config.store {
        StoreConfig::Postgres { database, .. } => database.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_database_wins_over_a_folder() {
    let config = loaded(&["--data", "d", "--database-url", "postgres://me:secret@db/jobs"]);
    assert_eq!(database(&config), "postgres://me@db:5432/jobs");
    assert!(!format!("{config:?}").contains("secret"), "{config:?}");
    let config = load(&["--data", "d"], of_environment("postgres://db/jobs")).unwrap();
    assert_eq!(database(&config), "postgres://db:5432/jobs");
}

#[test]
fn the_own_name_of_a_database_comes_before_that_of_others() {
    let config = load(&["--database-url", "postgres://a/jobs"], of_environment("postgres://b/jobs")).unwrap();
    assert_eq!(database(&config), "postgres://a:5432/jobs");
}

#[test]
fn who_asks_for_another_store_gets_it_whatever_others_use() {
    let config = load(&["--store", "memory"], of_environment("postgres://b/jobs")).unwrap();
    assert_eq!(config.store, StoreConfig::Memory);
    refused(&["--store", "memory", "--database-url", "postgres://a/jobs"], "say different things");
}

#[test]
fn a_folder_in_which_nothing_would_be_kept_is_refused() {
    refused(
        &["--store", "memory", "--data", "d"],
        "data is d, but the memory store keeps nothing in a folder",
    );
    let settings = file("store = 'memory'\ndata = 'd'\n");
    refused(&["--config", settings.path().to_str().unwrap()], "data is d");
    assert_eq!(loaded(&["--store", "memory"]).store, StoreConfig::Memory);
}

#[test]
fn settings_of_a_database_need_one() {
    refused(&["--database-schema", "mine"], "database-schema is given, but no database");
    refused(&["--listen-url", "postgres://a/jobs"], "listen-url is given, but no database");
    refused(&["--database-url", "postgres://a/jobs", "--database-connections", "5"], "must be at least 6");
    let failure = load(&[], of_environment("mysql://me:secret@db/jobs")).unwrap_err();
    assert!(failure.sentence().contains("DATABASE_URL cannot be used"), "{failure}");
    assert!(!failure.to_string().contains("secret"), "{failure}");
}

/// The store that `hapax export` is about, and how long completed jobs are kept in it, where a server would be told this.
fn kept(flags: &[&str], served: &[&str], environment: &Environment) -> (StoreConfig, Duration) {
    let Command::Export(export) = Cli::parse_from(["hapax", "export"].iter().chain(flags)).command else {
        panic!("an export");
    };
    let Command::Serve(serve) = Cli::parse_from(["hapax", "serve"].iter().chain(served)).command else {
        panic!("a server");
    };
    let (store, rules) = Config::kept(export.place, *serve, environment).unwrap();
    (store, rules.retention.completed)
}

fn database_of(store: &StoreConfig) -> String {
    match store {
        StoreConfig::Postgres { database, schema, .. } => format!("{database} {}", schema.as_str()),
        other => panic!("a database, not {other:?}"),
    }
}

#[test]
fn a_command_without_a_server_is_about_the_store_that_a_server_would_have() {
    let none = Environment::default();
    let settings = file("database-url = 'postgres://file/jobs'\nretain-completed = 'PT2S'\n");
    let settings = settings.path().to_str().unwrap();
    assert_eq!(kept(&[], &[], &none).0, StoreConfig::Embedded { data: "./hapax-data".into() });
    assert_eq!(kept(&[], &["--data", "d"], &none).0, StoreConfig::Embedded { data: "d".into() });
    let (store, completed) = kept(&["--config", settings], &["--database-schema", "mine"], &none);
    assert_eq!(database_of(&store), "postgres://file:5432/jobs mine");
    assert_eq!(completed, Duration::from_secs(2));
    let environment = Environment { database_url: Some(Secret::new("postgres://env/jobs")), ..none };
    assert_eq!(database_of(&kept(&[], &["--data", "d"], &environment).0), "postgres://env:5432/jobs hapax");
}

#[test]
fn a_flag_names_another_store_whatever_a_server_would_be_told() {
    let environment =
        Environment { database_url: Some(Secret::new("postgres://env/jobs")), ..Environment::default() };
    let settings = file("database-url = 'postgres://file/jobs'\ndatabase-schema = 'mine'\n");
    let settings = settings.path().to_str().unwrap();
    let folder = StoreConfig::Embedded { data: "d".into() };
    for served in [&["--database-url", "postgres://flag/jobs"][..], &["--store", "memory"], &["--data", "e"]]
    {
        assert_eq!(kept(&["--data", "d", "--config", settings], served, &environment).0, folder);
    }
    let flags = ["--database-url", "postgres://mine/jobs"];
    for served in [&[][..], &["--store", "memory"], &["--data", "e"]] {
        assert_eq!(database_of(&kept(&flags, served, &environment).0), "postgres://mine:5432/jobs hapax");
    }
}

#[test]
fn what_is_said_about_spans_needs_a_collector() {
    refused(&["--otlp-headers", "a=s3cret"], "otlp-headers is given, but no collector");
    refused(&["--otlp-service-name", "jobs"], "otlp-service-name is given, but no collector");
}

#[cfg(not(feature = "otlp"))]
#[test]
fn a_collector_that_the_environment_has_for_others_is_left_alone_by_a_program_without_spans() {
    assert!(load(&[], otel("http://all:4318")).unwrap().telemetry.is_none());
}

fn otel(url: &str) -> Environment {
    let otlp = OtlpEnvironment { endpoint: Some(url.into()), ..OtlpEnvironment::default() };
    Environment { otlp, ..Environment::default() }
}

#[cfg(feature = "otlp")]
#[test]
fn the_own_name_of_a_collector_comes_before_that_of_others() {
    let url = |config: Config| config.telemetry.unwrap().url().to_owned();
    assert_eq!(url(load(&[], otel("http://all:4318")).unwrap()), "http://all:4318/v1/traces");
    let config = load(&["--otlp-endpoint", "https://mine/otlp"], otel("http://all:4318")).unwrap();
    assert_eq!(url(config), "https://mine/otlp/v1/traces");
    assert!(loaded(&[]).telemetry.is_none());
}

#[cfg(feature = "otlp")]
#[test]
fn a_collector_that_cannot_be_one_is_refused_without_its_secrets() {
    let to = ["--otlp-endpoint", "http://a:4318", "--otlp-headers"];
    let failure = refused(&[&to[..], &["s3cret"]].concat(), "otlp-headers: must be name=value");
    assert!(!failure.to_string().contains("s3cret"), "{failure}");
    let config = loaded(&[&to[..], &["a=s3cret"]].concat());
    assert!(!format!("{config:?}").contains("s3cret"), "{config:?}");
    refused(&["--otlp-endpoint", "a:4318"], "otlp-endpoint: must begin with https:// or http://");
    let failure = load(&[], otel("a:4318")).unwrap_err();
    assert!(failure.sentence().starts_with("OTEL_EXPORTER_OTLP_ENDPOINT: must begin"), "{failure}");
}
