//! `cargo xtask bench`: the release server measured by the release benchmark, or held against an older build of it.

use std::process::Command;

use anyhow::Result;

use crate::{command, workspace};

pub(crate) fn run(args: &[String]) -> Result<()> {
    command::run(&mut workspace::cargo(&["build", "--release", "-p", "hapax", "-p", "bench"]))?;
    let built = workspace::target_dir().join("release");
    let mut bench = Command::new(built.join("bench"));
    let (task, args) = match args.split_first() {
        Some((first, rest)) if first == "versus" => ("versus", rest),
        _ => ("run", args),
    };
    bench.arg(task).arg("--server").arg(built.join("hapax")).args(args);
    command::run(bench.current_dir(workspace::root()))
}
