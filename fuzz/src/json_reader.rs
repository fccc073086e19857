//! The reader beside `serde_json`: the same documents, the same values.

use hapax_core::json::{JsonError, Limits, Node, Value, read, read_bytes};

pub fn run(data: &[u8]) {
    match (read_bytes(data, Limits::DEFAULT), serde_json::from_slice::<serde_json::Value>(data)) {
        (Ok(ours), Ok(theirs)) => {
            assert_eq!(to_serde(&ours), theirs);
            check_sources(&ours);
        }
        (Ok(_), Err(theirs)) => {
            // The one thing we read and serde_json does not: a number beyond the doubles.
            assert!(theirs.to_string().starts_with("number out of range"), "{theirs}");
        }
        (Err(ours), Ok(_)) => {
            // The two things serde_json reads and we do not.
            assert!(matches!(ours, JsonError::DuplicateMember { .. } | JsonError::TooDeep { .. }), "{ours}");
            check_place(&ours, data);
        }
        (Err(ours), Err(_)) => check_place(&ours, data),
    }
}

/// The node as `serde_json` would hold it.
fn to_serde(node: &Node<'_>) -> serde_json::Value {
    match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(text) => {
            let number: serde_json::Number = text.parse().expect("serde_json read it in the document");
            assert_eq!(node.as_f64(), number.as_f64());
            number.into()
        }
        Value::String(text) => text.as_ref().into(),
        Value::Array(items) => items.iter().map(to_serde).collect(),
        Value::Object(members) => {
            let object: serde_json::Map<_, _> =
                members.iter().map(|member| (member.name.to_string(), to_serde(&member.node))).collect();
            assert_eq!(object.len(), members.len(), "a name that occurs twice was read");
            object.into()
        }
    }
}

/// The source of every value, read alone, is that value.
fn check_sources(node: &Node<'_>) {
    assert_eq!(read(node.raw, Limits::DEFAULT).as_ref(), Ok(node));
    match &node.value {
        Value::Array(items) => items.iter().take(8).for_each(check_sources),
        Value::Object(members) => members.iter().take(8).for_each(|member| check_sources(&member.node)),
        _ => {}
    }
}

/// The error points into the text, and its message can be printed.
fn check_place(error: &JsonError, data: &[u8]) {
    let (JsonError::Syntax { offset, .. }
    | JsonError::TooDeep { offset, .. }
    | JsonError::DuplicateMember { offset, .. }
    | JsonError::InvalidUtf8 { offset }) = error;
    assert!(*offset <= data.len());
    if let JsonError::DuplicateMember { name, .. } = error {
        let mut names = serde_json::Deserializer::from_slice(&data[*offset..]).into_iter::<String>();
        assert_eq!(names.next().and_then(Result::ok).as_deref(), Some(&**name));
    }
    assert!(error.to_string().len() < 1000, "{error}");
}
