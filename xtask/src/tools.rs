//! The programs the steps need, installed where the machine lets us.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::command::{answers, capture, run};
use crate::{console, workspace};

pub(crate) fn ensure_all() -> Result<()> {
    for (component, subcommand) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        ensure_component(component, subcommand)?;
    }
    for package in PACKAGES {
        package.ensure();
    }
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

/// Without these the other tests still mean something, so that a machine on which nothing can be installed is
/// warned about, not refused.
struct Package {
    name: &'static str,
    needed_by: &'static str,
    is_there: fn() -> bool,
    prepare: fn() -> Result<()>,
}

const PACKAGES: &[Package] = &[
    Package {
        name: "strace",
        needed_by: "The end-to-end tests that watch system calls need it:",
        is_there: || answers(Command::new("strace").arg("-V")),
        prepare: || Ok(()),
    },
    Package {
        name: "postgresql",
        needed_by: "The tests of the PostgreSQL store start servers of their own with it:",
        is_there: has_postgres,
        prepare: forbid_main_cluster,
    },
];

impl Package {
    fn ensure(&self) {
        if (self.is_there)() {
            return;
        }
        if answers(Command::new("apt-get").arg("--version")) {
            console::line(&format!("{} is missing; installing it with apt-get", self.name));
            self.install();
        }
        if !(self.is_there)() {
            console::notice(&[
                &format!("{} is missing and could not be installed here.", self.name),
                self.needed_by,
                &format!("    apt-get install -y --no-install-recommends {}", self.name),
            ]);
        }
    }

    fn install(&self) {
        let install = ["install", "-y", "--no-install-recommends", self.name];
        let warned = |result: Result<()>| {
            if let Err(error) = result {
                console::warning(&format!("{error:#}"));
            }
        };
        warned((self.prepare)());
        // Package lists are refreshed only when the first attempt fails: a fresh image has none.
        for args in [&install[..], &["update"], &install] {
            if !(self.is_there)() {
                warned(run(privileged("apt-get").args(args)));
            }
        }
    }
}

/// In the order in which `hapax-pg-cluster` looks for it.
fn has_postgres() -> bool {
    let is_in = |folder: &Path| folder.join("postgres").is_file();
    if let Some(folder) = std::env::var_os("HAPAX_PG_BIN") {
        return is_in(Path::new(&folder));
    }
    let versions = Path::new("/usr/lib/postgresql").read_dir();
    let is_packaged = versions.is_ok_and(|mut versions| {
        versions.any(|version| version.is_ok_and(|version| is_in(&version.path().join("bin"))))
    });
    is_packaged || configured_folder().is_some_and(|folder| is_in(Path::new(&folder)))
}

fn configured_folder() -> Option<String> {
    let output = capture(Command::new("pg_config").arg("--bindir")).ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim_end().to_owned())
}

/// Debian's package would make and start a server that nobody asked for. Settings that are there already are
/// the machine's own, and stay.
fn forbid_main_cluster() -> Result<()> {
    const SETTINGS: &str = "/etc/postgresql-common/createcluster.conf";
    if Path::new(SETTINGS).exists() {
        return Ok(());
    }
    // With `-C` the shell does not write over a file either.
    let script = "mkdir -p \"${1%/*}\" && echo 'create_main_cluster = false' >\"$1\"";
    run(privileged("sh").args(["-C", "-c", script, "sh", SETTINGS]))
}

/// As root directly, else through a sudo that asks no password, and that passes no variables on by itself.
fn privileged(program: &str) -> Command {
    // No package may ask questions, nor replace settings it finds.
    const QUIET: [&str; 2] = ["DEBIAN_FRONTEND=noninteractive", "UCF_FORCE_CONFFOLD=1"];
    let has_sudo = answers(Command::new("sudo").args(["-n", "true"]));
    let mut command = Command::new(if has_sudo { "sudo" } else { "env" });
    if has_sudo {
        command.args(["-n", "env"]);
    }
    command.args(QUIET).arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_privileges_is_never_asked_anything() {
        let command = privileged("apt-get");
        let words: Vec<_> = command.get_args().collect();
        assert!(words.ends_with(&[
            "DEBIAN_FRONTEND=noninteractive".as_ref(),
            "UCF_FORCE_CONFFOLD=1".as_ref(),
            "apt-get".as_ref()
        ]));
    }
}
