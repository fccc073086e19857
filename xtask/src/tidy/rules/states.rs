//! The names of the states are spelt where text meets the enum, and nowhere else.

use crate::tidy::finding::Finding;
use crate::tidy::source::Source;
use crate::tidy::tree::{File, Tree};

const STATES: &[&str] =
    &["scheduled", "available", "pending", "active", "completed", "retryable", "cancelled", "discarded"];

/// Where a state may be spelt, by the start or the end of the path.
const SPELT_IN: &[(&str, &str)] = &[
    ("crates/hapax-wire/", "the shapes that clients see"),
    ("crates/hapax-core/src/state.rs", "the enum and its names"),
    ("/row.rs", "rows of a table carry the names as text"),
    ("crates/hapax-core/src/webhook/delivery.rs", "the steps of deliveries have names of their own"),
    ("wire/webhook.rs", "subscriptions are active, and deliveries pending"),
    ("xtask/src/tidy/rules/states.rs", "this list"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust().filter(|(file, _)| !may_spell(file)).flat_map(|(file, source)| spelt(file, &source)).collect()
}

/// Test code spells them, to see what a client would see.
fn may_spell(file: &File) -> bool {
    let listed =
        SPELT_IN.iter().any(|(place, _reason)| file.path.starts_with(place) || file.path.ends_with(place));
    listed || file.is_test()
}

fn spelt(file: &File, source: &Source) -> Vec<Finding> {
    let tests = source.tests_start();
    let code = source.lines().take_while(|(number, _)| *number < tests);
    let literals = code.flat_map(|(number, line)| line.literals.iter().map(move |literal| (number, literal)));
    literals
        .filter(|(_, literal)| STATES.contains(&literal.as_str()))
        .map(|(number, literal)| {
            let advice = format!("the state \"{literal}\" as text: match on `State`, convert at the edge");
            Finding::violation(&file.path, number, advice)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const TEXT: &str = "//! A.\nfn f(s: &str) -> bool { s == \"active\" }\n";

    #[test]
    fn a_state_as_text_is_found() {
        let found = found(check, &[("crates/hapax-broker/src/ack.rs", TEXT)]);
        assert!(found[0].starts_with("crates/hapax-broker/src/ack.rs:2: the state \"active\""), "{found:?}");
    }

    #[test]
    fn the_edges_may_spell_states() {
        let edges =
            ["crates/hapax-wire/src/job.rs", "crates/hapax-store-sqlite/src/row.rs", "e2e/tests/ack.rs"];
        for path in edges {
            assert!(found(check, &[(path, TEXT)]).is_empty(), "{path}");
        }
    }

    #[test]
    fn unit_tests_and_sentences_may_name_states() {
        let text = "//! A.\nconst A: &str = \"job is active\";\n#[cfg(test)]\nmod tests {\n\"active\"\n}\n";
        assert!(found(check, &[("crates/hapax-broker/src/ack.rs", text)]).is_empty());
    }
}
