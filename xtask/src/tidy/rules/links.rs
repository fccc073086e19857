//! Links between documents lead somewhere.

use std::path::Path;

use crate::tidy::finding::Finding;
use crate::tidy::tree::{File, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let documents = tree
        .files
        .iter()
        .filter(|file| Path::new(&file.path).extension().is_some_and(|extension| extension == "md"));
    documents.flat_map(|file| dead_links(file, tree)).collect()
}

fn dead_links(file: &File, tree: &Tree) -> Vec<Finding> {
    let numbered = file.text.lines().enumerate();
    let links = numbered.flat_map(|(index, line)| targets(line).map(move |target| (index + 1, target)));
    links
        .filter(|(_, target)| !exists(file, target, tree))
        .map(|(line, target)| {
            Finding::violation(&file.path, line, format!("links to {target}, which is not there"))
        })
        .collect()
}

/// The relative targets of the links in a line, without their anchors.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let ends = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let relative = ends.filter(|target| !target.contains("://") && !target.starts_with('#'));
    relative.filter_map(|target| target.split('#').next())
}

fn exists(file: &File, target: &str, tree: &Tree) -> bool {
    let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
    let mut path = folder.to_path_buf();
    for part in target.split('/') {
        if part == ".." {
            path.pop();
        } else {
            path.push(part);
        }
    }
    tree.files.iter().any(|other| Path::new(&other.path) == path)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_link_to_nowhere_is_found_and_others_are_not() {
        let page = "[a](docs/a.md) [b](docs/b.md#x)\n[c](https://c.example) [d](#here)\n";
        let files = [("README.md", page), ("docs/a.md", "[up](../README.md) [side](c.md)\n")];
        let found = found(check, &files);
        assert_eq!(
            found,
            [
                "README.md:1: links to docs/b.md, which is not there",
                "docs/a.md:1: links to c.md, which is not there"
            ]
        );
    }
}
