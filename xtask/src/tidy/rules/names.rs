//! The names of files: a noun each, never a drawer.

use crate::tidy::finding::Finding;
use crate::tidy::tree::Tree;

/// Names under which anything could be put, and so will be.
const DRAWERS: &[&str] =
    &["utils", "util", "helpers", "helper", "common", "types", "models", "misc", "stuff"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, _) in tree.rust() {
        if file.name() == "mod.rs" {
            findings.push(Finding::violation(
                &file.path,
                1,
                "write `foo.rs` beside `foo/`, not `foo/mod.rs`",
            ));
        }
        let words = file.path.split('/').map(|part| part.trim_end_matches(".rs"));
        if let Some(drawer) = words.into_iter().find(|word| DRAWERS.contains(word)) {
            let advice = format!("`{drawer}` says nothing: name the file after the noun it defines");
            findings.push(Finding::violation(&file.path, 1, advice));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn mod_rs_is_found() {
        assert!(found(check, &[("src/key/mod.rs", "")])[0].contains("not `foo/mod.rs`"));
    }

    #[test]
    fn drawers_are_found_as_files_and_as_folders() {
        let found = found(check, &[("src/helpers.rs", ""), ("src/common/retry.rs", ""), ("src/key.rs", "")]);
        assert!(found[0].contains("`helpers` says nothing"), "{found:?}");
        assert!(found[1].contains("`common` says nothing"), "{found:?}");
        assert_eq!(found.len(), 2);
    }
}
