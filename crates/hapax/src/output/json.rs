//! JSON set in lines. Numbers, names and their order stay as they came.

use std::fmt::Write as _;

use super::text::is_visible;

const INDENT: &str = "  ";

/// The text of a JSON value with one member per line. What acts on a terminal is escaped, as JSON escapes it.
pub(super) fn pretty(text: &str) -> String {
    let mut setter = Setter { out: String::with_capacity(text.len() * 2), depth: 0 };
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '"' => setter.string(&mut rest),
            '{' | '[' => {
                while rest.next_if(char::is_ascii_whitespace).is_some() {}
                match rest.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => setter.out.extend([character, end]),
                    None => setter.open(character),
                }
            }
            '}' | ']' => setter.close(character),
            ',' => setter.next(),
            ':' => setter.out.push_str(": "),
            blank if blank.is_ascii_whitespace() => {}
            other => setter.visible(other),
        }
    }
    setter.out.push('\n');
    setter.out
}

struct Setter {
    out: String,
    depth: usize,
}

impl Setter {
    /// The rest of a string whose quote was read.
    fn string(&mut self, rest: &mut impl Iterator<Item = char>) {
        self.out.push('"');
        while let Some(character) = rest.next() {
            self.visible(character);
            match character {
                '\\' => rest.next().into_iter().for_each(|escaped| self.visible(escaped)),
                '"' => return,
                _ => {}
            }
        }
    }

    fn visible(&mut self, character: char) {
        if is_visible(character) {
            self.out.push(character);
            return;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _infallible = write!(self.out, "\\u{unit:04x}");
        }
    }

    fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.depth += 1;
        self.line();
    }

    fn close(&mut self, bracket: char) {
        self.depth = self.depth.saturating_sub(1);
        self.line();
        self.out.push(bracket);
    }

    fn next(&mut self) {
        self.out.push(',');
        self.line();
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(INDENT, self.depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_set_in_lines_and_keeps_its_numbers_and_order() {
        let text = r#"{"b":[1.0,12345678901234567890],"a":{"x":"y, {z}: \"\\"},"e":{},"l":[ ]}"#;
        insta::assert_snapshot!(pretty(text), @r#"
        {
          "b": [
            1.0,
            12345678901234567890
          ],
          "a": {
            "x": "y, {z}: \"\\"
          },
          "e": {},
          "l": []
        }
        "#);
        assert_eq!(pretty(&pretty(text)), pretty(text));
    }

    #[test]
    fn what_acts_on_a_terminal_is_escaped_and_still_means_the_same() {
        let text = "[\"a\u{9b}31m\u{202e}\u{e0001}\"]";
        let shown = pretty(text);
        assert_eq!(shown, "[\n  \"a\\u009b31m\\u202e\\udb40\\udc01\"\n]\n");
        let value = |text: &str| serde_json::from_str::<Vec<String>>(text).unwrap();
        assert_eq!(value(&shown), value(text));
    }

    #[test]
    fn what_is_no_json_is_shown_harmlessly() {
        assert_eq!(pretty("}}\u{1b}\"a\\"), "\n}\n}\\u001b\"a\\\n");
    }
}
