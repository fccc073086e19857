//! The end-to-end tests, once for every store that a server may have.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::{command, test, workspace};

/// Where cargo finds the programs of tests: files, and folders with a `main.rs`.
const TESTS: &str = "e2e/tests";

/// What a server keeps its jobs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    Embedded,
    Postgres,
}

/// Programs that mean something on one store alone; all others run on both.
const BOUND: &[(&str, Store)] = &[
    // Traces of system calls, power cuts, full disks: about the files, which the database keeps elsewhere.
    ("durability", Store::Embedded),
    ("embedded", Store::Embedded),
    ("fleet", Store::Postgres),
    // Jobs go from each store to each, whatever the run is about.
    ("moving", Store::Postgres),
];

/// Runs the tests against the built server on this store.
pub(crate) fn run(store: Store) -> Result<()> {
    test::build_server()?;
    let server = workspace::server();
    ensure!(server.is_file(), "the build left no {}", server.display());
    let mut cargo = workspace::cargo(&["test", "-p", "e2e"]);
    if store == Store::Embedded {
        // What the tests share has tests of its own, which need no server.
        cargo.arg("--lib");
    }
    for name in programs(&workspace::root().join(TESTS), store)? {
        cargo.args(["--test", &name]);
    }
    command::run(cargo.env("HAPAX_BIN", server).env("HAPAX_E2E_STORE", store.name()))
}

impl Store {
    fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Postgres => "postgres",
        }
    }
}

/// The names of the programs that run on this store, in order.
fn programs(folder: &Path, store: Store) -> Result<BTreeSet<String>> {
    let entries = folder.read_dir().with_context(|| format!("cannot list {}", folder.display()))?;
    let mut names = BTreeSet::new();
    for entry in entries {
        let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
        let is_program = path.extension().is_some_and(|end| end == "rs") || path.join("main.rs").is_file();
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let is_bound_elsewhere = BOUND.iter().any(|(bound, to)| *bound == name && *to != store);
        if is_program && !is_bound_elsewhere {
            names.insert(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(store: Store) -> BTreeSet<String> {
        programs(&workspace::root().join(TESTS), store).unwrap()
    }

    #[test]
    fn every_program_runs_on_some_store_and_most_on_both() {
        let (embedded, postgres) = (on(Store::Embedded), on(Store::Postgres));
        assert!(embedded.contains("race") && postgres.contains("race"));
        assert!(embedded.contains("time") && postgres.contains("time"), "a program may be one file");
        let bound: BTreeSet<String> = BOUND.iter().map(|(name, _)| (*name).to_owned()).collect();
        let apart: BTreeSet<String> = embedded.symmetric_difference(&postgres).cloned().collect();
        assert_eq!(apart, bound, "the table names programs that are there");
    }
}
