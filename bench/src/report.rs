//! Everything the benchmark prints.
#![expect(clippy::print_stdout, reason = "the printed table is the result of this program")]

use serde::Serialize;

use crate::churn::Churn;
use crate::row::{Cell, Row};
use crate::stored::Start;
use crate::targets::{Bound, Target, Verdict};

/// The whole result, as `--json` writes it.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) cores: usize,
    pub(crate) seconds: f64,
    pub(crate) rounds: usize,
    pub(crate) sync_us: f64,
    pub(crate) bare: Vec<BareCeiling>,
    pub(crate) start: Option<Start>,
    pub(crate) churn: Option<Churn>,
    pub(crate) rows: Vec<Row>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) targets: Vec<Target>,
}

#[derive(Debug, Serialize)]
pub(crate) struct BareCeiling {
    pub(crate) what: &'static str,
    pub(crate) connections: usize,
    pub(crate) group: usize,
    pub(crate) jobs_per_second: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) case: &'static str,
    pub(crate) connections: usize,
    pub(crate) error: String,
}

/// Progress goes to stderr, so that the table can be piped.
pub(crate) fn progress(text: &str) {
    eprintln!("  {text}");
}

pub(crate) fn ceilings(sync_us: f64, bare: &[BareCeiling]) {
    println!("one append with fsync: {sync_us:.0} us (median)");
    for BareCeiling { what, connections, group, jobs_per_second } in bare {
        println!("{what}, {connections} at a time, in groups of {group}: {jobs_per_second:.0} jobs/s");
    }
}

/// The columns of the table and their widths.
const COLUMNS: [(&str, usize); 13] = [
    ("case", 11),
    ("conns", 5),
    ("stored", 8),
    ("server/s", 9),
    ("echo/s", 9),
    ("spread", 6),
    ("% echo", 6),
    ("bare/s", 8),
    ("% bare", 6),
    ("sync us", 7),
    ("p50 us", 8),
    ("p99 us", 8),
    ("cost", 5),
];

pub(crate) fn table_head() {
    println!();
    line(&COLUMNS.map(|(name, _)| name.to_owned()));
}

pub(crate) fn row(row: &Row) {
    let server = row.server.as_ref();
    line(&[
        row.case.name().to_owned(),
        row.connections.to_string(),
        row.stored_jobs.to_string(),
        figure(server.map(|server| server.per_second), 0),
        figure(Some(row.echo_per_second), 0),
        figure(Some(row.echo_spread), 2),
        figure(server.map(|server| server.percent_of_echo), 1),
        figure(row.bare_per_second, 0),
        figure(server.and_then(|server| server.percent_of_bare), 1),
        figure(Some(row.sync_us), 0),
        figure(server.map(|server| server.p50_us), 0),
        figure(server.map(|server| server.p99_us), 0),
        figure(server.and_then(|server| server.cost), 2),
    ]);
}

pub(crate) fn failure(cell: Cell, error: &str) {
    println!("{:<11} {:>5} FAILED: {error}", cell.case.name(), cell.connections);
}

pub(crate) fn legend() {
    println!("{LEGEND}");
}

const LEGEND: &str = "
rates: batch counts jobs (100 per request), the others requests (fetch-ack 2, end-to-end 3 per job)
spread: fastest round of the echo : slowest; well above 1, the machine was not quiet, so measure again
%: median of the ratios of each round
bare: the same bytes written by the means of the store alone. Embedded: appended and synced in groups as large as there are
connections, batch 100. PostgreSQL: inserted by as many connections, one commit per job, batch one per 100
sync: one append of one job with its fsync, median; p50, p99: of the whole operation; cost: time per operation : that with nothing stored";

pub(crate) fn targets(targets: &[Target]) {
    println!();
    println!("Targets");
    for target in targets {
        let (sign, limit) = match target.bound {
            Bound::AtLeast(limit) => (">=", limit),
            Bound::AtMost(limit) => ("<=", limit),
        };
        let verdict = match target.verdict {
            Verdict::Met => "met",
            Verdict::Missed => "MISSED",
            Verdict::NotMeasured => "not measured",
        };
        let Target { name, unit, measured, .. } = target;
        let measured = figure(*measured, 2);
        println!("  {name:<72} {sign} {limit:>6} {unit:<3}  {measured:>8} {unit:<3}  {verdict}");
    }
}

fn line(cells: &[String; COLUMNS.len()]) {
    for (cell, (_, width)) in cells.iter().zip(COLUMNS) {
        print!("{cell:>width$} ");
    }
    println!();
}

fn figure(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.decimals$}"))
}
