//! The configuration: settings from the command line, the environment and a file, joined, completed and checked.

mod exposure;
mod file;
mod keeper;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use hapax_core::webhook::Reach;
use hapax_core::{Retention, Rules};
use hapax_http::{ApiKey, Entrance, Limits};
use hapax_store_postgres::{DatabaseUrl, SchemaName};

use crate::cli::{LogFormat, Place, Serve, Settings};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::keys;
use crate::telemetry::Telemetry;
use crate::value::{Listen, Span};
use keeper::{Asked, keeper};

const PORT: u16 = 8080;
const LOG_LEVEL: &str = "info";
/// How long requests may take to end after a signal: less than the 30 s after which supervisors usually kill.
const DRAIN_TIME: Duration = Duration::from_secs(25);

/// Largest `max-job-bytes`: a job is held in memory several times over while it is read and stored.
const JOB_BYTES_CEILING: usize = 32 * 1024 * 1024;
/// Largest `max-request-bytes`: what the server holds of all bodies together.
const REQUEST_BYTES_CEILING: usize = 256 * 1024 * 1024;

/// Everything that was decided about the server.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) store: StoreConfig,
    pub(crate) keys: Vec<ApiKey>,
    pub(crate) conformance: bool,
    pub(crate) entrance: Entrance,
    pub(crate) rules: Rules,
    pub(crate) limits: Limits,
    pub(crate) webhook_reach: Reach,
    pub(crate) telemetry: Option<Telemetry>,
    pub(crate) log: LogConfig,
}

/// What keeps the jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreConfig {
    Embedded { data: PathBuf },
    Memory,
    Postgres { database: DatabaseUrl, listen: Option<DatabaseUrl>, schema: SchemaName, connections: usize },
}

/// Which log lines are written, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogConfig {
    pub(crate) format: LogFormat,
    pub(crate) filter: String,
}

impl Config {
    /// What follows from the command line and the environment.
    pub(crate) fn load(serve: Serve, environment: Environment) -> Result<Config, Failure> {
        Config::resolve(joined(serve, &environment)?, environment)
    }

    /// What keeps the jobs, and by which rules, for commands that do without a server. What `place` names wins over what a
    /// server would be told.
    pub(crate) fn kept(
        place: Place,
        serve: Serve,
        environment: &Environment,
    ) -> Result<(StoreConfig, Rules), Failure> {
        let Place { data, database_url, database_schema, config } = place;
        let serve = Serve { config: config.or(serve.config), settings: serve.settings };
        let settings = joined(serve, environment)?;
        let rules = rules(&settings, &limits(settings.max_job_bytes, settings.max_request_bytes));
        if let Some(data) = data {
            return Ok((StoreConfig::Embedded { data }, rules));
        }
        let kind = settings.store.filter(|_| database_url.is_none());
        let asked = Asked {
            database_url: database_url.or(settings.database_url),
            database_schema: database_schema.or(settings.database_schema),
            // A command has one connection, and hears of nothing.
            listen_url: None,
            database_connections: None,
        };
        Ok((keeper(kind, settings.data, asked, environment)?, rules))
    }

    fn resolve(settings: Settings, environment: Environment) -> Result<Config, Failure> {
        let limits = limits(settings.max_job_bytes, settings.max_request_bytes);
        let rules = rules(&settings, &limits);
        let Settings {
            listen,
            data,
            store,
            database_url,
            database_schema,
            database_connections,
            listen_url,
            api_key_file,
            insecure,
            // These are in the rules and in the limits.
            visibility_timeout: _,
            retain_completed: _,
            retain_cancelled: _,
            retain_discarded: _,
            max_job_bytes: _,
            max_request_bytes: _,
            webhook_allow_private,
            otlp_endpoint,
            otlp_headers,
            otlp_service_name,
            log,
            log_level,
            conformance,
            require_tenant,
            refuse,
        } = settings;
        let config = Config {
            listen: listen.map_or_else(|| on_this_machine(PORT), |listen| listen.0),
            store: keeper(
                store,
                data,
                Asked { database_url, listen_url, database_schema, database_connections },
                &environment,
            )?,
            keys: keys::load(api_key_file.as_deref(), environment.api_key)?,
            conformance: conformance.unwrap_or(false),
            entrance: Entrance {
                require_tenant: require_tenant.unwrap_or(false),
                refuse: refuse.into_iter().map(|rule| rule.0).collect(),
            },
            rules,
            limits,
            webhook_reach: match webhook_allow_private {
                Some(true) => Reach::Everywhere,
                Some(false) | None => Reach::Public,
            },
            telemetry: Telemetry::resolve(
                otlp_endpoint.as_deref(),
                otlp_headers.as_ref(),
                otlp_service_name.as_deref(),
                &environment.otlp,
            )?,
            log: LogConfig {
                format: log.unwrap_or(LogFormat::Text),
                filter: log_level.unwrap_or_else(|| LOG_LEVEL.into()),
            },
        };
        config.check(insecure.unwrap_or(false))?;
        Ok(config)
    }

    fn check(&self, insecure: bool) -> Result<(), Failure> {
        if self.rules.visibility_timeout.is_zero() {
            return Err(Failure::new("visibility-timeout must be longer than zero"));
        }
        let Limits { job_bytes, request_bytes, .. } = self.limits;
        if job_bytes == 0 || job_bytes > request_bytes {
            return Err(Failure::new(format!(
                "max-job-bytes is {job_bytes}; it must be at least 1 and at most max-request-bytes, which is \
                 {request_bytes}"
            )));
        }
        at_most("max-job-bytes", job_bytes, JOB_BYTES_CEILING)?;
        at_most("max-request-bytes", request_bytes, REQUEST_BYTES_CEILING)?;
        exposure::check(self, insecure)
    }
}

/// The command line and the environment, completed by the file.
fn joined(serve: Serve, environment: &Environment) -> Result<Settings, Failure> {
    let Serve { config, settings } = serve;
    let file = match config {
        Some(path) => file::read(&path)?,
        None => Settings::default(),
    };
    Ok(settings.with_aliases(environment)?.or(file))
}

fn rules(settings: &Settings, limits: &Limits) -> Rules {
    let Rules { visibility_timeout, retention, joined_bytes_max: _ } = Rules::default();
    let given = |span: &Option<Span>, usual: Duration| span.as_ref().map_or(usual, |span| span.0);
    Rules {
        visibility_timeout: given(&settings.visibility_timeout, visibility_timeout),
        retention: Retention {
            completed: given(&settings.retain_completed, retention.completed),
            cancelled: given(&settings.retain_cancelled, retention.cancelled),
            discarded: given(&settings.retain_discarded, retention.discarded),
        },
        // What a job takes over from duplicates makes it no larger than one that is sent.
        joined_bytes_max: limits.job_bytes,
    }
}

fn at_most(setting: &str, bytes: usize, ceiling: usize) -> Result<(), Failure> {
    if bytes > ceiling {
        return Err(Failure::new(format!("{setting} is {bytes}; it must be at most {ceiling}")));
    }
    Ok(())
}

impl Settings {
    /// Other names in the environment stand behind our own.
    fn with_aliases(mut self, environment: &Environment) -> Result<Settings, Failure> {
        if let (None, Some(port)) = (self.listen, &environment.port) {
            let port = port
                .parse()
                .map_err(|_| Failure::new(format!("OJS_PORT is \"{port}\", which is no port")))?;
            self.listen = Some(Listen(on_this_machine(port)));
        }
        self.log_level = self.log_level.or_else(|| environment.log_filter.clone());
        Ok(self)
    }

    /// The same with values of another source where there are none.
    fn or(self, other: Settings) -> Settings {
        let Settings {
            listen,
            data,
            store,
            database_url,
            database_schema,
            database_connections,
            listen_url,
            api_key_file,
            insecure,
            visibility_timeout,
            retain_completed,
            retain_cancelled,
            retain_discarded,
            max_job_bytes,
            max_request_bytes,
            webhook_allow_private,
            otlp_endpoint,
            otlp_headers,
            otlp_service_name,
            log,
            log_level,
            conformance,
            require_tenant,
            refuse,
        } = self;
        Settings {
            listen: listen.or(other.listen),
            data: data.or(other.data),
            store: store.or(other.store),
            database_url: database_url.or(other.database_url),
            database_schema: database_schema.or(other.database_schema),
            database_connections: database_connections.or(other.database_connections),
            listen_url: listen_url.or(other.listen_url),
            api_key_file: api_key_file.or(other.api_key_file),
            insecure: insecure.or(other.insecure),
            visibility_timeout: visibility_timeout.or(other.visibility_timeout),
            retain_completed: retain_completed.or(other.retain_completed),
            retain_cancelled: retain_cancelled.or(other.retain_cancelled),
            retain_discarded: retain_discarded.or(other.retain_discarded),
            max_job_bytes: max_job_bytes.or(other.max_job_bytes),
            max_request_bytes: max_request_bytes.or(other.max_request_bytes),
            webhook_allow_private: webhook_allow_private.or(other.webhook_allow_private),
            otlp_endpoint: otlp_endpoint.or(other.otlp_endpoint),
            otlp_headers: otlp_headers.or(other.otlp_headers),
            otlp_service_name: otlp_service_name.or(other.otlp_service_name),
            log: log.or(other.log),
            log_level: log_level.or(other.log_level),
            conformance: conformance.or(other.conformance),
            require_tenant: require_tenant.or(other.require_tenant),
            // Only a file has rules.
            refuse: if refuse.is_empty() { other.refuse } else { refuse },
        }
    }
}

fn on_this_machine(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

fn limits(max_job_bytes: Option<usize>, max_request_bytes: Option<usize>) -> Limits {
    let usual = Limits::default();
    Limits {
        job_bytes: max_job_bytes.unwrap_or(usual.job_bytes),
        request_bytes: max_request_bytes.unwrap_or(usual.request_bytes),
        drain_time: DRAIN_TIME,
        ..usual
    }
}

#[cfg(test)]
mod tests;
