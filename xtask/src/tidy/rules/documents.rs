//! The documents at the top: a fixed list, so that none is forgotten and none piles up.

use std::path::Path;

use crate::tidy::finding::Finding;
use crate::tidy::tree::Tree;

const DOCUMENTS: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let top = || tree.files.iter().map(|file| file.path.as_str()).filter(|path| !path.contains('/'));
    let missing = DOCUMENTS.iter().filter(|document| !top().any(|path| path == **document));
    let extra = top().filter(|path| is_document(path) && !DOCUMENTS.contains(path));
    let missing = missing.map(|path| Finding::violation(path, 1, "is missing"));
    let advice = "is not in the list of top-level documents: put the fact where it belongs, or in docs/";
    missing.chain(extra.map(|path| Finding::violation(path, 1, advice))).collect()
}

fn is_document(path: &str) -> bool {
    let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
    match extension {
        Some(extension) => ["md", "txt", "rst", "adoc"].contains(&extension),
        None => path.starts_with(|first: char| first.is_ascii_uppercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn complete() -> Vec<(&'static str, &'static str)> {
        DOCUMENTS.iter().map(|path| (*path, "")).collect()
    }

    #[test]
    fn the_complete_list_is_silent() {
        assert!(found(check, &complete()).is_empty());
    }

    #[test]
    fn a_missing_document_is_found() {
        assert_eq!(found(check, &complete()[1..]), ["README.md:1: is missing"]);
    }

    #[test]
    fn a_document_nobody_asked_for_is_found() {
        let mut files = complete();
        files.extend([("NOTES.txt", ""), ("COPYING", ""), ("Cargo.toml", ""), ("docs/guide.md", "")]);
        let found = found(check, &files);
        assert!(found[0].starts_with("NOTES.txt:1:") && found[1].starts_with("COPYING:1:"), "{found:?}");
        assert_eq!(found.len(), 2);
    }
}
