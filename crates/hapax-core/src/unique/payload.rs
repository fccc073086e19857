//! The payload of a job: its single argument. Two that are arrays can be joined.

use crate::Json;
use crate::json::{Limits, Node, Value, read};

/// The arguments of a job that takes over a duplicate: both payloads as one if both are arrays, else the new ones.
/// Every value keeps its own text.
pub(super) fn joined(old: &Json, new: &Json) -> Json {
    let unlimited = Limits { depth_max: Limits::DEPTH_CEILING };
    let (Ok(old), Ok(added)) = (read(old.as_str(), unlimited), read(new.as_str(), unlimited)) else {
        return new.clone();
    };
    match (batch(&old), batch(&added)) {
        (Some(old), Some(added)) => {
            let items: Vec<&str> = old.iter().chain(added).map(|item| item.raw).collect();
            Json::from_trusted(&format!("[[{}]]", items.join(",")))
        }
        _ => new.clone(),
    }
}

/// The items of the payload, if it is an array.
fn batch<'n, 'a>(args: &'n Node<'a>) -> Option<&'n [Node<'a>]> {
    match &args.value {
        Value::Array(arguments) => match arguments.as_slice() {
            [payload] => payload.as_array(),
            _ => None,
        },
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let joined = joined(&Json::from_trusted(old), &Json::from_trusted(new));
        assert_eq!(joined.as_str(), expected);
    }

    #[test]
    fn two_arrays_become_one_and_every_item_keeps_its_text() {
        check(r#"[[{"id": 1}]]"#, r#"[ [ {"id":2.0}, 1e3 ] ]"#, r#"[[{"id": 1},{"id":2.0},1e3]]"#);
        check("[[]]", "[[1]]", "[[1]]");
        check("[[1]]", "[[]]", "[[1]]");
        check("[[]]", "[[]]", "[[]]");
        check("[[[1]]]", "[[[2]]]", "[[[1],[2]]]");
    }

    #[test]
    fn anything_else_is_replaced() {
        check("[[1]]", r#"[{"a":1}]"#, r#"[{"a":1}]"#);
        check(r#"[{"a":1}]"#, "[[1]]", "[[1]]");
        check("[1]", "[2]", "[2]");
        check("[[1],[2]]", "[[3]]", "[[3]]");
        check("[[1]]", "[[2],[3]]", "[[2],[3]]");
        check("[]", "[[1]]", "[[1]]");
        check(r#"{"a":[1]}"#, r#"{"a":[2]}"#, r#"{"a":[2]}"#);
    }
}
