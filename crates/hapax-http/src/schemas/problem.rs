//! What is wrong with a value, in one sentence; of alternatives, why each does not fit.

use std::fmt::Write as _;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::LocationSegment;

/// Most alternatives of which it is told why they do not fit.
const ALTERNATIVES_SHOWN_MAX: usize = 5;
/// Most characters of the reason of one of them. What a schema says may be long.
const REASON_CHARS_MAX: usize = 120;

/// What is wrong. Values of the job are not repeated: they may be long, or secret.
pub(super) fn problem(error: &ValidationError<'_>) -> String {
    let said = error.masked().to_string();
    match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            format!("{said}: {}", reasons(context, &dotted(error)))
        }
        ValidationErrorKind::OneOfMultipleValid { context } => format!("{said}: {}", fitting(context)),
        _ => said,
    }
}

/// Why each alternative does not fit, counted from 0 as they stand in the schema.
fn reasons(alternatives: &[Vec<ValidationError<'static>>], place: &str) -> String {
    let mut told = String::new();
    for (number, faults) in alternatives.iter().enumerate().take(ALTERNATIVES_SHOWN_MAX) {
        let separator = if number == 0 { "" } else { "; " };
        let _infallible = write!(told, "{separator}[{number}] {}", reason(faults, place));
    }
    match alternatives.len().saturating_sub(ALTERNATIVES_SHOWN_MAX) {
        0 => {}
        more => drop(write!(told, "; and {more} more")),
    }
    told
}

/// The first fault of an alternative. If it is made of alternatives itself, those are not told.
fn reason(faults: &[ValidationError<'static>], place: &str) -> String {
    let Some(first) = faults.first() else { return "does not fit".to_owned() };
    let at = dotted(first);
    let inside = at.strip_prefix(place).unwrap_or(&at);
    let separator = if inside.is_empty() { "" } else { ": " };
    let said = format!("{inside}{separator}{}", first.masked());
    match said.char_indices().nth(REASON_CHARS_MAX) {
        None => said,
        Some((end, _)) => format!("{}…", &said[..end]),
    }
}

fn fitting(alternatives: &[Vec<ValidationError<'static>>]) -> String {
    let fitting = alternatives.iter().enumerate().filter(|(_, faults)| faults.is_empty());
    let numbers: Vec<String> =
        fitting.take(ALTERNATIVES_SHOWN_MAX).map(|(number, _)| format!("[{number}]")).collect();
    format!("it fits {}", numbers.join(" and "))
}

/// The place of an error, as it reads after the name of the whole.
pub(super) fn dotted(error: &ValidationError<'_>) -> String {
    let segment = |segment| match segment {
        LocationSegment::Property(name) => format!(".{name}"),
        LocationSegment::Index(index) => format!("[{index}]"),
    };
    error.instance_path().into_iter().map(segment).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn told(schema: &Value, value: &Value) -> String {
        let validator = jsonschema::options().offline().build(schema).unwrap();
        problem(&validator.validate(value).unwrap_err())
    }

    #[test]
    fn each_alternative_says_why_it_does_not_fit() {
        let contact = json!([{"required": ["email"]}, {"properties": {"phone": {"type": "string"}}, "required": ["phone"]}]);
        let said = told(&json!({"items": {"anyOf": contact}}), &json!([{"phone": 17}]));
        let expected = "value is not valid under any of the schemas listed in the 'anyOf' keyword: \
                        [0] \"email\" is a required property; [1] .phone: value is not of type \"string\"";
        assert_eq!(said, expected);
        let one = told(&json!({"oneOf": [{"type": "string"}, {"minimum": 5}]}), &json!(3));
        assert!(
            one.ends_with("[0] value is not of type \"string\"; [1] value is less than the minimum of 5"),
            "{one}"
        );
    }

    #[test]
    fn alternatives_of_which_several_fit_are_named() {
        let said =
            told(&json!({"oneOf": [{"type": "string"}, {"type": "integer"}, {"minimum": 1}]}), &json!(3));
        assert!(said.ends_with("it fits [1] and [2]"), "{said}");
    }

    #[test]
    fn many_alternatives_and_long_ones_make_no_long_message() {
        let long: Vec<Value> =
            (0..200).map(|number| json!({"const": format!("{number}{}", "x".repeat(10_000))})).collect();
        let said = told(&json!({"anyOf": long}), &json!("secret"));
        assert!(said.ends_with("; and 195 more") && said.chars().count() < 800, "{said}");
        assert!(!said.contains("secret"), "{said}");
    }
}
