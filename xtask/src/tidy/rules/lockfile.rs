//! Every locked dependency is a published version with a checksum.

use crate::tidy::finding::Finding;
use crate::tidy::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.name() == "Cargo.lock") {
        let mut from_registry = None;
        // The empty line after the last package closes it like the others.
        for (number, line) in (1..).zip(file.text.lines().chain([""])) {
            if let Some(source) = line.strip_prefix("source = ") {
                if source.starts_with("\"registry+") {
                    from_registry = Some(number);
                } else {
                    let advice = "depends on a commit, not on a published version: wait for a release";
                    findings.push(Finding::violation(&file.path, number, advice));
                }
            } else if line.starts_with("checksum = ") {
                from_registry = None;
            } else if line.is_empty()
                && let Some(number) = from_registry.take()
            {
                findings.push(Finding::violation(
                    &file.path,
                    number,
                    "has no checksum: let cargo write the file",
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn complaints(package: &str) -> Vec<String> {
        found(check, &[("Cargo.lock", &format!("[[package]]\nname = \"a\"\n{package}"))])
    }

    #[test]
    fn a_dependency_on_a_commit_is_found() {
        let found = complaints("source = \"git+https://host/a#0123\"\n");
        assert!(found[0].starts_with("Cargo.lock:3: depends on a commit"), "{found:?}");
    }

    #[test]
    fn a_published_version_needs_its_checksum() {
        assert!(complaints("source = \"registry+index\"\nchecksum = \"0123\"\n").is_empty());
        assert!(complaints("source = \"registry+index\"\n")[0].contains("has no checksum"));
    }
}
