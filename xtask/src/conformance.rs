//! `cargo xtask conformance`: the Open Job Spec suite against the built server.

mod cluster;
mod selection;
mod suite;
mod verdict;

use anyhow::{Result, ensure};

use cluster::Cluster;
pub(crate) use selection::Selection;
use selection::{Reading, Store};
use suite::{Spawn, Suite};
pub(crate) use verdict::Tally;

use crate::{console, test};

/// The parts of the suite that Hapax implements; the others belong to optional levels.
const PATHS: &[&str] = &[
    "level-0-core",
    "level-1-reliable",
    "level-4-advanced/unique",
    "level-4-advanced/bulk",
    "level-4-advanced/priority",
];

/// A case that contradicts the specification or itself, and so cannot pass.
struct ExpectedFailure {
    /// Test id and name: the suite gives some ids to two cases.
    case: &'static str,
    readings: &'static [Reading],
    #[expect(dead_code, reason = "read by people: no exception without its reason")]
    reason: &'static str,
}

const EXPECTED_FAILURES: &[ExpectedFailure] = &[ExpectedFailure {
    case: "L1-RTR-014 retry-error-history-tracked",
    readings: &[Reading::Default, Reading::Strict],
    reason: "asserts error types that no request of the case sends",
}];

pub(crate) fn main(args: &[String]) -> Result<()> {
    let selection = Selection::parse(args)?;
    test::build_server()?;
    let tally = run(&selection)?;
    console::line(&tally.to_string());
    ensure!(tally.failed == 0, "{} conformance cases did not go as expected", tally.failed);
    Ok(())
}

pub(crate) fn run(selection: &Selection) -> Result<Tally> {
    let Some(suite) = Suite::find()? else {
        console::notice(&[
            "The official conformance suite was not found, so it was NOT run.",
            "Put its folder (run.py and suites/) at ../shared/conformance beside",
            "this repository, or set HAPAX_CONFORMANCE_SUITE to where it is.",
        ]);
        return Ok(Tally::default());
    };
    let mut total = Tally::default();
    for &store in &selection.stores {
        let cluster = (store == Store::Postgres).then(Cluster::start).transpose()?;
        let spawn = Spawn { store, database: cluster.as_ref().map(Cluster::url) };
        for &reading in &selection.readings {
            total.add(&run_combination(&suite, &spawn, reading, &selection.paths)?);
        }
    }
    Ok(total)
}

fn run_combination(suite: &Suite, spawn: &Spawn<'_>, reading: Reading, paths: &[String]) -> Result<Tally> {
    let store = spawn.store;
    let mut tally = Tally::default();
    for path in paths {
        for case in suite.play(spawn, reading, path)? {
            let expected = EXPECTED_FAILURES
                .iter()
                .any(|failure| failure.case == case.title && failure.readings.contains(&reading));
            let verdict = case.judge(expected);
            if let Some(complaint) = verdict.complaint(&case) {
                console::failure(&format!("{store}, {reading}: {complaint}"));
            }
            tally.count(verdict);
        }
    }
    console::line(&format!("    {store} store, {reading} reading: {}", tally.in_full()));
    Ok(tally)
}
