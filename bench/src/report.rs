//! Everything the benchmark prints.
#![expect(clippy::print_stdout, reason = "the printed table is the result of this program")]

use serde::Serialize;

use crate::case::Case;
use crate::limits::Limits;
use crate::listeners::{Listeners, Pair};
use crate::question::{Findings, Question};
use crate::row::{Cell, Row};
use crate::stored::Start;
use crate::targets::{Bound, Target, Verdict};
use crate::versus::{self, Side};

/// The whole result, as `--json` writes it.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) cores: usize,
    pub(crate) seconds: f64,
    pub(crate) rounds: usize,
    pub(crate) sync_us: f64,
    pub(crate) bare: Vec<BareCeiling>,
    pub(crate) start: Option<Start>,
    pub(crate) findings: Findings,
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
    /// Of a case of the table.
    pub(crate) connections: Option<usize>,
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

pub(crate) fn unanswered(question: Question, error: &str) {
    println!("{:<11} FAILED: {error}", question.name());
}

/// What was found out beside the table.
pub(crate) fn findings(findings: &Findings) {
    println!();
    if let Some(scheduled) = findings.scheduled {
        println!("{} jobs due at one moment: all available {:.2} s later", scheduled.jobs, scheduled.seconds);
    }
    if let Some(limits) = findings.limits {
        let Limits { keys, plain_per_second: plain, .. } = limits;
        println!(
            "claims/s without rate limits: {plain:.0}; under {keys} of them: {:.0} by concurrency, {:.0} by rate",
            limits.concurrency_per_second, limits.rate_per_second
        );
    }
    for ordered in &findings.ordering {
        println!(
            "fetched and acked under {} ordering keys: {:.0} jobs/s",
            ordered.keys, ordered.jobs_per_second
        );
    }
    if let Some(listeners) = findings.listeners {
        let Listeners { count, bytes_each, .. } = listeners;
        println!("{count} listeners, {bytes_each} bytes of memory each, and what enqueues notice of them:");
        let Listeners { beside_per_second, paced_us, heard_per_second, .. } = listeners;
        let Pair { before, after, .. } = beside_per_second;
        println!("  to another queue: {after:.0}/s, without them {before:.0}/s");
        let Pair { before, after, .. } = paced_us;
        println!("  to their queue, one at a time: {after:.0} us, without them {before:.0} us (medians)");
        let Pair { before, after, .. } = heard_per_second;
        println!("  to their queue, as fast as can be: {after:.0}/s, without them {before:.0}/s");
    }
}

pub(crate) fn versus_head() {
    println!("case          this/s   other/s   ratio   this us  other us   ratio");
}

/// Rates with the median of their ratios, then processor time per operation.
pub(crate) fn versus(case: Case, sides: &[Side; 2]) {
    let [this, other] = sides.each_ref().map(Side::rate);
    let [this_us, other_us] = sides.each_ref().map(Side::processor_us_each);
    println!(
        "{:<11} {this:>8.0}  {other:>8.0}  {:>6.3}  {this_us:>8.2}  {other_us:>8.2}  {:>6.3}",
        case.name(),
        versus::rate_ratio(sides),
        this_us / other_us
    );
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
