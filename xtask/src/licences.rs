//! The licences of every crate that is linked, from what each declares.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{command, console, workspace};

/// Licences that ask for no more than attribution.
const ACCEPTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(crate) fn run() -> Result<()> {
    let metadata = metadata()?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let refused: Vec<String> = packages.iter().filter_map(refusal).collect();
    for line in &refused {
        console::line(line);
    }
    ensure!(refused.is_empty(), "{} dependencies have a licence outside the accepted list", refused.len());
    console::line(&format!("    {} crates, all under accepted licences", packages.len()));
    Ok(())
}

/// Limited to this machine's platform: the other platforms' crates are not downloaded by a build.
fn metadata() -> Result<Value> {
    let version = command::capture(std::process::Command::new("rustc").arg("-vV"))?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    let output = command::capture(&mut workspace::cargo(&[
        "metadata",
        "--format-version",
        "1",
        "--filter-platform",
        host,
    ]))?;
    ensure!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr).trim_end()
    );
    serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")
}

fn refusal(package: &Value) -> Option<String> {
    let name = package["name"].as_str().unwrap_or("?");
    let Some(licence) = package["license"].as_str() else {
        return Some(format!("{name}: declares no licence"));
    };
    (!is_accepted(licence)).then(|| format!("{name}: `{licence}`"))
}

/// `OR` binds loosest, as in SPDX; the old form `A/B` means `A OR B`.
fn is_accepted(expression: &str) -> bool {
    let expression = expression.trim().replace('/', " OR ");
    if let Some(parts) = split(&expression, " OR ") {
        return parts.iter().any(|part| is_accepted(part));
    }
    if let Some(parts) = split(&expression, " AND ") {
        return parts.iter().all(|part| is_accepted(part));
    }
    match expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => is_accepted(inner),
        None => ACCEPTED.contains(&expression.as_str()),
    }
}

/// Splits at an operator that stands outside parentheses.
fn split<'a>(expression: &'a str, operator: &str) -> Option<Vec<&'a str>> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _) in expression.match_indices(operator) {
        let before = &expression[..at];
        if before.matches('(').count() == before.matches(')').count() {
            parts.push(&expression[start..at]);
            start = at + operator.len();
        }
    }
    parts.push(&expression[start..]);
    (parts.len() > 1).then_some(parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_acceptable_alternative_is_enough() {
        assert!(is_accepted("MIT OR GPL-3.0"));
        assert!(is_accepted("Unlicense/MIT"));
        assert!(is_accepted("Apache-2.0 WITH LLVM-exception OR LGPL-2.1"));
    }

    #[test]
    fn every_conjunct_must_be_acceptable() {
        assert!(is_accepted("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!is_accepted("(MIT OR Apache-2.0) AND GPL-3.0"));
        assert!(!is_accepted("AGPL-3.0"));
    }

    #[test]
    fn a_refusal_names_the_crate() {
        assert_eq!(refusal(&json!({"name": "left-pad"})).unwrap(), "left-pad: declares no licence");
        assert_eq!(refusal(&json!({"name": "ok", "license": "MIT"})), None);
    }
}
