//! The programs the steps need, installed where the machine lets us.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::command::{answers, run};
use crate::{console, workspace};

pub(crate) fn ensure_all() -> Result<()> {
    for (component, subcommand) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        ensure_component(component, subcommand)?;
    }
    ensure_strace();
    Ok(())
}

/// A minimal toolchain comes without the formatter and the linter.
fn ensure_component(component: &str, subcommand: &str) -> Result<()> {
    if answers(&mut workspace::cargo(&[subcommand, "--version"])) {
        return Ok(());
    }
    ensure!(
        answers(Command::new("rustup").arg("--version")),
        "`cargo {subcommand}` is missing and there is no rustup to install it; install {component} beside cargo"
    );
    run(Command::new("rustup").args(["component", "add", component]))
}

/// The crash tests watch the server's system calls. Without strace the other tests still mean
/// something, so that a machine on which nothing can be installed is warned about, not refused.
fn ensure_strace() {
    if strace_answers() {
        return;
    }
    if answers(Command::new("apt-get").arg("--version")) {
        console::line("strace is missing; installing it with apt-get");
        // Package lists are refreshed only when the first attempt fails: a fresh image has none.
        for args in [&["install", "-y", "strace"][..], &["update"], &["install", "-y", "strace"]] {
            if !strace_answers()
                && let Err(error) = run(&mut apt_get(args))
            {
                console::warning(&format!("{error:#}"));
            }
        }
    }
    if !strace_answers() {
        console::notice(&[
            "strace is missing and could not be installed here.",
            "The end-to-end tests that watch system calls need it:",
            "    apt-get install -y strace",
        ]);
    }
}

fn strace_answers() -> bool {
    answers(Command::new("strace").arg("-V"))
}

/// As root directly, else through a sudo that asks no password.
fn apt_get(args: &[&str]) -> Command {
    let direct = !answers(Command::new("sudo").args(["-n", "true"]));
    let mut command = Command::new(if direct { "apt-get" } else { "sudo" });
    if !direct {
        command.args(["-n", "apt-get"]);
    }
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    command
}
