//! The repository's text files, as the rules see them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::manifest::Manifest;
use super::source::Source;
use crate::command;

/// Folders that are never part of the project, for a checkout that git cannot list.
const IGNORED: &[&str] = &[".git", "target", "hapax-data", "node_modules", "__pycache__"];

/// Folders whose whole content is test code.
const TEST_ROOTS: &[&str] = &["e2e/", "bench/", "fuzz/"];

#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
}

#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the root, with forward slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Tree {
    /// Tracked files and those that would be; binary files are left out.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut paths = listed_by_git(root).map_or_else(|| walk(root), Ok)?;
        paths.sort();
        paths.dedup();
        let mut files = Vec::new();
        for path in paths {
            let full = root.join(&path);
            if !full.is_file() {
                continue;
            }
            let bytes = std::fs::read(&full).with_context(|| format!("cannot read {path}"))?;
            files.extend(String::from_utf8(bytes).map(|text| File { path, text }));
        }
        Ok(Self { files })
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = (&File, Source)> {
        self.with_extension("rs").map(|file| (file, Source::rust(&file.text)))
    }

    pub(crate) fn sql(&self) -> impl Iterator<Item = (&File, Source)> {
        self.with_extension("sql").map(|file| (file, Source::sql(&file.text)))
    }

    /// The manifests of the workspace's members; the fuzz crate is a workspace of its own.
    pub(crate) fn members(&self) -> impl Iterator<Item = Manifest> {
        let nested = self.files.iter().filter(|file| file.path.ends_with("/Cargo.toml"));
        nested
            .filter(|file| !file.path.starts_with("fuzz/"))
            .map(|file| Manifest::parse(&file.path, &file.text))
    }

    pub(crate) fn root_manifest(&self) -> Option<Manifest> {
        let file = self.files.iter().find(|file| file.path == "Cargo.toml")?;
        Some(Manifest::parse(&file.path, &file.text))
    }

    fn with_extension(&self, wanted: &str) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(move |file| Path::new(&file.path).extension().is_some_and(|ext| ext == wanted))
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File { path: (*path).to_owned(), text: (*text).to_owned() };
        Self { files: files.iter().map(file).collect() }
    }
}

impl File {
    pub(crate) fn is_test(&self) -> bool {
        let under = |root: &&str| self.path.starts_with(root);
        let parts = || self.path.split('/');
        TEST_ROOTS.iter().any(under) || parts().any(|part| part == "tests" || part == "tests.rs")
    }

    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let output = command::capture(&mut git).ok().filter(|output| output.status.success())?;
    let listing = String::from_utf8(output.stdout).ok()?;
    Some(listing.split_terminator('\0').map(str::to_owned).collect())
}

/// For an unpacked archive, or a machine without git.
fn walk(root: &Path) -> Result<Vec<String>> {
    let (mut paths, mut pending) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(root.join(&dir))? {
            let entry = entry?;
            let relative = dir.join(entry.file_name());
            let ignored = IGNORED.iter().any(|name| entry.file_name() == *name);
            if entry.file_type()?.is_dir() && !ignored {
                pending.push(relative);
            } else if entry.file_type()?.is_file() {
                paths.extend(relative.to_str().map(str::to_owned));
            }
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_and_the_walk_agree_on_this_crate() {
        let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut walked = walk(crate_dir).unwrap();
        walked.sort();
        assert!(walked.contains(&"src/tidy/tree.rs".to_owned()));
        if let Some(mut listed) = listed_by_git(crate_dir) {
            listed.sort();
            assert_eq!(listed, walked);
        }
    }

    #[test]
    fn test_code_is_known_by_its_place() {
        let is_test = |path: &str| Tree::of(&[(path, "")]).files[0].is_test();
        assert!(is_test("crates/hapax-core/src/key/tests.rs"));
        assert!(is_test("crates/hapax-http/tests/routes.rs"));
        assert!(is_test("e2e/src/server.rs"));
        assert!(!is_test("crates/hapax-core/src/latests.rs"));
    }
}
