//! Texts of others, made fit for a terminal.

use std::fmt;

use serde::Deserialize;

/// A text in which nothing is left that could move the cursor, colour the screen or turn the direction of writing.
/// Every text of a server that is shown is one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Text(String);

impl Text {
    /// The text with everything escaped that cannot be seen.
    pub(crate) fn new(text: &str) -> Text {
        let mut shown = String::with_capacity(text.len());
        for character in text.chars() {
            if is_visible(character) {
                shown.push(character);
            } else {
                shown.extend(character.escape_debug());
            }
        }
        Text(shown)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether it takes its place on a line and does nothing else.
pub(super) fn is_visible(character: char) -> bool {
    // Escapes are longer than one character; quotes and backslashes have one only because literals need it.
    matches!(character, '"' | '\'' | '\\') || character.escape_debug().len() == 1
}

/// The texts in one line.
pub(crate) fn joined(texts: &[Text]) -> String {
    texts.iter().map(Text::as_str).collect::<Vec<_>>().join(", ")
}

/// `1 job`, `2 jobs`.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::new(&text)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Text::new(text).as_str(), expected);
    }

    #[test]
    fn what_can_be_seen_stays() {
        check("email.send", "email.send");
        check("Größe 日本 ✓ 🚀", "Größe 日本 ✓ 🚀");
        check(r#"{"a":"\"b\" 'c'"}"#, r#"{"a":"\"b\" 'c'"}"#);
    }

    #[test]
    fn what_acts_on_a_terminal_is_escaped() {
        check("a\u{1b}[2Jb", "a\\u{1b}[2Jb");
        check("a\r\n\tb\u{7}\u{0}", "a\\r\\n\\tb\\u{7}\\0");
        check("\u{7f}\u{9b}31m", "\\u{7f}\\u{9b}31m");
    }

    #[test]
    fn what_hides_or_turns_is_escaped() {
        check("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c");
        check("a\u{200b}b\u{feff}c\u{a0}d\u{2028}e", "a\\u{200b}b\\u{feff}c\\u{a0}d\\u{2028}e");
    }
}
