//! Comments say why: no leftovers, no history, no banners, no dead code.

use crate::tidy::finding::Finding;
use crate::tidy::source::{Comment, Line};
use crate::tidy::tree::Tree;

/// Written in capitals, whole words.
const LEFTOVERS: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

/// In any case, from the start of a word.
const HISTORY: &[&str] =
    &["now uses", "no longer", "previously", "used to be", "for now", "new implementation", "refactor"];

/// Four of one of these in a row draw a line.
const RULERS: &[&str] = &["----", "====", "****", "####", "~~~~", "////", "────", "━━━━"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.rust().chain(tree.sql()) {
        for (number, line) in source.lines() {
            let advice = line.comment.as_ref().and_then(|comment| complaint(line, comment));
            findings.extend(advice.map(|advice| Finding::violation(&file.path, number, advice)));
        }
    }
    findings
}

fn complaint(line: &Line, comment: &Comment) -> Option<String> {
    if let Some(word) = LEFTOVERS.iter().find(|word| has_word(&comment.text, word)) {
        return Some(format!("`{word}`: finish it, or leave it out and say what is missing in the docs"));
    }
    let lower = comment.text.to_lowercase();
    if let Some(phrase) = HISTORY.iter().find(|phrase| starts_word(&lower, phrase)) {
        return Some(format!("\"{phrase}\" tells history: say what is, and leave what was to the log"));
    }
    if comment.is_doc {
        return None;
    }
    let text = comment.text.trim();
    if RULERS.iter().any(|ruler| text.starts_with(ruler) || text.ends_with(ruler)) {
        return Some("a banner comment: make the section a file or leave the line out".to_owned());
    }
    let stands_alone = line.code.trim().is_empty();
    if stands_alone && (text.ends_with([';', '{']) || text == "}") {
        return Some(
            "looks like commented-out code: delete it, or end the sentence with a full stop".to_owned(),
        );
    }
    None
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

fn starts_word(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| !text[..at].ends_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        found(check, &[("a.rs", text)])
    }

    #[test]
    fn leftovers_are_found_with_their_line() {
        assert!(complaints("fn a() {}\n// TODO: later.\n")[0].starts_with("a.rs:2: `TODO`"));
        assert!(complaints("x(); // FIXME\n")[0].contains("`FIXME`"));
    }

    #[test]
    fn history_is_found_in_docs_too() {
        assert!(complaints("/// Previously a map.\n")[0].contains("tells history"));
        assert!(complaints("// Refactored into two.\n")[0].contains("refactor"));
    }

    #[test]
    fn banners_are_found() {
        assert!(complaints("// ---- helpers ----\n")[0].contains("banner"));
        assert!(complaints("//==========\n")[0].contains("banner"));
    }

    #[test]
    fn commented_out_code_is_found() {
        assert!(complaints("// let x = 1;\n")[0].contains("commented-out"));
        assert!(complaints("// if held {\n//     drop(x);\n// }\n").len() == 3);
    }

    #[test]
    fn sql_comments_are_read_as_well() {
        assert!(found(check, &[("a.sql", "SELECT 1 -- TODO\n")])[0].starts_with("a.sql:1: `TODO`"));
    }

    #[test]
    fn reasons_literals_and_code_samples_are_left_alone() {
        let text = "// The lease is read first: a late ack must see it.\nlet a = \"TODO\"; // Ends here;\n\
                    /// ```\n/// let x = 1;\n/// ```\nconst HACKATHON: u8 = 1; // HACKATHON\n";
        assert_eq!(complaints(text), Vec::<String>::new());
    }
}
