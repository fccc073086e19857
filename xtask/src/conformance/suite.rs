//! The suite on disk, and one run of its runner.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::selection::{Reading, Store};
use super::verdict::{Case, Status};
use crate::{command, workspace};

const RUNNER: &str = "run.py";

/// What the runner says of a server that did not come up, and how often it is asked again.
const NOT_STARTED: &str = "server did not start";
const STARTS_MAX: usize = 2;
/// Most cases wait for timers rather than for the processor, but some assert how long a reply took.
const PARALLEL: &str = "4";

pub(crate) struct Suite {
    dir: PathBuf,
}

/// How the runner starts a server.
pub(crate) struct Spawn<'a> {
    pub(crate) store: Store,
    /// Where PostgreSQL is, for servers that keep their jobs there.
    pub(crate) database: Option<&'a str>,
}

impl Suite {
    /// A folder that was named must be right; the one beside the repository may be absent.
    pub(crate) fn find() -> Result<Option<Self>> {
        if let Some(dir) = workspace::conformance_override() {
            ensure!(
                dir.join(RUNNER).is_file(),
                "HAPAX_CONFORMANCE_SUITE names {}: no {RUNNER} there",
                dir.display()
            );
            return Ok(Some(Self { dir }));
        }
        let dir = workspace::root().join("../shared/conformance");
        Ok(dir.join(RUNNER).is_file().then_some(Self { dir }))
    }

    /// Plays the cases under `path`, each against a server of its own on an empty folder or an empty schema.
    pub(crate) fn play(&self, spawn: &Spawn<'_>, reading: Reading, path: &str) -> Result<Vec<Case>> {
        let mut runner = Command::new("python3");
        runner.arg(self.dir.join(RUNNER)).arg("--suites").arg(self.dir.join("suites"));
        runner.args(["--path", path, "--fresh", "--parallel", PARALLEL, "--json", "--quiet"]);
        runner.arg("--spawn").arg(spawn.line(&workspace::server()));
        if reading == Reading::Strict {
            runner.arg("--strict");
        }
        // The port that the runner found free may be somebody's by the time the server asks for it.
        let mut output = command::capture(&mut runner)?;
        for _ in 0..STARTS_MAX {
            if !String::from_utf8_lossy(&output.stderr).contains(NOT_STARTED) {
                break;
            }
            output = command::capture(&mut runner)?;
        }
        // 1 means that cases failed, which the report says in full.
        if !matches!(output.status.code(), Some(0 | 1)) {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("the runner ended with {} on {path}:\n{}", output.status, said.trim_end());
        }
        let report = serde_json::from_slice(&output.stdout);
        cases(&report.context("the runner's report is not JSON")?)
    }
}

impl Spawn<'_> {
    /// A command for the shell, in which the runner puts a port and the name of a folder that nobody had before.
    fn line(&self, server: &Path) -> String {
        let server = quoted(&server.to_string_lossy());
        let serve = format!("{server} serve --listen 127.0.0.1:{{port}} --conformance");
        match self.database {
            // It takes no folder.
            None if self.store == Store::Memory => format!("{serve} --store {}", self.store),
            None => format!("{serve} --data {{data}} --store {}", self.store),
            // The schema has the name of the folder, as far as schemas may have it.
            Some(url) => format!(
                "{serve} --database-url {} --database-schema \"$(basename {{data}} | tr -c '[:alnum:]\\n' _)\"",
                quoted(url)
            ),
        }
    }
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn cases(report: &Value) -> Result<Vec<Case>> {
    let tests = report["tests"].as_array().context("the report has no list of tests")?;
    tests.iter().map(case).collect()
}

fn case(entry: &Value) -> Result<Case> {
    let text = |member: &str| {
        entry[member].as_str().with_context(|| format!("a test in the report has no {member}: {entry}"))
    };
    let failures = entry["failures"].as_array().map_or(&[][..], Vec::as_slice);
    Ok(Case {
        title: format!("{} {}", text("test_id")?, text("name")?),
        status: Status::parse(text("status")?)?,
        messages: failures.iter().map(message).collect(),
    })
}

fn message(failure: &Value) -> String {
    let text = |member: &str| failure[member].as_str().unwrap_or("?");
    format!("[{}] {}", text("step_id"), text("message"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_spawn_line_survives_spaces_and_quotes_in_the_path() {
        let spawn = Spawn { store: Store::Memory, database: None };
        assert_eq!(
            spawn.line(Path::new("/a b/it's/hapax")),
            r"'/a b/it'\''s/hapax' serve --listen 127.0.0.1:{port} --conformance --store memory"
        );
    }

    #[test]
    fn a_server_on_a_database_gets_a_schema_of_its_own() {
        let spawn = Spawn { store: Store::Postgres, database: Some("postgres://a%20b/c") };
        let line = spawn
            .line(Path::new("printf"))
            .replace("serve", "%s\\\\n")
            .replace("{data}", "/x/conformance-a_1b");
        let output = Command::new("sh").args(["-c", &line]).output().unwrap();
        let words = String::from_utf8(output.stdout).unwrap();
        assert!(
            words.ends_with("--database-url\npostgres://a%20b/c\n--database-schema\nconformance_a_1b\n"),
            "{words}"
        );
    }

    #[test]
    fn a_report_becomes_cases() {
        let report = json!({"tests": [{
            "test_id": "L0-X-001", "name": "enqueue", "status": "fail",
            "failures": [{"step_id": "step-1", "message": "expected 201, got 500"}],
        }]});
        let cases = cases(&report).unwrap();
        assert_eq!(cases[0].title, "L0-X-001 enqueue");
        assert_eq!(cases[0].status, Status::Failed);
        assert_eq!(cases[0].messages, ["[step-1] expected 201, got 500"]);
    }

    #[test]
    fn a_report_of_another_form_is_an_error() {
        assert!(cases(&json!({"tests": [{"name": "x"}]})).is_err());
        assert!(cases(&json!({})).is_err());
    }
}
