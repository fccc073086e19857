//! The payload of a job: its single argument. Two that are arrays can be joined.

use crate::Json;

/// The arguments of a job that takes over a duplicate: both payloads as one if both are arrays, else the new ones.
/// Every item keeps its own text. Nothing if they would have more than `max` bytes, with how many they would have.
pub(super) fn joined(old: &Json, new: &Json, max: usize) -> Result<Json, usize> {
    let (Some(held), Some(added)) = (items(old.as_str()), items(new.as_str())) else {
        return Ok(new.clone());
    };
    if held.is_empty() || added.is_empty() {
        return Ok(if added.is_empty() { old.clone() } else { new.clone() });
    }
    let bytes = held.len() + added.len() + "[[,]]".len();
    if bytes > max {
        return Err(bytes);
    }
    Ok(Json::from_trusted(&["[[", held, ",", added, "]]"].concat()))
}

/// The text between the brackets of the payload, if it is an array and the only argument. Looks at brackets and quotes
/// only: a payload may have grown large, and it was read before.
fn items(args: &str) -> Option<&str> {
    let payload = inside(args)?;
    let items = inside(payload)?;
    closes_at_its_end(payload).then_some(items)
}

fn inside(text: &str) -> Option<&str> {
    text.trim_ascii().strip_prefix('[')?.strip_suffix(']').map(str::trim_ascii)
}

/// Whether the first bracket of an array's text is closed by its last one, so that there is no second value.
fn closes_at_its_end(text: &str) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1 == text.len();
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::tests::documents::{documents, spell, styles};
    use crate::json::{Limits, read};

    fn join(old: &str, new: &str) -> String {
        let (old, new) = (Json::from_trusted(old), Json::from_trusted(new));
        joined(&old, &new, usize::MAX).unwrap().as_str().to_owned()
    }

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        assert_eq!(join(old, new), expected);
    }

    #[test]
    fn two_arrays_become_one_and_every_item_keeps_its_text() {
        check(r#"[[{"id": 1}]]"#, r#"[ [ {"id":2.0}, 1e3 ] ]"#, r#"[[{"id": 1},{"id":2.0}, 1e3]]"#);
        check("[[]]", "[[1]]", "[[1]]");
        check("[[1]]", "[[]]", "[[1]]");
        check("[[]]", "[[]]", "[[]]");
        check("[[[1]]]", "[[[2]]]", "[[[1],[2]]]");
        check(r#"[["]],[["]]"#, r#"[["\\","\"]"]]"#, r#"[["]],[[","\\","\"]"]]"#);
    }

    #[test]
    fn anything_else_is_replaced() {
        check("[[1]]", r#"[{"a":1}]"#, r#"[{"a":1}]"#);
        check(r#"[{"a":1}]"#, "[[1]]", "[[1]]");
        check("[1]", "[2]", "[2]");
        check("[[1],[2]]", "[[3]]", "[[3]]");
        check("[[1]]", "[[2],[3]]", "[[2],[3]]");
        check("[[1],2,[3]]", "[[4]]", "[[4]]");
        check("[]", "[[1]]", "[[1]]");
        check(r#"{"a":[1]}"#, r#"{"a":[2]}"#, r#"{"a":[2]}"#);
    }

    #[test]
    fn what_is_too_large_is_said_before_it_is_made() {
        let (old, new) = (Json::from_trusted("[[1,2]]"), Json::from_trusted("[[3]]"));
        assert_eq!(joined(&old, &new, 8), Err(9));
        assert!(joined(&old, &new, 9).is_ok());
        let alone = Json::from_trusted(r#"["longer"]"#);
        assert!(joined(&old, &alone, 3).is_ok(), "nothing is joined");
    }

    /// A reader that builds the values agrees with the one that looks at brackets.
    fn read_items(args: &str) -> Option<Vec<String>> {
        let args = read(args, Limits::DEFAULT).unwrap();
        let [payload] = args.as_array()? else { return None };
        Some(payload.as_array()?.iter().map(|item| item.raw.to_owned()).collect())
    }

    proptest::proptest! {
        #[test]
        fn any_two_payloads_are_joined_as_a_reader_would(
            (old, new) in (documents(), documents()),
            (one, other) in (styles(), styles()),
        ) {
            let texts = [(&old, one), (&new, other)].map(|(value, style)| format!("[ {} ]", spell(value, &style)));
            let both = texts.each_ref().map(|text| read_items(text));
            let joined = join(&texts[0], &texts[1]);
            if let [Some(old), Some(new)] = both {
                proptest::prop_assert_eq!(read_items(&joined), Some([old, new].concat()));
            } else {
                proptest::prop_assert_eq!(&joined, &texts[1]);
            }
        }
    }
}
