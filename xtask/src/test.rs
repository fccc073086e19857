//! `cargo xtask test`: every step a change must pass, in order, up to the first failure.

use anyhow::{Context as _, Result, bail};

use crate::conformance::{self, Selection, Tally};
use crate::e2e::Store;
use crate::stopwatch::Stopwatch;
use crate::{command, console, e2e, licences, tidy, tools, workspace};

const FUZZ_MANIFEST: &str = "fuzz/Cargo.toml";

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<Option<Tally>>,
}

/// Cheapest first: a misplaced space should not cost a build.
const STEPS: &[Step] = &[
    Step { name: "tools", what: "the programs of all steps are there", run: || done(tools::ensure_all()) },
    Step { name: "fmt", what: "cargo fmt --check", run: || done(fmt()) },
    Step { name: "tidy", what: "rules of style and layering", run: || done(tidy::run()) },
    Step { name: "clippy", what: "cargo clippy, warnings denied", run: || done(clippy()) },
    Step { name: "licences", what: "licences of the dependencies", run: || done(licences::run()) },
    Step { name: "unit", what: "unit, property and store tests", run: || done(unit()) },
    Step { name: "fuzz", what: "replay of the fuzz corpus", run: || done(fuzz()) },
    Step { name: "e2e", what: "the built server from outside", run: || done(e2e::run(Store::Embedded)) },
    Step { name: "e2e-postgres", what: "the same on PostgreSQL", run: || done(e2e::run(Store::Postgres)) },
    Step { name: "conformance", what: "the Open Job Spec suite", run: || conformance().map(Some) },
];

pub(crate) fn main(args: &[String]) -> Result<()> {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => run_all(),
        ["--list"] => {
            for step in STEPS {
                console::line(&format!("{:<12} {}", step.name, step.what));
            }
            Ok(())
        }
        ["--only", name] => {
            let step = STEPS.iter().find(|step| step.name == name);
            let step =
                step.with_context(|| format!("`{name}` is not a step: see `cargo xtask test --list`"))?;
            run_step(step, step.name).map(|_| ())
        }
        _ => bail!("usage: cargo xtask test [--only STEP | --list]"),
    }
}

fn run_all() -> Result<()> {
    let watch = Stopwatch::start();
    let mut total = Tally::default();
    for (index, step) in STEPS.iter().enumerate() {
        let position = format!("{}/{} {}", index + 1, STEPS.len(), step.name);
        total.add(&run_step(step, &position)?.unwrap_or_default());
    }
    console::heading(&format!("all {} steps passed in {:.0} s", STEPS.len(), watch.elapsed().as_secs_f64()));
    console::line("The next line counts conformance cases; cargo's own counts stand above.");
    console::line(&total.to_string());
    Ok(())
}

fn run_step(step: &Step, position: &str) -> Result<Option<Tally>> {
    console::heading(&format!("{position}: {}", step.what));
    let watch = Stopwatch::start();
    let tally = match (step.run)().and_then(judged) {
        Ok(tally) => tally,
        Err(error) => {
            console::failure(&format!("{error:#}"));
            bail!("{} failed; run only this step with `cargo xtask test --only {}`", step.name, step.name);
        }
    };
    console::finished(step.name, watch.elapsed());
    Ok(tally)
}

/// A failed suite still gets its line of counts, ahead of the error.
fn judged(tally: Option<Tally>) -> Result<Option<Tally>> {
    if let Some(tally) = &tally
        && tally.failed > 0
    {
        console::line(&tally.to_string());
        bail!("{} conformance cases did not go as expected", tally.failed);
    }
    Ok(tally)
}

fn done(result: Result<()>) -> Result<Option<Tally>> {
    result.map(|()| None)
}

fn fmt() -> Result<()> {
    command::run(&mut workspace::cargo(&["fmt", "--all", "--check"]))?;
    if has_fuzz() {
        command::run(&mut workspace::cargo(&["fmt", "--manifest-path", FUZZ_MANIFEST, "--check"]))?;
    }
    Ok(())
}

fn clippy() -> Result<()> {
    let args = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    command::run(&mut workspace::cargo(&args))?;
    let args = ["clippy", "-p", "hapax", "--features", "otlp", "--all-targets", "--", "-D", "warnings"];
    command::run(&mut workspace::cargo(&args))
}

fn unit() -> Result<()> {
    command::run(&mut workspace::cargo(&["test", "--workspace", "--exclude", "e2e"]))?;
    // The program once more with what it can be built with, as far as that makes a difference to it.
    command::run(&mut workspace::cargo(&[
        "test",
        "-p",
        "hapax",
        "--features",
        "otlp",
        "--",
        "otlp",
        "collector",
    ]))
}

fn fuzz() -> Result<()> {
    if !has_fuzz() {
        console::line("there is no fuzz crate here");
        return Ok(());
    }
    let mut replay = workspace::cargo(&["test", "--manifest-path", FUZZ_MANIFEST, "--target-dir"]);
    command::run(replay.arg(workspace::target_dir().join("fuzz")))
}

fn conformance() -> Result<Tally> {
    build_server()?;
    conformance::run(&Selection::everything())
}

pub(crate) fn build_server() -> Result<()> {
    command::run(&mut workspace::cargo(&["build", "-p", "hapax"]))
}

fn has_fuzz() -> bool {
    workspace::root().join(FUZZ_MANIFEST).is_file()
}
