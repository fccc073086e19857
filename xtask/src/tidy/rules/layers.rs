//! Which crate may know which: ours by layer, other people's by the one place that wraps them.

use crate::tidy::finding::Finding;
use crate::tidy::manifest::Kind;
use crate::tidy::tree::Tree;

struct Layer {
    name: &'static str,
    may_use: &'static [&'static str],
}

const LAYERS: &[Layer] = &[
    Layer { name: "hapax-core", may_use: &[] },
    Layer { name: "hapax-wire", may_use: &["hapax-core"] },
    Layer { name: "hapax-store", may_use: &["hapax-core"] },
    Layer { name: "hapax-pg-cluster", may_use: &[] },
    Layer { name: "hapax-store-sqlite", may_use: &["hapax-core", "hapax-store"] },
    Layer { name: "hapax-broker", may_use: &["hapax-core", "hapax-store"] },
    Layer { name: "hapax-carrier", may_use: &["hapax-core", "hapax-broker"] },
    Layer {
        name: "hapax-otlp",
        // The store for its tests: they lead jobs through their lives.
        may_use: &["hapax-core", "hapax-store", "hapax-broker", "hapax-carrier"],
    },
    Layer { name: "hapax-http", may_use: &["hapax-core", "hapax-store", "hapax-broker", "hapax-wire"] },
    Layer {
        name: "hapax-store-postgres",
        // All but the first two for its tests: they compare its SQL functions with the HTTP binding, and move jobs from
        // and to the other engine.
        may_use: &[
            "hapax-core",
            "hapax-store",
            "hapax-pg-cluster",
            "hapax-broker",
            "hapax-http",
            "hapax-store-sqlite",
        ],
    },
    Layer {
        name: "hapax",
        may_use: &[
            "hapax-core",
            "hapax-wire",
            "hapax-store",
            "hapax-store-sqlite",
            "hapax-store-postgres",
            "hapax-broker",
            "hapax-carrier",
            "hapax-otlp",
            "hapax-http",
        ],
    },
    // These stand outside: they see of the server what its users see.
    Layer { name: "bench", may_use: &["hapax-pg-cluster"] },
    Layer { name: "e2e", may_use: &["hapax-pg-cluster"] },
    Layer { name: "xtask", may_use: &[] },
];

struct Guard {
    dependencies: &'static [&'static str],
    only_in: &'static [&'static str],
    reason: &'static str,
}

const GUARDS: &[Guard] = &[
    Guard {
        dependencies: &["rusqlite"],
        only_in: &["hapax-store-sqlite", "bench"],
        reason: "SQL stays behind the store contract",
    },
    Guard {
        dependencies: &["tokio-postgres", "tokio-postgres-rustls"],
        only_in: &["hapax-store-postgres", "bench"],
        reason: "SQL stays behind the store contract",
    },
    Guard {
        dependencies: &["rustls", "rustls-native-certs", "tokio-rustls"],
        only_in: &["hapax-store-postgres", "hapax-carrier"],
        reason: "encryption belongs to whoever makes connections",
    },
    Guard {
        dependencies: &["axum", "tower", "tokio-tungstenite"],
        only_in: &["hapax-http", "bench"],
        reason: "HTTP stays in its binding",
    },
    Guard {
        dependencies: &["hyper", "hyper-util", "http-body-util"],
        only_in: &["hapax-http", "hapax-carrier", "hapax-otlp", "hapax", "bench"],
        reason: "HTTP stays in its binding, with who carries webhooks and spans, and in the operator's commands",
    },
    Guard {
        dependencies: &["clap", "toml"],
        only_in: &["hapax", "bench"],
        reason: "only programs read command lines and configuration",
    },
    Guard {
        dependencies: &["jiff"],
        only_in: &["hapax-core", "hapax", "bench"],
        reason: "the others use hapax-core's own instants and durations",
    },
    Guard {
        dependencies: &["getrandom"],
        only_in: &["hapax", "bench"],
        reason: "random bits are an argument; only a program draws them",
    },
    Guard {
        dependencies: &["anyhow"],
        only_in: &["hapax", "bench", "e2e", "xtask"],
        reason: "a library's errors are types that a caller can act on",
    },
];

pub(super) fn ours(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in tree.members() {
        let name = member.package_name();
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
            let advice = format!("`{name}` has no row in the table of layers: say what it may depend on");
            findings.push(Finding::violation(&member.path, 1, advice));
            continue;
        };
        let is_ours = |name: &str| LAYERS.iter().any(|layer| layer.name == name) || name.starts_with("hapax");
        for found in member.dependencies().filter(|found| is_ours(&found.name)) {
            if !layer.may_use.contains(&found.name.as_str()) {
                let advice = format!("{name} may not know {}: move the code down or up a layer", found.name);
                findings.push(Finding::violation(&member.path, found.line, advice));
            }
        }
    }
    findings
}

/// Tests may reach for anything.
pub(super) fn guarded(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in tree.members() {
        for found in member.dependencies().filter(|found| found.kind != Kind::Dev) {
            let guard = GUARDS.iter().find(|guard| guard.dependencies.contains(&found.name.as_str()));
            if let Some(Guard { only_in, reason, .. }) = guard
                && !only_in.contains(&member.package_name())
            {
                let advice = format!("`{}` only in {}: {reason}", found.name, only_in.join(", "));
                findings.push(Finding::violation(&member.path, found.line, advice));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::{Rule, found};
    use super::*;

    fn complaints(rule: Rule, package: &str, dependencies: &str) -> Vec<String> {
        let text = format!("[package]\nname = \"{package}\"\n{dependencies}\n");
        found(rule, &[(&format!("crates/{package}/Cargo.toml"), &text)])
    }

    #[test]
    fn a_dependency_against_the_layers_is_found() {
        let found = complaints(ours, "hapax-core", "[dependencies]\nhapax-store.workspace = true");
        assert!(found[0].starts_with("crates/hapax-core/Cargo.toml:4: hapax-core may not know hapax-store"));
        assert!(complaints(ours, "hapax-store", "[dependencies]\nhapax-core.workspace = true").is_empty());
    }

    #[test]
    fn tests_keep_to_the_layers_too() {
        let found = complaints(ours, "hapax-broker", "[dev-dependencies]\nhapax-http.workspace = true");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        assert!(complaints(ours, "hapax-extra", "")[0].contains("has no row"));
    }

    #[test]
    fn a_guarded_crate_in_the_wrong_place_is_found() {
        let found = complaints(guarded, "hapax-broker", "[dependencies]\nrusqlite.workspace = true");
        assert!(found[0].contains("`rusqlite` only in hapax-store-sqlite, bench"), "{found:?}");
        assert!(complaints(guarded, "bench", "[dependencies]\nrusqlite.workspace = true").is_empty());
        assert!(complaints(guarded, "hapax-wire", "[dev-dependencies]\njiff.workspace = true").is_empty());
    }

    #[test]
    fn the_layers_have_no_cycle() {
        for (index, layer) in LAYERS.iter().enumerate() {
            let below = |name: &&str| LAYERS[..index].iter().any(|layer| layer.name == *name);
            assert!(layer.may_use.iter().all(below), "{} uses a layer above it", layer.name);
        }
    }
}
