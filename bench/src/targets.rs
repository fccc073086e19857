//! The targets, and whether this run met them.

use serde::Serialize;

use crate::case::Case;
use crate::churn::Churn;
use crate::listeners::{Listeners, Pair};
use crate::question::Findings;
use crate::row::{Row, Served};
use crate::run::Settings;
use crate::stored::Start;

/// The p99 of a single enqueue may take this many syncs.
const SYNCS_MAX: f64 = 6.0;
const COST_MAX: f64 = 1.3;
/// The same on PostgreSQL.
const SHARED_COST_MAX: f64 = 1.5;
/// As fast: what is left is noise.
const HOLDER_COST_MAX: f64 = 1.2;
const START_SECONDS_MAX: f64 = 10.0;
const RSS_MIB_MAX: f64 = 1024.0;
const ECHO_PERCENT_MIN: f64 = 40.0;
const CHURN_MAX: f64 = 2.0;
const APPEND_PERCENT_MIN: f64 = 15.0;
const INSERT_PERCENT_MIN: f64 = 40.0;
/// The rate of one commit per job, so many times.
const COMMIT_TIMES_MIN: f64 = 2.0;

const DUE_SECONDS_MAX: f64 = 2.0;
const LIMIT_COST_MAX: f64 = 1.5;
/// 64 connections at one key stand in a line; at many, nobody waits for anybody.
const ORDERING_GAIN_MIN: f64 = 4.0;
/// Who hears nothing costs nothing: what is left is noise.
const BESIDE_LISTENERS_MIN: f64 = 0.9;
/// The answer does not wait for ten thousand copies; but the cores are busy with those of the job before, or with its own.
const HEARD_COST_MAX: f64 = 2.0;
/// Streams leave most of the machine to whoever writes; listeners on the same one, as here, take a part as well.
const HEARD_RATE_MIN: f64 = 0.8;

#[derive(Debug, Serialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) bound: Bound,
    pub(crate) unit: &'static str,
    /// `None` when the run left it out.
    pub(crate) measured: Option<f64>,
    pub(crate) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Met,
    Missed,
    NotMeasured,
}

impl Target {
    fn new(name: impl Into<String>, bound: Bound, unit: &'static str, measured: Option<f64>) -> Self {
        let verdict = measured.map_or(Verdict::NotMeasured, |measured| {
            let met = match bound {
                Bound::AtLeast(limit) => measured >= limit,
                Bound::AtMost(limit) => measured <= limit,
            };
            if met { Verdict::Met } else { Verdict::Missed }
        });
        Self { name: name.into(), bound, unit, measured, verdict }
    }
}

pub(crate) fn judge(
    rows: &[Row],
    start: Option<Start>,
    settings: &Settings,
    findings: &Findings,
) -> Vec<Target> {
    let stored = settings.stored;
    let mut targets = Vec::new();
    if settings.postgres {
        targets.extend(insert_targets(rows));
        targets.extend(cost_targets(rows, stored, SHARED_COST_MAX));
        targets.push(Target::new(
            format!("size of the tables after {stored} jobs have passed : the same rows afresh"),
            Bound::AtMost(CHURN_MAX),
            "x",
            findings.churn.map(Churn::times),
        ));
    } else {
        targets.extend(echo_targets(rows));
        targets.push(append_target(rows));
        targets.push(latency_target(rows));
        targets.extend(cost_targets(rows, stored, COST_MAX));
    }
    targets.push(Target::new(
        "decision with 10,000 finished holders : with two, the slowest policy",
        Bound::AtMost(HOLDER_COST_MAX),
        "x",
        findings.holder_cost,
    ));
    targets.extend(finding_targets(findings));
    targets.extend(start_targets(start, stored));
    targets
}

fn echo_targets(rows: &[Row]) -> Vec<Target> {
    [
        ("unique enqueue, 64 connections, of echo", Case::Unique),
        ("fetch+ack, 64 connections, of echo", Case::FetchAck),
        ("99 % duplicates, 64 connections, of echo", Case::Duplicates),
    ]
    .map(|(name, case)| {
        let measured = served(rows, case, 64, false).map(|(_, served)| served.percent_of_echo);
        Target::new(name, Bound::AtLeast(ECHO_PERCENT_MIN), "%", measured)
    })
    .into()
}

fn append_target(rows: &[Row]) -> Target {
    Target::new(
        "unique enqueue in batches of 100, 16 connections, of append-and-fsync",
        Bound::AtLeast(APPEND_PERCENT_MIN),
        "%",
        percent_of_bare(rows, Case::Batch, 16),
    )
}

fn latency_target(rows: &[Row]) -> Target {
    Target::new(
        "p99 of a single unique enqueue, 16 connections, in fsyncs",
        Bound::AtMost(SYNCS_MAX),
        "x",
        served(rows, Case::Unique, 16, false).map(|(row, served)| served.p99_us / row.sync_us),
    )
}

fn insert_targets(rows: &[Row]) -> [Target; 3] {
    let times = |case| percent_of_bare(rows, case, 64).map(|percent| percent / 100.0);
    [
        Target::new(
            "unique enqueue in batches of 100, 16 connections, of batched inserts",
            Bound::AtLeast(INSERT_PERCENT_MIN),
            "%",
            percent_of_bare(rows, Case::Batch, 16),
        ),
        Target::new(
            "unique enqueue, 64 connections : one insert and commit per job",
            Bound::AtLeast(COMMIT_TIMES_MIN),
            "x",
            times(Case::Unique),
        ),
        Target::new(
            "fetch+ack, 64 connections : one insert and commit per request",
            Bound::AtLeast(COMMIT_TIMES_MIN),
            "x",
            times(Case::FetchAck),
        ),
    ]
}

fn cost_targets(rows: &[Row], stored: u64, cost_max: f64) -> [Target; 2] {
    [("batches of 100, 16 connections", Case::Batch, 16), ("single unique, 64 connections", Case::Unique, 64)]
        .map(|(name, case, connections)| {
            Target::new(
                format!("cost per job with {stored} stored : none, {name}"),
                Bound::AtMost(cost_max),
                "x",
                served(rows, case, connections, true).and_then(|(_, served)| served.cost),
            )
        })
}

fn start_targets(start: Option<Start>, stored: u64) -> [Target; 2] {
    #[expect(clippy::cast_precision_loss, reason = "a memory size in MiB, shown without decimals")]
    let rss_mib = start.map(|start| start.rss_bytes as f64 / f64::from(1024 * 1024));
    [
        Target::new(
            format!("start with {stored} waiting"),
            Bound::AtMost(START_SECONDS_MAX),
            "s",
            start.map(|start| start.seconds),
        ),
        Target::new(format!("RSS with {stored} waiting"), Bound::AtMost(RSS_MIB_MAX), "MiB", rss_mib),
    ]
}

fn finding_targets(findings: &Findings) -> [Target; 7] {
    let heard = |figure: fn(Listeners) -> Pair| findings.listeners.map(|heard| figure(heard).ratio);
    [
        Target::new(
            "100,000 jobs due at one moment: until all are available",
            Bound::AtMost(DUE_SECONDS_MAX),
            "s",
            findings.scheduled.map(|scheduled| scheduled.seconds),
        ),
        Target::new(
            "claim under 10,000 limits by concurrency : without limits",
            Bound::AtMost(LIMIT_COST_MAX),
            "x",
            findings.limits.map(|limits| limits.concurrency_cost),
        ),
        Target::new(
            "claim under 10,000 limits by rate : without limits",
            Bound::AtMost(LIMIT_COST_MAX),
            "x",
            findings.limits.map(|limits| limits.rate_cost),
        ),
        Target::new(
            "fetch+ack under 4096 ordering keys : under one",
            Bound::AtLeast(ORDERING_GAIN_MIN),
            "x",
            findings.ordering_gain(),
        ),
        Target::new(
            "enqueues beside a queue with 10,000 listeners : without them",
            Bound::AtLeast(BESIDE_LISTENERS_MIN),
            "x",
            heard(|heard| heard.beside_per_second),
        ),
        Target::new(
            "enqueue to a queue with 10,000 listeners, paced : without them",
            Bound::AtMost(HEARD_COST_MAX),
            "x",
            heard(|heard| heard.paced_us),
        ),
        Target::new(
            "enqueues to a queue with 10,000 listeners, as fast as can be : without them",
            Bound::AtLeast(HEARD_RATE_MIN),
            "x",
            heard(|heard| heard.heard_per_second),
        ),
    ]
}

fn percent_of_bare(rows: &[Row], case: Case, connections: usize) -> Option<f64> {
    served(rows, case, connections, false).and_then(|(_, served)| served.percent_of_bare)
}

fn served(rows: &[Row], case: Case, connections: usize, with_stored: bool) -> Option<(&Row, &Served)> {
    let row = rows.iter().find(|row| row.is(case, connections, with_stored))?;
    Some((row, row.server.as_ref()?))
}
