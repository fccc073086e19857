//! `cargo xtask tidy`: taste as a test. Every rule is a function from the tree to its findings.

mod finding;
mod manifest;
mod rules;
mod source;
mod tree;

use anyhow::{Result, ensure};

use crate::{console, workspace};
use finding::{Finding, Severity};
use rules::RULES;
use tree::Tree;

/// Lists everything at once: nobody likes to be told of one fault per run.
pub(crate) fn run() -> Result<()> {
    let tree = Tree::read(workspace::root())?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    findings.sort();
    for finding in &findings {
        match finding.severity {
            Severity::Violation => console::line(&finding.to_string()),
            Severity::Warning => console::warning(&finding.to_string()),
        }
    }
    let violations = findings.iter().filter(|finding| finding.severity == Severity::Violation).count();
    ensure!(violations == 0, "tidy found {violations} violations");
    console::line(&format!("    {} files are tidy", tree.files.len()));
    Ok(())
}
