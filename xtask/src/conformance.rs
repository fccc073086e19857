//! `cargo xtask conformance`: the Open Job Spec suite against the built server.

mod cluster;
mod expected;
mod selection;
mod suite;
mod verdict;

use std::thread;

use anyhow::{Result, anyhow, ensure};

use cluster::Cluster;
pub(crate) use selection::Selection;
use selection::{Reading, Store};
use suite::{Spawn, Suite};
use verdict::Case;
pub(crate) use verdict::Tally;

use crate::{console, test};

/// Cases that wait for real minutes: they are played beside the others.
const SLOW: &str = "level-2-scheduled/cron";

/// All parts of the suite.
const PATHS: &[&str] = &[
    SLOW,
    "level-0-core",
    "level-1-reliable",
    "level-2-scheduled/delay",
    "level-2-scheduled/ttl",
    "level-3-workflows",
    "level-4-advanced",
    "ext-",
    "/agent/",
    "/attest/",
    "/wasi/",
];

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
    let (slow, quick): (Vec<_>, Vec<_>) = selection.paths.iter().cloned().partition(|path| path == SLOW);
    let combinations = selection
        .stores
        .iter()
        .flat_map(|&store| selection.readings.iter().map(move |&reading| (store, reading)));
    thread::scope(|scope| {
        let (suite, slow) = (&suite, &slow);
        // They sleep nearly all of the time, so all of them may do so at once.
        let beside: Vec<_> = combinations
            .clone()
            .filter(|_| !slow.is_empty())
            .map(|(store, reading)| scope.spawn(move || play(suite, store, reading, slow)))
            .collect();
        let mut total = Tally::default();
        for (store, reading) in combinations {
            total.add(&judged(play(suite, store, reading, &quick)?));
        }
        for played in beside {
            let played = played.join().map_err(|_| anyhow!("the slow cases broke off"))??;
            total.add(&judged(played));
        }
        Ok(total)
    })
}

/// What came of the cases of one store in one reading.
struct Played {
    store: Store,
    reading: Reading,
    cases: Vec<Case>,
}

fn play(suite: &Suite, store: Store, reading: Reading, paths: &[String]) -> Result<Played> {
    let cluster = (store == Store::Postgres).then(Cluster::start).transpose()?;
    let spawn = Spawn { store, database: cluster.as_ref().map(Cluster::url) };
    let mut cases = Vec::new();
    for path in paths {
        cases.extend(suite.play(&spawn, reading, path)?);
    }
    Ok(Played { store, reading, cases })
}

fn judged(Played { store, reading, cases }: Played) -> Tally {
    let mut tally = Tally::default();
    for case in cases {
        let verdict = case.judge(expected::is_expected(&case.title, reading));
        if let Some(complaint) = verdict.complaint(&case) {
            console::failure(&format!("{store}, {reading}: {complaint}"));
        }
        tally.count(verdict);
    }
    console::line(&format!("    {store} store, {reading} reading: {}", tally.in_full()));
    tally
}
