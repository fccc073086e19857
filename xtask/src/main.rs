//! The project's own tasks: `cargo xtask <task>`.

mod bench;
mod command;
mod conformance;
mod console;
mod e2e;
mod licences;
mod stopwatch;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
Usage: cargo xtask <task>

  test [--only STEP | --list]     everything a change must pass, in order
  tidy                            the rules of style and layering, all violations at once
  conformance [--store embedded|memory|postgres] [--strict] [--path P]
                                  the Open Job Spec suite against the built server
  licences                        the licences of every dependency
  bench [ARGS…]                   build for release, then `bench run` with ARGS
  bench versus --other OLDER      build for release, then load it and OLDER by turns";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console::failure(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result<()> {
    let Some((task, rest)) = args.split_first() else { bail!("no task given\n\n{USAGE}") };
    match (task.as_str(), rest) {
        ("test", _) => test::main(rest),
        ("tidy", []) => tidy::run(),
        ("licences", []) => licences::run(),
        ("conformance", _) => conformance::main(rest),
        ("bench", _) => bench::run(rest),
        ("help" | "--help" | "-h", _) => {
            console::line(USAGE);
            Ok(())
        }
        _ => bail!("`{}` is not a task\n\n{USAGE}", args.join(" ")),
    }
}
