//! One line of the result: a case at a number of connections with a number of stored jobs.

use serde::Serialize;

use crate::case::Case;
use crate::tally::Sample;

/// What one round measured, in the order of measuring.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) echo: Sample,
    pub(crate) sync_us: f64,
    pub(crate) bare: Option<f64>,
    pub(crate) empty: Option<Sample>,
    pub(crate) stored: Option<Sample>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) case: Case,
    pub(crate) connections: usize,
    pub(crate) stored_jobs: u64,
    pub(crate) unit: &'static str,
    pub(crate) echo_per_second: f64,
    /// The fastest round of the echo : the slowest. Far from 1, the machine was busy with something else.
    pub(crate) echo_spread: f64,
    pub(crate) bare_per_second: Option<f64>,
    /// One append of one job with its sync, measured between the rounds of this row.
    pub(crate) sync_us: f64,
    /// `None` in a run of the ceilings alone.
    pub(crate) server: Option<Served>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Served {
    pub(crate) per_second: f64,
    pub(crate) percent_of_echo: f64,
    pub(crate) percent_of_bare: Option<f64>,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// The time per operation as a multiple of that with nothing stored; only with stored jobs.
    pub(crate) cost: Option<f64>,
}

/// Where a row belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) case: Case,
    pub(crate) connections: usize,
}

impl Row {
    /// Ratios are taken within a round and then their median: a slow moment hits both sides of a round alike.
    pub(crate) fn of(cell: Cell, stored_jobs: u64, rounds: &[Round]) -> Self {
        let sample = |round: &Round| if stored_jobs > 0 { round.stored } else { round.empty };
        Self {
            case: cell.case,
            connections: cell.connections,
            stored_jobs,
            unit: cell.case.unit(),
            echo_per_second: median(rounds.iter().map(|round| round.echo.per_second)).unwrap_or(0.0),
            echo_spread: spread(rounds.iter().map(|round| round.echo.per_second)),
            bare_per_second: median(rounds.iter().filter_map(|round| round.bare)),
            sync_us: median(rounds.iter().map(|round| round.sync_us)).unwrap_or(0.0),
            server: Served::of(rounds, sample),
        }
    }

    pub(crate) fn is(&self, case: Case, connections: usize, with_stored: bool) -> bool {
        self.case == case && self.connections == connections && (self.stored_jobs > 0) == with_stored
    }
}

impl Served {
    fn of(rounds: &[Round], sample: impl Fn(&Round) -> Option<Sample>) -> Option<Self> {
        let of_rounds = |figure: &dyn Fn(&Round, Sample) -> Option<f64>| {
            median(rounds.iter().filter_map(|round| figure(round, sample(round)?)))
        };
        Some(Self {
            per_second: of_rounds(&|_, served| Some(served.per_second))?,
            percent_of_echo: of_rounds(&|round, served| {
                Some(100.0 * served.per_second / round.echo.per_second)
            })?,
            percent_of_bare: of_rounds(&|round, served| Some(100.0 * served.per_second / round.bare?)),
            p50_us: of_rounds(&|_, served| Some(served.p50_us))?,
            p99_us: of_rounds(&|_, served| Some(served.p99_us))?,
            cost: None,
        })
    }
}

/// What an operation costs with stored jobs, as a multiple of what it costs with none.
pub(crate) fn cost(rounds: &[Round]) -> Option<f64> {
    median(rounds.iter().filter_map(|round| Some(round.empty?.per_second / round.stored?.per_second)))
}

fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().fold(0.0, f64::max) / values.fold(f64::INFINITY, f64::min)
}

pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median(std::iter::empty()), None);
    }
}
