//! Members take lints and versions from the workspace, and nobody carries what nobody uses.

use crate::tidy::finding::Finding;
use crate::tidy::manifest::{Dependency, Manifest};
use crate::tidy::tree::Tree;

/// Dependencies that no source names, each with the reason.
const UNNAMED: &[(&str, &str, &str)] = &[];

pub(super) fn inheritance(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in tree.members() {
        if member.get("lints", "workspace") != Some("true") {
            let advice = "inherit the lints: `[lints] workspace = true`";
            findings.push(Finding::violation(&member.path, 1, advice));
        }
        for dependency in member.dependencies().filter(|dependency| !dependency.is_inherited) {
            let name = dependency.name;
            let advice = format!("write `{name}.workspace = true` and its version in the root's Cargo.toml");
            findings.push(Finding::violation(&member.path, dependency.line, advice));
        }
    }
    findings
}

pub(super) fn unused_offers(tree: &Tree) -> Vec<Finding> {
    let used: Vec<String> = tree
        .members()
        .flat_map(|member| member.dependencies().map(|found| found.name).collect::<Vec<_>>())
        .collect();
    let Some(root) = tree.root_manifest() else { return Vec::new() };
    let unused = root.offered().filter(|(name, _)| !used.iter().any(|used| used == name));
    unused
        .map(|(name, line)| {
            Finding::violation(&root.path, line, format!("no member depends on `{name}`: delete the line"))
        })
        .collect()
}

pub(super) fn unused_dependencies(tree: &Tree) -> Vec<Finding> {
    let members = tree.members();
    members.flat_map(|member| unnamed(tree, &member)).collect()
}

fn unnamed(tree: &Tree, member: &Manifest) -> Vec<Finding> {
    let dir = member.path.trim_end_matches("Cargo.toml");
    let code: Vec<String> = tree
        .rust()
        .filter(|(file, _)| file.path.starts_with(dir))
        .flat_map(|(_, source)| source.lines().map(|(_, line)| line.code.clone()).collect::<Vec<_>>())
        .collect();
    let is_named = |dependency: &Dependency| {
        let crate_name = dependency.name.replace('-', "_");
        code.iter().any(|line| mentions(line, &crate_name))
    };
    let is_excused = |dependency: &Dependency| {
        UNNAMED.iter().any(|(of, name, _reason)| *of == member.package_name() && *name == dependency.name)
    };
    let idle = member.dependencies().filter(|dependency| !is_named(dependency) && !is_excused(dependency));
    idle.map(|dependency| {
        let advice =
            format!("no source of {} names `{}`: delete the line", member.package_name(), dependency.name);
        Finding::violation(&member.path, dependency.line, advice)
    })
    .collect()
}

fn mentions(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const MEMBER: &str =
        "[package]\nname = \"a\"\n[lints]\nworkspace = true\n[dependencies]\nserde-x.workspace = true\n";

    #[test]
    fn a_member_with_lints_of_its_own_is_found() {
        assert!(
            found(inheritance, &[("crates/a/Cargo.toml", "[package]\n")])[0].contains("inherit the lints")
        );
    }

    #[test]
    fn a_version_outside_the_root_is_found() {
        let text = format!("{MEMBER}b = \"1\"\n");
        let found = found(inheritance, &[("crates/a/Cargo.toml", &text)]);
        assert!(found[0].starts_with("crates/a/Cargo.toml:7: write `b.workspace = true`"), "{found:?}");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn an_offer_that_nobody_takes_is_found() {
        let root = "[workspace.dependencies]\nserde-x = \"1\"\nidle = \"1\"\n";
        let found = found(unused_offers, &[("Cargo.toml", root), ("crates/a/Cargo.toml", MEMBER)]);
        assert_eq!(found, ["Cargo.toml:3: no member depends on `idle`: delete the line"]);
    }

    #[test]
    fn a_dependency_that_no_source_names_is_found() {
        let named = ("crates/a/src/lib.rs", "use serde_x::Value;\n");
        let silent = ("crates/a/src/lib.rs", "// serde_x\n");
        assert!(found(unused_dependencies, &[("crates/a/Cargo.toml", MEMBER), named]).is_empty());
        assert!(
            found(unused_dependencies, &[("crates/a/Cargo.toml", MEMBER), silent])[0].contains("`serde-x`")
        );
    }
}
