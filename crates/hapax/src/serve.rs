//! The server's life: its parts are put together, run until a signal or a failure, and end in order.

use std::io;
use std::net::SocketAddr;
use std::process;
use std::sync::Arc;

use hapax_broker::{Broker, Clock, Entropy as _, Outbox, OutboxSettings};
use hapax_carrier::HttpCarrier;
use hapax_core::Rules;
use hapax_core::webhook::Reach;
use hapax_http::{Bound, Metrics};
use hapax_store::{CommitObserver, MemoryStore, Store};
use hapax_store_postgres::{self as postgres, PostgresStore};
use hapax_store_sqlite::{self as sqlite, OpenError, SqliteStore};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinSet};

use crate::banner::Banner;
use crate::cli::LogFormat;
use crate::clock::{SharedClock, SystemClock};
use crate::config::{Config, LogConfig, StoreConfig};
use crate::entropy::SystemEntropy;
use crate::failure::Failure;
use crate::migrate;
use crate::signals::Signals;
use crate::telemetry::Exporter;

/// Runs the server until it is told to stop.
pub(crate) async fn run(config: Config) -> Result<(), Failure> {
    let Config {
        listen,
        store: kept,
        keys,
        conformance,
        entrance,
        rules,
        limits,
        webhook_reach,
        telemetry,
        log: LogConfig { format, filter: _ },
    } = config;
    // First: a server that cannot have its address makes no folder, takes no lock and migrates no database.
    let reserved = hapax_http::reserve(listen).map_err(|error| not_bound(listen, &error))?;
    let metrics = Metrics::new();
    let entropy = SystemEntropy::open();
    let entropy = entropy.map_err(|error| Failure::because("the system gives no random numbers", &error))?;
    let outbox = Arc::new(outbox(&entropy, rules.clone(), webhook_reach));
    let fittings = Fittings {
        rules: rules.clone(),
        observer: metrics.commit_observer(),
        outbox: Arc::clone(&outbox) as Arc<dyn hapax_store::Outbox>,
    };
    let Opened { store, clock } = open(&kept, fittings).await?;
    let observer = metrics.broker_observer();
    let broker = Broker::with_outbox(Arc::clone(&store), clock, Arc::new(entropy), rules, observer, outbox);
    let learnt = broker.learn_settings().await;
    learnt.map_err(|error| Failure::because("the settings of the queues could not be read", &error))?;
    // Before anything can happen of which somebody is to be told.
    let opened = broker.open_outbox().await;
    opened.map_err(|error| Failure::because("could not read who has subscribed to webhooks", &error))?;
    let known_keys = keys.len();
    let (backend, durable) = match kept {
        StoreConfig::Embedded { .. } => ("sqlite", true),
        StoreConfig::Memory => ("memory", false),
        StoreConfig::Postgres { .. } => ("postgres", true),
    };
    let http =
        hapax_http::Config { keys, conformance, entrance, limits, backend, durable, version: crate::VERSION };
    let telemetry = telemetry.map(|telemetry| telemetry.fit(&broker, &metrics));
    let bound = hapax_http::listen(reserved, http, broker.clone(), metrics)
        .map_err(|error| not_bound(listen, &error))?;
    let listen = bound.local_addr().map_err(|error| not_bound(listen, &error))?;

    let signals = Signals::catch().map_err(|error| Failure::because("could not catch signals", &error))?;
    let server = Server::start(store, broker, bound, telemetry);
    let banner = Banner { listen, store: &kept, keys: known_keys, conformance };
    match format {
        LogFormat::Text => eprintln!("{banner}"),
        LogFormat::Json => banner.log(),
    }
    server.run(signals).await
}

/// A server that is up.
struct Server {
    store: Arc<dyn Store>,
    broker: Broker,
    /// The requests, the herald, the chores and who tells others. None ends by itself.
    parts: JoinSet<Result<(), Failure>>,
    stop: oneshot::Sender<()>,
}

impl Server {
    fn start(store: Arc<dyn Store>, broker: Broker, bound: Bound, telemetry: Option<Exporter>) -> Server {
        let (stop, stopped) = oneshot::channel::<()>();
        let (requests_over, requests_ended) = oneshot::channel::<()>();
        let (telling_over, telling_ended) = oneshot::channel::<()>();
        let (webhooks_over, webhooks_ended) = oneshot::channel::<()>();
        let (chores_over, chores_ended) = oneshot::channel::<()>();
        let mut parts = JoinSet::new();
        parts.spawn(async move {
            let served = bound.serve(async { drop(stopped.await) }).await;
            drop((requests_over, telling_over, webhooks_over));
            served.map_err(|error| Failure::because("the server could not go on listening", &error))
        });
        // Streams of events are requests, and the herald is there for them.
        let herald = broker.clone();
        parts.spawn(async move {
            herald.run_herald(async { drop(telling_ended.await) }).await;
            Ok(())
        });
        // The chores end after the requests, which may wait for what they do.
        let chores = broker.clone();
        parts.spawn(async move {
            let done = chores.run_chores(async { drop(requests_ended.await) }).await;
            drop(chores_over);
            done.map_err(|error| Failure::because("the chores could not go on", &error))
        });
        // So do the webhooks: a subscription may be made, and an event be stored, by the last request.
        let webhooks = broker.clone();
        parts.spawn(async move {
            webhooks.run_webhooks(async { drop(webhooks_ended.await) }).await;
            Ok(())
        });
        // Spans tell of all of that.
        if let Some(exporter) = telemetry {
            parts.spawn(async move {
                exporter.run(async { drop(chores_ended.await) }).await;
                Ok(())
            });
        }
        Server { store, broker, parts, stop }
    }

    async fn run(mut self, mut signals: Signals) -> Result<(), Failure> {
        let early = tokio::select! {
            signal = signals.next() => {
                tracing::info!("{} came: requests in progress end, then the server stops", signal.name());
                None
            }
            ended = self.parts.join_next() => ended,
        };
        tokio::select! {
            ended = self.end(early) => ended,
            again = signals.next() => {
                tracing::warn!("{} came again: the server stops at once", again.name());
                process::exit(again.exit_code())
            }
        }
    }

    /// Waiting fetches end at once, other requests when they are done, then the chores, then the store.
    async fn end(self, early: Option<Result<Result<(), Failure>, JoinError>>) -> Result<(), Failure> {
        let Server { store, broker, mut parts, stop } = self;
        broker.begin_shutdown();
        drop(stop);
        let mut result = early.map_or(Ok(()), outcome);
        while let Some(ended) = parts.join_next().await {
            result = result.and(outcome(ended));
        }
        let closed = store.close().await;
        result.and(closed.map_err(|error| Failure::because("the store could not be closed", &error)))?;
        tracing::info!("stopped");
        Ok(())
    }
}

fn outcome(ended: Result<Result<(), Failure>, JoinError>) -> Result<(), Failure> {
    ended.unwrap_or_else(|error| Err(Failure::because("a part of the server is defect", &error)))
}

/// What turns events into deliveries and sends them.
fn outbox(entropy: &SystemEntropy, rules: Rules, reach: Reach) -> Outbox {
    let mut mark = [0; 4];
    entropy.fill(&mut mark);
    Outbox::new(OutboxSettings {
        rules,
        reach,
        mark,
        render: Arc::new(hapax_http::event_text),
        carrier: Arc::new(HttpCarrier::new(reach, crate::VERSION)),
    })
}

/// What a store is fitted with, whichever it is.
struct Fittings {
    rules: Rules,
    observer: CommitObserver,
    outbox: Arc<dyn hapax_store::Outbox>,
}

/// A store that is open, and the clock that goes with it.
struct Opened {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
}

async fn open(kept: &StoreConfig, fittings: Fittings) -> Result<Opened, Failure> {
    let Fittings { rules, observer, outbox } = fittings;
    match kept {
        StoreConfig::Memory => {
            let store = MemoryStore::with_outbox(rules, outbox);
            Ok(Opened { store: Arc::new(store), clock: Arc::new(SystemClock) })
        }
        StoreConfig::Embedded { data } => {
            let settings = sqlite::Settings { outbox, ..sqlite::Settings::new(rules, observer) };
            let store = SqliteStore::open_with(data, settings).map_err(|error| not_opened(&error))?;
            Ok(Opened { store: Arc::new(store), clock: Arc::new(SystemClock) })
        }
        StoreConfig::Postgres { database, listen, schema, connections } => {
            let settings = postgres::Settings {
                database: database.clone(),
                listen: listen.clone(),
                schema: schema.clone(),
                connections: *connections,
                rules,
                observer,
                outbox,
            };
            // It has threads of its own and waits for them.
            let opened = tokio::task::spawn_blocking(|| PostgresStore::open(settings)).await;
            let opened = opened.map_err(|error| Failure::because("could not open the store", &error))?;
            let store = opened.map_err(|error| migrate::refused(database, &error))?;
            let clock = Arc::new(SharedClock(store.clock()));
            Ok(Opened { store: Arc::new(store), clock })
        }
    }
}

/// Why a folder cannot be used, and what to do about it.
pub(crate) fn not_opened(error: &OpenError) -> Failure {
    let hint = match error {
        OpenError::Nothing(_) => "see that --data names the right folder",
        OpenError::NotEmpty { .. } => {
            "an import needs a store without jobs: choose another folder with --data"
        }
        OpenError::Unfinished(_) => {
            "run the same `hapax import` again with the same export, and it goes on where it was; to give the \
             import up, delete the folder"
        }
        OpenError::InUse(_) => {
            "another hapax serves this folder: stop it, or choose another folder with --data"
        }
        OpenError::Newer { .. } => "run the version of hapax that wrote it, or a later one",
        OpenError::Io { .. } => "choose a folder that this user may write to with --data",
        OpenError::Foreign(_) | OpenError::LogWithoutDatabase(_) | OpenError::Fault { .. } => {
            "nothing was changed; another folder can be chosen with --data"
        }
    };
    Failure::because("could not open the store", error).hint(hint)
}

fn not_bound(listen: SocketAddr, error: &io::Error) -> Failure {
    let failure = Failure::because(format!("could not listen on {listen}"), error);
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            failure.hint("another program listens there: stop it, or choose another port with --listen")
        }
        io::ErrorKind::PermissionDenied => failure.hint("choose a port above 1023 with --listen"),
        io::ErrorKind::AddrNotAvailable => {
            failure.hint("the address is not one of this machine: choose another with --listen")
        }
        _ => failure,
    }
}
