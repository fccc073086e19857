//! Measures the server against the ceilings of the machine it runs on, in the same run.

mod answer_sizes;
mod append;
mod bare;
mod case;
mod child;
mod churn;
mod client;
mod clock;
mod echo;
mod histogram;
mod holders;
mod home;
mod inserts;
mod job;
mod limits;
mod listen;
mod listeners;
mod load;
mod ordering;
mod pairs;
mod pipeline;
mod question;
mod report;
mod request;
mod row;
mod run;
mod scheduled;
mod script;
mod server;
mod stored;
mod tally;
mod targets;
mod versus;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Parser};
use tokio::signal::unix::{SignalKind, signal};

use crate::case::Case;
use crate::load::Pace;
use crate::question::Question;
use crate::run::Settings;
use crate::server::Binary;
use crate::versus::Match;

#[derive(Debug, Parser)]
#[command(about = "Measures Hapax against an HTTP echo and the bare means of its store")]
enum Task {
    /// Measure, and print a table with the targets.
    Run(RunArguments),
    /// Load two builds of the server by turns, and print what the first does and costs beside the second.
    Versus(VersusArguments),
    /// The HTTP ceiling; `run` starts it.
    Echo {
        #[arg(long)]
        listen: SocketAddr,
    },
    /// Listeners to a queue; `run` starts them.
    Listen {
        #[arg(long)]
        address: SocketAddr,
        #[arg(long)]
        queue: String,
        #[arg(long)]
        count: usize,
    },
}

#[derive(Debug, Args)]
struct RunArguments {
    /// The hapax binary; the one beside this program if absent.
    #[arg(long)]
    server: Option<PathBuf>,
    /// Which store the server uses; its default if absent.
    #[arg(long)]
    store: Option<String>,
    /// Measure the server on PostgreSQL, in a throw-away cluster that syncs every commit.
    #[arg(long, conflicts_with = "store")]
    postgres: bool,
    /// Measure the ceilings alone, without a server.
    #[arg(long)]
    ceilings: bool,
    /// Measured seconds of each measurement [default: 2, quick: 0.5].
    #[arg(long)]
    seconds: Option<f64>,
    /// Short measurements and 100,000 stored jobs: for a first look, not for figures.
    #[arg(long)]
    quick: bool,
    /// Jobs stored in the server that has some; 0 leaves it out [default: 1000000].
    #[arg(long)]
    stored: Option<u64>,
    /// Only the cases whose name contains this: enqueue, unique, duplicates, fetch-ack, end-to-end, batch;
    /// holders, scheduled, limits, ordering, listeners; or churn on PostgreSQL: what jobs leave behind in the tables.
    #[arg(long)]
    only: Option<String>,
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    connections: Vec<usize>,
    /// Each figure is the median of so many rounds.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Write the result as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Where the data is put while measuring: on the disk in question, not on a tmpfs [default: beside this program].
    #[arg(long)]
    directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct VersusArguments {
    /// The hapax binary that the other one is held against.
    #[arg(long)]
    other: PathBuf,
    /// The hapax binary in question; the one beside this program if absent.
    #[arg(long)]
    server: Option<PathBuf>,
    /// Only the cases whose name contains this: enqueue, unique, duplicates, fetch-ack, end-to-end, batch.
    #[arg(long, default_value = "")]
    only: String,
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// How often each of the two is loaded.
    #[arg(long, default_value_t = 20)]
    turns: usize,
    /// How long it is loaded each time.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// Where the data is put while measuring: on the disk in question, not on a tmpfs [default: beside this program].
    #[arg(long)]
    directory: Option<PathBuf>,
}

fn main() -> ExitCode {
    perform(Task::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn perform(task: Task) -> Result<ExitCode> {
    match task {
        Task::Run(arguments) => {
            // One thread: the generator must leave the cores to what it measures.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(measure(arguments))
        }
        Task::Versus(arguments) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(versus::run(&contest(arguments)?)).map(|()| ExitCode::SUCCESS)
        }
        Task::Listen { address, queue, count } => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(listen::run(address, &queue, count)).map(|()| ExitCode::SUCCESS)
        }
        Task::Echo { listen } => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(echo::serve(listen)).map(|()| ExitCode::SUCCESS)
        }
    }
}

/// Fails when an answer was not the expected one; a missed target is a result, not a failure.
async fn measure(arguments: RunArguments) -> Result<ExitCode> {
    let json = arguments.json.clone();
    let settings = settings(arguments)?;
    // Dropping the run kills its children and removes its files, which an untreated signal would leave.
    let results = tokio::select! {
        results = Box::pin(run::run(settings)) => results?,
        () = stopped() => bail!("stopped by a signal"),
    };
    report::legend();
    report::targets(&results.targets);
    if let Some(path) = json {
        std::fs::write(path, serde_json::to_vec_pretty(&results)?)?;
    }
    Ok(if results.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn stopped() {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
}

fn contest(arguments: VersusArguments) -> Result<Match> {
    let VersusArguments { other, server, only, connections, turns, seconds, directory } = arguments;
    let beside = std::env::current_exe()?.parent().context("a program without a directory")?.to_owned();
    let server = server.unwrap_or_else(|| beside.join("hapax"));
    for path in [&server, &other] {
        ensure!(path.is_file(), "no server at {}", path.display());
    }
    ensure!(turns > 0 && connections > 0, "turns and connections start at 1");
    let cases: Vec<Case> = Case::ALL.into_iter().filter(|case| case.name().contains(&only)).collect();
    ensure!(!cases.is_empty(), "no case is called {only}");
    Ok(Match {
        binaries: [server, other].map(|path| Binary { path, store: None }),
        cases,
        connections,
        turns,
        pace: Pace { warm_up: Duration::ZERO, length: Duration::try_from_secs_f64(seconds)? },
        directory: directory.unwrap_or(beside),
    })
}

fn settings(arguments: RunArguments) -> Result<Settings> {
    let RunArguments {
        server,
        store,
        postgres,
        ceilings,
        seconds,
        quick,
        stored,
        only,
        connections,
        rounds,
        ..
    } = arguments;
    let beside = std::env::current_exe()?.parent().context("a program without a directory")?.to_owned();
    let path = server.unwrap_or_else(|| beside.join("hapax"));
    let server = (!ceilings).then_some(Binary { path, store });
    if let Some(Binary { path, .. }) = &server {
        ensure!(path.is_file(), "no server at {}; build it, or use --ceilings", path.display());
    }
    let only = only.unwrap_or_default();
    let cases: Vec<Case> = Case::ALL.into_iter().filter(|case| case.name().contains(&only)).collect();
    let stored = stored.unwrap_or(if quick { 100_000 } else { 1_000_000 });
    let is_asked = |question: &Question| {
        question.name().contains(&only) && (*question != Question::Churn || (postgres && stored > 0))
    };
    let questions: Vec<Question> = Question::ALL.into_iter().filter(is_asked).collect();
    ensure!(!questions.is_empty() || !cases.is_empty(), "no case is called {only}");
    ensure!(rounds > 0 && !connections.contains(&0), "rounds and connections start at 1");
    let length = Duration::try_from_secs_f64(seconds.unwrap_or(if quick { 0.5 } else { 2.0 }))?;
    let pace = Pace { warm_up: (length / 5).max(Duration::from_millis(200)), length };
    let directory = arguments.directory.unwrap_or(beside);
    Ok(Settings { server, postgres, cases, questions, connections, rounds, pace, stored, directory })
}
