//! A run: for every case the ceilings and the server by turns, round after round.

mod answers;

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result};
use hapax_pg_cluster::Cluster;
use tempfile::TempDir;

use crate::answer_sizes::AnswerSizes;
use crate::append::Append;
use crate::bare::Bare;
use crate::case::Case;
use crate::child::Listening;
use crate::home::{self, Home};
use crate::inserts::Inserts;
use crate::load::{Load, Pace};
use crate::question::Question;
use crate::report::{self, Failure, Results};
use crate::request::Numbers;
use crate::row::{self, Cell, Round, Row};
use crate::server::{Binary, Server};
use crate::stored::Stored;
use crate::tally::Sample;
use crate::targets;

#[derive(Debug)]
pub(crate) struct Settings {
    /// `None` measures the ceilings alone.
    pub(crate) server: Option<Binary>,
    /// Whether the servers share a database instead of having a folder each.
    pub(crate) postgres: bool,
    pub(crate) cases: Vec<Case>,
    /// What to find out beside the table.
    pub(crate) questions: Vec<Question>,
    pub(crate) connections: Vec<usize>,
    pub(crate) rounds: usize,
    pub(crate) pace: Pace,
    /// 0 leaves the server with stored jobs out.
    pub(crate) stored: u64,
    /// Holds the data of the servers and the file of the append ceiling.
    pub(crate) directory: PathBuf,
}

/// The processes come first: they are dropped, and thereby killed, before their directory is removed.
#[derive(Debug)]
struct Bench {
    echo: Listening,
    stored: Option<Stored>,
    append: Append,
    bare: Bare,
    sizes: AnswerSizes,
    numbers: Arc<Numbers>,
    settings: Settings,
    /// After everything that has a database in it.
    cluster: Option<Arc<Cluster>>,
    directory: TempDir,
}

pub(crate) async fn run(settings: Settings) -> Result<Results> {
    let mut bench = Bench::prepare(settings).await?;
    let sync_us = bench.append.sync_us()?;
    let bare = bench.bare.ceilings(bench.settings.pace).await?;
    report::ceilings(sync_us, &bare);
    report::table_head();
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    for cell in bench.cells() {
        match bench.measure(cell).await {
            Ok(measured) => rows.extend(measured),
            Err(error) => failures.push(failed(cell, &error)),
        }
    }
    let start = bench.stored.as_ref().and_then(|stored| stored.start);
    let findings = bench.findings(&mut failures).await;
    let targets = targets::judge(&rows, start, &bench.settings, &findings);
    let cores = std::thread::available_parallelism()?.get();
    let Settings { pace, rounds, .. } = bench.settings;
    let seconds = pace.length.as_secs_f64();
    Ok(Results { cores, seconds, rounds, sync_us, bare, start, findings, rows, failures, targets })
}

impl Bench {
    async fn prepare(settings: Settings) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("hapax-bench-").tempdir_in(&settings.directory)?;
        let mut command = Command::new(std::env::current_exe()?);
        let echo = Listening::start(command.arg("echo"), &directory.path().join("echo.log")).await?;
        let append = Append::create(directory.path(), "probe")?;
        let cluster = settings.postgres.then(home::cluster).transpose()?;
        let bare = match &cluster {
            Some(cluster) => Bare::Inserts(Arc::new(Inserts::create(cluster))),
            None => Bare::Append(Append::create(directory.path(), "append")?),
        };
        let numbers = Arc::new(Numbers::new());
        let sizes = AnswerSizes::default();
        let mut bench =
            Self { echo, stored: None, append, bare, sizes, numbers, settings, cluster, directory };
        if let Some(binary) = bench.settings.server.clone() {
            bench.prepare_server(&binary).await?;
        }
        Ok(bench)
    }

    async fn prepare_server(&mut self, binary: &Binary) -> Result<()> {
        let (server, _home) = self.empty_server(binary).await?;
        self.sizes = AnswerSizes::learn(server.address(), &self.numbers).await?;
        drop(server);
        report::progress(&format!("answers in bytes: {:?}", self.sizes));
        if self.settings.stored > 0 && !self.settings.cases.is_empty() {
            let place = (self.directory.path().to_owned(), self.empty_home()?);
            self.stored = Some(Stored::prepare(binary, place, self.settings.stored, &self.numbers).await?);
        }
        Ok(())
    }

    fn cells(&self) -> Vec<Cell> {
        let Settings { cases, connections, .. } = &self.settings;
        let of_case = |&case| connections.iter().map(move |&connections| Cell { case, connections });
        cases.iter().flat_map(of_case).collect()
    }

    async fn measure(&mut self, cell: Cell) -> Result<Vec<Row>> {
        let mut rounds = Vec::new();
        for _ in 0..self.settings.rounds {
            rounds.push(self.round(cell).await?);
        }
        let mut rows = vec![Row::of(cell, 0, &rounds)];
        if self.stored.is_some() {
            let mut row = Row::of(cell, self.settings.stored, &rounds);
            if let Some(served) = &mut row.server {
                served.cost = row::cost(&rounds);
            }
            rows.push(row);
        }
        rows.iter().for_each(report::row);
        Ok(rows)
    }

    async fn round(&mut self, cell: Cell) -> Result<Round> {
        let echo = self.load(cell, &self.echo).script(&cell.case.echo(&self.sizes)).await.context("echo")?;
        let sync_us = self.append.sync_us()?;
        let bare = self.bare.beside(cell, self.settings.pace).await.context("the ceiling of the store")?;
        let empty = match self.settings.server.clone() {
            Some(binary) => Some(self.against_empty(cell, &binary, echo).await.context("nothing stored")?),
            None => None,
        };
        let stored = self.against_stored(cell, echo).await.context("with stored jobs")?;
        Ok(Round { echo, sync_us, bare, empty, stored })
    }

    async fn against_empty(&self, cell: Cell, binary: &Binary, echo: Sample) -> Result<Sample> {
        let (mut server, _home) = self.empty_server(binary).await?;
        server.fill(self.jobs_needed(cell, echo), &self.numbers).await?;
        let sample = cell.case.run(&self.load(cell, &server.process)).await;
        server.process.check_alive()?;
        sample
    }

    async fn against_stored(&mut self, cell: Cell, echo: Sample) -> Result<Option<Sample>> {
        let needed = self.jobs_needed(cell, echo);
        let Some(mut stored) = self.stored.take() else { return Ok(None) };
        let sample = self.load_stored(cell, &mut stored, needed).await;
        self.stored = Some(stored);
        sample.map(Some)
    }

    async fn load_stored(&self, cell: Cell, stored: &mut Stored, needed: u64) -> Result<Sample> {
        let server = stored.ready().await?;
        server.fill(needed, &self.numbers).await?;
        let sample = cell.case.run(&self.load(cell, &server.process)).await;
        server.process.check_alive()?;
        if let Ok(sample) = sample {
            server.count_change(sample.waiting_change);
        }
        sample
    }

    /// A server can hardly be faster than the echo, so its queue lasts for the whole measurement.
    fn jobs_needed(&self, cell: Cell, echo: Sample) -> u64 {
        if cell.case != Case::FetchAck {
            return 0;
        }
        let Pace { warm_up, length } = self.settings.pace;
        let jobs = echo.per_second / 2.0 * (warm_up + length).as_secs_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive count of jobs"
        )]
        let jobs = jobs as u64;
        jobs + cell.connections as u64
    }

    /// The server comes first, so that it is dropped before its home.
    async fn empty_server(&self, binary: &Binary) -> Result<(Server, Home)> {
        let home = self.empty_home()?;
        Ok((Server::start(binary, &home, 0).await?, home))
    }

    fn empty_home(&self) -> Result<Home> {
        Home::empty(self.directory.path(), self.cluster.as_deref())
    }

    fn load(&self, cell: Cell, process: &Listening) -> Load {
        Load {
            address: process.address,
            connections: cell.connections,
            pace: self.settings.pace,
            numbers: Arc::clone(&self.numbers),
        }
    }
}

fn failed(cell: Cell, error: &anyhow::Error) -> Failure {
    let error = format!("{error:#}");
    report::failure(cell, &error);
    Failure { case: cell.case.name(), connections: Some(cell.connections), error }
}
