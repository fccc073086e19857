//! What the tasks say: the only place that prints.

use std::io::IsTerminal as _;
use std::time::Duration;

use crate::workspace;

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const RESET: &str = "\x1b[0m";

#[expect(clippy::print_stdout, reason = "a task's output is its product")]
pub(crate) fn line(text: &str) {
    println!("{text}");
}

pub(crate) fn heading(text: &str) {
    line(&painted(BOLD, &format!("\n==> {text}")));
}

pub(crate) fn finished(what: &str, took: Duration) {
    line(&painted(GREEN, &format!("    {what}: ok in {:.1} s", took.as_secs_f64())));
}

pub(crate) fn warning(text: &str) {
    line(&painted(YELLOW, &format!("warning: {text}")));
}

pub(crate) fn failure(text: &str) {
    line(&painted(RED, &format!("error: {text}")));
}

/// A notice that must not be overlooked among a build's output.
pub(crate) fn notice(lines: &[&str]) {
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let edge = format!("+{}+", "-".repeat(width + 2));
    line(&painted(YELLOW, &edge));
    for text in lines {
        line(&painted(YELLOW, &format!("| {text:width$} |")));
    }
    line(&painted(YELLOW, &edge));
}

fn painted(colour: &str, text: &str) -> String {
    if std::io::stdout().is_terminal() && !workspace::in_ci() {
        format!("{colour}{text}{RESET}")
    } else {
        text.to_owned()
    }
}
