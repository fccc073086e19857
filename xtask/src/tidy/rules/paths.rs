//! Paths of one particular machine do not belong into the project.

use std::path::Path;

use crate::tidy::finding::Finding;
use crate::tidy::source::Source;
use crate::tidy::tree::{File, Tree};

/// Top-level folders that differ from machine to machine.
const MACHINES: &[&str] = &["work", "root", "farm"];

/// Where temporary files go on most machines: fixed in a test's text perhaps, never in code.
const TEMPORARY: &str = "tmp";

const CODE: &[&str] = &["rs", "toml", "sql", "sh", "py", "js"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files.iter().flat_map(named_in).collect()
}

fn named_in(file: &File) -> Vec<Finding> {
    let extension = Path::new(&file.path).extension().and_then(|extension| extension.to_str());
    let is_code = extension.is_some_and(|extension| CODE.contains(&extension));
    let code_end = match extension {
        _ if file.is_test() || !is_code => 0,
        Some("rs") => Source::rust(&file.text).tests_start(),
        _ => usize::MAX,
    };
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(file.text.lines()) {
        if let Some(dir) = MACHINES.iter().find(|dir| names(line, dir)) {
            let advice = format!("`/{dir}/` is a path of one machine: make it relative to the repository");
            findings.push(Finding::violation(&file.path, number, advice));
        } else if number < code_end && names(line, TEMPORARY) {
            let advice =
                format!("`/{TEMPORARY}/` is fixed: take the folder from the configuration or `tempfile`");
            findings.push(Finding::violation(&file.path, number, advice));
        }
    }
    findings
}

/// An absolute path into `dir`, not a part of a longer path or of an address.
fn names(line: &str, dir: &str) -> bool {
    let inside = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || "._-}/".contains(c));
    line.match_indices(&format!("/{dir}/")).any(|(at, _)| !inside(&line[..at]))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn complaints(path: &str, dir: &str) -> usize {
        found(check, &[(path, &format!("see \"/{dir}/x\"\n"))]).len()
    }

    #[test]
    fn machine_paths_are_found_in_every_kind_of_file() {
        for path in ["src/a.rs", "README.md", "e2e/tests/a.rs", ".ci/run"] {
            assert_eq!(complaints(path, "work"), 1, "{path}");
        }
    }

    #[test]
    fn a_fixed_temporary_folder_is_found_in_code_only() {
        assert_eq!(complaints("src/a.rs", TEMPORARY), 1);
        assert_eq!(complaints("e2e/tests/a.rs", TEMPORARY), 0);
        assert_eq!(complaints("docs/guide.md", TEMPORARY), 0);
    }

    #[test]
    fn parts_of_longer_paths_are_left_alone() {
        assert!(
            found(check, &[("a.md", &format!("https://host/{}/x and src/{}/y\n", "work", "root"))])
                .is_empty()
        );
    }
}
