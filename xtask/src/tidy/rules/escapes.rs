//! Ways around the compiler and the tests that leave no reason behind.

use crate::tidy::finding::Finding;
use crate::tidy::source::{Line, Source};
use crate::tidy::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust() {
        for (number, line) in source.lines() {
            let advice = attribute(line).or_else(|| swallowed_result(&source, number, line));
            findings.extend(advice.map(|advice| Finding::violation(&file.path, number, advice)));
        }
    }
    findings
}

fn attribute(line: &Line) -> Option<&'static str> {
    let code = line.code.trim_start();
    if !code.starts_with("#[") && !code.starts_with("#![") {
        return None;
    }
    if code.starts_with("#[ignore") {
        return Some("an ignored test tests nothing: make it run or delete it");
    }
    let allows = ["#[allow(", "#![allow(", ", allow("].iter().any(|form| code.contains(form));
    allows.then_some("write `#[expect(…, reason = \"…\")]`: it ends when its cause does")
}

/// `.ok();` throws an error away, unless the statement keeps the `Option` it makes.
fn swallowed_result(source: &Source, number: usize, line: &Line) -> Option<&'static str> {
    if !line.code.trim_end().ends_with(".ok();") {
        return None;
    }
    let keeps = |code: &str| code.starts_with("return ") || code.replace("let _ =", "").contains(" = ");
    (!keeps(&statement(source, number)))
        .then_some("`.ok();` hides an error: handle it, return it or say why not")
}

/// The statement that ends at this line.
fn statement(source: &Source, number: usize) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for (at, line) in source.lines().rev().skip_while(|(at, _)| *at > number) {
        let code = line.code.trim();
        if at < number && code.ends_with([';', '{', '}', ',']) {
            break;
        }
        lines.push(code);
    }
    lines.reverse();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        found(check, &[("a.rs", text)])
    }

    #[test]
    fn ignored_tests_are_found() {
        assert!(
            complaints("#[test]\n#[ignore = \"slow\"]\nfn a() {}\n")[0].starts_with("a.rs:2: an ignored")
        );
    }

    #[test]
    fn allow_is_found_in_every_form() {
        for text in ["#[allow(dead_code)]", "#![allow(dead_code)]", "#[cfg_attr(test, allow(dead_code))]"] {
            assert!(complaints(text)[0].contains("#[expect("), "{text}");
        }
        assert!(complaints("#[expect(dead_code, reason = \"read by people\")]\n").is_empty());
    }

    #[test]
    fn a_swallowed_result_is_found() {
        assert!(complaints("send(x).ok();\n")[0].contains("hides an error"));
        assert!(
            complaints("fn a() {\n    sender\n        .send(x)\n        .ok();\n}\n")[0]
                .starts_with("a.rs:4")
        );
        assert_eq!(complaints("let _ = send(x).ok();\n").len(), 1);
    }

    #[test]
    fn a_kept_option_is_no_swallowed_result() {
        assert!(complaints("let n = text.parse().ok();\n").is_empty());
        assert!(complaints("a();\nlet n = text\n    .parse()\n    .ok();\n").is_empty());
    }
}
