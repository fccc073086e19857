//! The shape of a file: it says what it is for, and it is neither a heap nor a crumb.

use crate::tidy::finding::Finding;
use crate::tidy::tree::{File, Tree};

const LINES_MAX: usize = 600;
const LINES_LOOK_TWICE: usize = 400;
const LINES_CRUMB: usize = 15;

/// Where files are small by design: one operation each, whatever it takes.
const ONE_OPERATION_EACH: &[&str] = &["/src/routes/", "crates/hapax-broker/src/"];

/// Files that may be longer, each with the reason.
const LONG: &[(&str, &str)] = &[];

pub(super) fn module_docs(tree: &Tree) -> Vec<Finding> {
    let says_what_it_is_for =
        |file: &File| file.text.strip_prefix("//!").is_some_and(|rest| rest.starts_with(' '));
    let silent = tree.rust().filter(|(file, _)| !says_what_it_is_for(file));
    silent
        .map(|(file, _)| {
            Finding::violation(&file.path, 1, "open with one `//!` sentence that says what the file is for")
        })
        .collect()
}

pub(super) fn length(tree: &Tree) -> Vec<Finding> {
    tree.rust().filter_map(|(file, source)| judge(file, source.tests_start() - 1)).collect()
}

fn judge(file: &File, lines: usize) -> Option<Finding> {
    let is_allowed = LONG.iter().any(|(path, _reason)| *path == file.path);
    let is_root = ["lib.rs", "main.rs", "build.rs"].contains(&file.name());
    match lines {
        _ if is_allowed => None,
        n if n > LINES_MAX => Some(Finding::violation(
            &file.path,
            LINES_MAX,
            format!("{n} lines without tests, at most {LINES_MAX}: find the second noun and give it a file"),
        )),
        n if n > LINES_LOOK_TWICE => Some(Finding::warning(
            &file.path,
            LINES_LOOK_TWICE,
            format!("{n} lines without tests: look twice"),
        )),
        n if n < LINES_CRUMB && !is_root && !file.is_test() && !is_small_by_design(file) => {
            Some(Finding::warning(&file.path, 1, format!("{n} lines: does the idea need its own file?")))
        }
        _ => None,
    }
}

/// One operation, or a list of modules.
fn is_small_by_design(file: &File) -> bool {
    let only_modules = |line: &str| {
        let line = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        line.is_empty() || ["//!", "mod ", "use ", "}", " "].iter().any(|start| line.starts_with(start))
    };
    ONE_OPERATION_EACH.iter().any(|place| file.path.contains(place)) || file.text.lines().all(only_modules)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_file_that_does_not_say_what_it_is_for_is_found() {
        let files = [("a.rs", "//! Keys.\n"), ("b.rs", "use std::io;\n"), ("tests/c.rs", "//!\n")];
        let found = found(module_docs, &files);
        assert!(found[0].starts_with("b.rs:1: open with"), "{found:?}");
        assert!(found[1].starts_with("tests/c.rs:1:"), "{found:?}");
    }

    #[test]
    fn a_heap_is_a_violation_and_a_long_file_a_warning() {
        let long = |lines: usize| "x();\n".repeat(lines);
        let found = found(length, &[("a.rs", &long(601)), ("b.rs", &long(401)), ("c.rs", &long(100))]);
        assert!(found[0].starts_with("a.rs:600: 601 lines"), "{found:?}");
        assert!(found[1].starts_with("b.rs:400: 401 lines"), "{found:?}");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_trailing_test_module_does_not_count() {
        let text = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "x();\n".repeat(50), "x();\n".repeat(900));
        assert!(found(length, &[("a.rs", &text)]).is_empty());
    }

    #[test]
    fn a_crumb_is_a_warning_unless_it_is_a_root() {
        let crumb = "//! A.\nfn a() {}\n";
        let list = "//! L.\nmod a;\npub use a::B;\n";
        let found = found(
            length,
            &[
                ("src/a.rs", crumb),
                ("src/lib.rs", crumb),
                ("crates/x/src/routes/b.rs", crumb),
                ("l.rs", list),
            ],
        );
        assert_eq!(found, ["src/a.rs:1: 2 lines: does the idea need its own file?"]);
    }
}
