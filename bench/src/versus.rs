//! Two builds of the server by turns under the same load: what a change costs or saves.
//!
//! Both run all the time and only one is loaded, in slices so short that a slow moment of the machine hits neighbours of
//! both kinds. Processor time per operation is steadier still: what others take of a core does not count.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::case::Case;
use crate::home::Home;
use crate::load::{Load, Pace};
use crate::report;
use crate::request::Numbers;
use crate::row::median;
use crate::server::{Binary, Server};

/// More than any server here fetches and acks in a second; one that runs dry measures nothing.
const FETCHED_PER_SECOND_MAX: f64 = 60_000.0;

#[derive(Debug)]
pub(crate) struct Match {
    /// The build in question, and the one that it is held against.
    pub(crate) binaries: [Binary; 2],
    pub(crate) cases: Vec<Case>,
    pub(crate) connections: usize,
    pub(crate) turns: usize,
    pub(crate) pace: Pace,
    pub(crate) directory: PathBuf,
}

/// What one build did in a case.
#[derive(Debug, Default)]
pub(crate) struct Side {
    per_second: Vec<f64>,
    processor_us: f64,
    operations: f64,
}

impl Side {
    pub(crate) fn rate(&self) -> f64 {
        median(self.per_second.iter().copied()).unwrap_or(0.0)
    }

    pub(crate) fn processor_us_each(&self) -> f64 {
        self.processor_us / self.operations
    }
}

/// The median over all turns of the rate of the first : that of the second.
pub(crate) fn rate_ratio([one, two]: &[Side; 2]) -> f64 {
    let turns = one.per_second.iter().zip(&two.per_second);
    median(turns.map(|(one, two)| one / two)).unwrap_or(0.0)
}

pub(crate) async fn run(contest: &Match) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("hapax-bench-").tempdir_in(&contest.directory)?;
    report::versus_head();
    for &case in &contest.cases {
        let sides = contest.play(case, &folder).await.with_context(|| case.name())?;
        report::versus(case, &sides);
    }
    Ok(())
}

impl Match {
    async fn play(&self, case: Case, folder: &TempDir) -> Result<[Side; 2]> {
        let numbers = Arc::new(Numbers::new());
        let homes = [Home::empty(folder.path(), None)?, Home::empty(folder.path(), None)?];
        let mut servers = Vec::new();
        for (binary, home) in self.binaries.iter().zip(&homes) {
            servers.push(Server::start(binary, home, 0).await?);
        }
        let mut sides = [Side::default(), Side::default()];
        for turn in 0..=self.turns {
            // Who begins changes, so that what grows with time favours nobody. The first turn warms up.
            for place in [turn % 2, (turn + 1) % 2] {
                let mut unheard = Side::default();
                let side = if turn == 0 { &mut unheard } else { &mut sides[place] };
                self.slice(case, &mut servers[place], &numbers, side).await?;
            }
        }
        Ok(sides)
    }

    async fn slice(
        &self,
        case: Case,
        server: &mut Server,
        numbers: &Arc<Numbers>,
        side: &mut Side,
    ) -> Result<()> {
        let seconds = self.pace.length.as_secs_f64();
        if case == Case::FetchAck {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of jobs")]
            server.fill((FETCHED_PER_SECOND_MAX * seconds) as u64, numbers).await?;
        }
        let load = Load {
            address: server.address(),
            connections: self.connections,
            pace: self.pace,
            numbers: Arc::clone(numbers),
        };
        let before = server.process.processor_us()?;
        let sample = case.run(&load).await?;
        side.processor_us += server.process.processor_us()? - before;
        side.operations += sample.operations;
        side.per_second.push(sample.per_second);
        server.count_change(sample.waiting_change);
        server.process.check_alive()
    }
}
