//! A schema made ready to check arguments with.

use hapax_core::json::{self, Limits};
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::problem::{dotted, problem};
use super::references::{self, Size};
use crate::from_wire::{Fault, Given, Place};

/// Most faults of one job that are told.
pub(crate) const FINDINGS_MAX: usize = 10;
/// Most bytes that one compiled pattern may take. Trying it takes time in proportion to them and to the text.
const PATTERN_BYTES_MAX: usize = 256 * 1024;
/// Most bytes of arguments that are tried with patterns, added up over all patterns of a schema.
const TRIED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Most steps of one check: values of the schema times values of the arguments. That is a few seconds.
const STEPS_MAX: usize = 256 * 1024 * 1024;
/// Most bytes that all errors of one check may take: the validator collects them before the first can be told.
const ERROR_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What one value takes in memory, with its name in an object.
const VALUE_BYTES: usize = 96;
/// How long the number of an item is in a path.
const INDEX_BYTES: usize = 8;

/// A schema made ready.
#[derive(Debug)]
pub(crate) struct Checker {
    validator: Validator,
    size: Size,
}

/// How much there is in the arguments of a job.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    values: usize,
    /// The paths of all values together.
    paths: usize,
    /// What copies of every value take together.
    copies: usize,
}

/// One thing that is wrong with the arguments of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Where in the arguments: a path such as `[0].to`, empty for all of them.
    pub(crate) path: String,
    /// What is wrong. Values of the job are not repeated: they may be long, or secret.
    pub(crate) problem: String,
}

impl Checker {
    /// Makes a schema of a request ready, or says what is wrong with it and where.
    pub(crate) fn of(schema: Given<'_, '_>) -> Result<Checker, Fault> {
        let size = references::check(schema)?;
        let document = value(schema.node.raw).ok_or_else(|| Fault::new(schema.place, "cannot be read"))?;
        // A schema that does not say so is of the newest draft; the form of tuples that older drafts have is known too.
        let newest = build(&document, Draft::Draft202012);
        let built = match newest {
            Err(fault) if document.get("$schema").is_none() => {
                build(&document, Draft::Draft7).map_err(|_| fault)
            }
            other => other,
        };
        built.map(|validator| Checker { validator, size }).map_err(|fault| {
            let place = dotted(&fault);
            let problem = format_args!("is not a JSON Schema: {}", fault.masked());
            if place.is_empty() {
                Fault::new(schema.place, problem)
            } else {
                Fault::new(Place::Path(&schema.place, &place), problem)
            }
        })
    }

    /// How many values a schema has that was taken before, its references followed.
    pub(crate) fn values_of(schema: &str) -> usize {
        let Ok(node) = json::read(schema, Limits::DEFAULT) else { return 0 };
        // Nothing is checked by a schema that cannot be taken any more.
        references::check(Given { node: &node, place: Place::Body }).map_or(0, |size| size.values)
    }

    /// The same for a schema that was taken before.
    pub(crate) fn of_stored(schema: &str) -> Option<Checker> {
        let node = json::read(schema, Limits::DEFAULT).ok()?;
        Checker::of(Given { node: &node, place: Place::Body }).ok()
    }

    /// What is wrong with the arguments; nothing if they are as they should be.
    pub(crate) fn findings(&self, args: &str) -> Vec<Finding> {
        let whole = |problem: String| vec![Finding { path: String::new(), problem }];
        let (bytes, Size { values, patterns, texts, .. }) = (args.len(), self.size);
        if bytes.saturating_mul(patterns) > TRIED_BYTES_MAX {
            return whole(format!("has {bytes} bytes, which are too many to try {patterns} patterns on"));
        }
        // Whoever cannot look has not seen that all is well.
        let Some(args) = value(args) else {
            return whole("has a number beyond what can be checked".to_owned());
        };
        let extent = Extent::of(&args);
        let steps = extent.values.saturating_mul(values).saturating_add(bytes.saturating_mul(texts));
        if steps > STEPS_MAX {
            return whole(format!("has {} values, which are too many for this schema", extent.values));
        }
        if self.validator.is_valid(&args) {
            return Vec::new();
        }
        let found = |error: ValidationError<'_>| Finding { path: dotted(&error), problem: problem(&error) };
        if self.error_bytes(extent) <= ERROR_BYTES_MAX {
            return self.validator.iter_errors(&args).take(FINDINGS_MAX).map(found).collect();
        }
        // The first error alone is small, unless it is made of others.
        if self.size.has_branches {
            return whole("is not as its schema says, and too large for the places to be told".to_owned());
        }
        self.validator.validate(&args).err().map(found).into_iter().collect()
    }

    /// What all errors take that these arguments could lead to.
    fn error_bytes(&self, Extent { values, paths, copies }: Extent) -> usize {
        let of_schema = values.saturating_mul(self.size.error_bytes);
        of_schema.saturating_add(self.size.values.saturating_mul(paths.saturating_add(copies)))
    }
}

impl Extent {
    fn of(args: &Value) -> Extent {
        let mut extent = Extent::default();
        extent.add(args, 0);
        extent
    }

    /// Counts a value at the end of a path; what a copy of it takes.
    fn add(&mut self, value: &Value, path: usize) -> usize {
        let inside = match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(|item| self.add(item, path + INDEX_BYTES)).sum(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| name.len() + self.add(value, path + name.len() + 1)).sum()
            }
        };
        let copy = VALUE_BYTES + inside;
        self.values += 1;
        self.paths += path;
        self.copies = self.copies.saturating_add(copy);
        copy
    }
}

fn build(document: &Value, draft: Draft) -> Result<Validator, ValidationError<'static>> {
    let options = jsonschema::options();
    let options = match document.get("$schema") {
        Some(_) => options,
        None => options.with_draft(draft),
    };
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    options.with_pattern_options(patterns).should_validate_formats(true).offline().build(document)
}

/// Numbers beyond the machine's are rounded here, for the check only.
fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checker(schema: &str) -> Result<Checker, String> {
        let node = json::read(schema, Limits::DEFAULT).unwrap();
        let place = Place::Member(&Place::Body, "schema");
        Checker::of(Given { node: &node, place }).map_err(|fault| fault.message)
    }

    #[track_caller]
    fn findings(schema: &str, args: &str) -> Vec<(String, String)> {
        let found = checker(schema).unwrap().findings(args);
        found.into_iter().map(|Finding { path, problem }| (path, problem)).collect()
    }

    #[test]
    fn a_finding_says_where_and_what_without_the_value() {
        let schema = r#"{"type":"array","items":{"type":"object","required":["to"],
            "properties":{"amount":{"type":"integer"}}}}"#;
        assert_eq!(findings(schema, r#"[{"to":"a","amount":1}]"#), []);
        let found = findings(schema, r#"[{"to":"a"},{"amount":"secret"}]"#);
        let find = |path: &str| &found.iter().find(|(place, _)| place == path).unwrap().1;
        assert!(
            find("[1].amount").contains("integer") && !find("[1].amount").contains("secret"),
            "{found:?}"
        );
        assert!(find("[1]").contains("\"to\" is a required property"), "{found:?}");
    }

    #[test]
    fn no_more_findings_are_told_than_anybody_reads() {
        let args = format!("[{}1]", "1,".repeat(100));
        assert_eq!(findings(r#"{"items":{"type":"string"}}"#, &args).len(), FINDINGS_MAX);
    }

    #[test]
    fn tuples_of_older_drafts_are_known() {
        let tuple = r#"{"type":"array","items":[{"type":"string"}]}"#;
        assert_eq!(findings(tuple, r#"["a",1]"#), []);
        assert_eq!(findings(tuple, "[1]")[0].0, "[0]");
        let newest = r#"{"prefixItems":[{"type":"string"}]}"#;
        assert_eq!(findings(newest, "[1]")[0].0, "[0]");
    }

    #[test]
    fn what_is_no_schema_is_refused_with_its_place() {
        let refused = |schema| checker(schema).unwrap_err();
        let wrong = refused(r#"{"properties":{"a":{"type":"strin"}}}"#);
        assert!(wrong.starts_with("schema.properties.a.type: is not a JSON Schema"), "{wrong}");
        assert!(refused(r#"{"items":{"pattern":"("}}"#).starts_with("schema.items.pattern:"));
        assert!(refused("[]").starts_with("schema: is not a JSON Schema"), "{}", refused("[]"));
        let unknown = refused(r#"{"$schema":"https://example.com/own"}"#);
        assert!(unknown.starts_with("schema: is not a JSON Schema"), "{unknown}");
    }

    #[test]
    fn what_cannot_be_checked_is_not_passed() {
        for number in ["1e400", "-1e999999999", &"9".repeat(400)] {
            let found = findings(r#"{"type":"array"}"#, &format!("[{number}]"));
            assert_eq!(found, [(String::new(), "has a number beyond what can be checked".to_owned())]);
        }
        let long = format!(r#"["{}"]"#, "x".repeat(TRIED_BYTES_MAX / 2));
        let patterned = r#"{"items":{"anyOf":[{"pattern":"x"},{"pattern":"y"}]}}"#;
        assert!(findings(patterned, &long)[0].1.ends_with("too many to try 2 patterns on"));
        assert_eq!(findings(r#"{"items":{"pattern":"x"}}"#, &long), []);
    }

    #[test]
    fn arguments_that_are_too_much_for_a_schema_are_not_passed() {
        let deep = format!(r#"{{"items":{{"allOf":[{}true]}}}}"#, "true,".repeat(1000));
        let args = format!("[{}0]", "0,".repeat(STEPS_MAX / 1000));
        assert!(findings(&deep, &args)[0].1.ends_with("which are too many for this schema"));
        let texts = format!(r#"{{"items":{{"allOf":[{}true]}}}}"#, r#"{"maxLength":9},"#.repeat(500));
        let args = format!(r#"["{}"]"#, "x".repeat(STEPS_MAX / 500));
        assert!(findings(&texts, &args)[0].1.ends_with("which are too many for this schema"));
    }

    #[test]
    fn errors_without_number_are_not_collected() {
        // All of them would take some twenty gigabytes.
        let args = format!("[{}0]", "0,".repeat(20_000));
        let many = format!(r#"{{"items":{{"allOf":[{}true]}}}}"#, r#"{"type":"string"},"#.repeat(3000));
        let found = findings(&many, &args);
        assert_eq!((found.len(), found[0].0.as_str()), (1, "[0]"));
        let branched = format!(r#"{{"anyOf":[{many}]}}"#);
        let found = findings(&branched, &args);
        assert_eq!(found.len(), 1);
        assert!(found[0].1.ends_with("too large for the places to be told"), "{found:?}");
        // Few errors, each with a long path.
        let args = format!(r#"{{"{}":[{}0]}}"#, "x".repeat(100_000), "0,".repeat(2000));
        let found = findings(r#"{"additionalProperties":{"items":{"type":"string"}}}"#, &args);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_pattern_that_takes_too_much_room_is_refused() {
        let fault = checker(r#"{"pattern":"[01]*1[01]{9000}"}"#).unwrap_err();
        assert!(fault.starts_with("schema.pattern:"), "{fault}");
    }

    #[test]
    fn a_pattern_that_would_have_to_look_back_is_refused() {
        assert!(checker(r#"{"pattern":"^(?!x)"}"#).unwrap_err().starts_with("schema.pattern:"));
    }
}
