//! References inside a schema: where they may lead, and how large a schema is if they are followed.
//!
//! Checking arguments takes a step for each subschema as often as references lead to it, so what is followed here is what
//! a check costs: a schema of ten lines can come to more steps than there are atoms. Such a schema is refused, and so is
//! one that leads back to itself, which has no end.

use hapax_core::json::{Node, Value};

use crate::from_wire::{Fault, Given, Place};

/// Most values of a schema, its references followed.
const VALUES_MAX: usize = 20_000;
/// How deep a schema may be, its references followed.
const DEPTH_MAX: usize = 128;
/// Most patterns of a schema, its references followed: each takes memory for as long as the schema is known.
const PATTERNS_MAX: usize = 100;

/// How much more a step costs inside of `unevaluatedProperties` or `unevaluatedItems`: what stands beside them is checked, then
/// checked again to see what it looked at, and so on at every level.
const UNEVALUATED_COST: usize = 3;
/// What an error takes, beside the texts in it.
const ERROR_BYTES: usize = 256;
/// How much larger a value is in memory than its text, at most.
const VALUE_PER_TEXT: usize = 16;
/// How many digits the number of an item has, at most.
const INDEX_BYTES: usize = 20;

/// How large a schema is, its references followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// How many values it has: each takes a step for each value of the arguments.
    pub(super) values: usize,
    /// How many patterns a check tries.
    pub(super) patterns: usize,
    /// How many members look at each character of a text.
    pub(super) texts: usize,
    /// How many bytes its errors take for each value of the arguments, at most.
    pub(super) error_bytes: usize,
    /// Whether an error may consist of any number of others.
    pub(super) has_branches: bool,
}

/// Refuses references that lead elsewhere, to nothing, or to too much. How large the schema is.
pub(super) fn check(schema: Given<'_, '_>) -> Result<Size, Fault> {
    let draft = schema.node.get("$schema").and_then(Node::as_str);
    let size = Size { values: 0, patterns: 0, texts: 0, error_bytes: 0, has_branches: false };
    let mut walk =
        Walk { root: schema.node, names_by_id: draft.is_some_and(|uri| uri.contains("draft-04")), size };
    walk.value(schema, Spot { depth: 0, path: 0, cost: 1 })?;
    Ok(walk.size)
}

struct Walk<'r, 'a> {
    root: &'r Node<'a>,
    /// Whether the draft writes `id` for `$id`.
    names_by_id: bool,
    size: Size,
}

/// Where the walk is.
#[derive(Debug, Clone, Copy)]
struct Spot {
    depth: usize,
    /// How long the path is that led here.
    path: usize,
    /// How many steps a check takes here for one value.
    cost: usize,
}

impl Spot {
    fn inside(self, name: usize) -> Spot {
        Spot { depth: self.depth + 1, path: self.path + name + 1, ..self }
    }
}

impl Walk<'_, '_> {
    fn value(&mut self, given: Given<'_, '_>, spot: Spot) -> Result<(), Fault> {
        self.size.values = self.size.values.saturating_add(spot.cost);
        if self.size.values > VALUES_MAX || spot.depth > DEPTH_MAX {
            let problem = format_args!(
                "is too much: with references followed a schema may have {VALUES_MAX} values (inside of unevaluatedProperties \
                 and unevaluatedItems each counts for {UNEVALUATED_COST}) and be {DEPTH_MAX} deep, and may not lead back to itself"
            );
            return Err(Fault::new(given.place, problem));
        }
        match &given.node.value {
            Value::Object(members) => {
                let looks_again = ["unevaluatedProperties", "unevaluatedItems"];
                let is_dear = looks_again.into_iter().any(|name| given.node.get(name).is_some());
                let cost = if is_dear { spot.cost.saturating_mul(UNEVALUATED_COST) } else { spot.cost };
                let is_root = std::ptr::eq(given.node, self.root);
                members.iter().try_for_each(|member| {
                    let name = member.name.as_ref();
                    let inner = Given { node: &member.node, place: Place::Member(&given.place, name) };
                    self.member(inner, name, Spot { cost, ..spot }.inside(name.len()), is_root)
                })
            }
            Value::Array(items) => items.iter().enumerate().try_for_each(|(index, node)| {
                self.value(Given { node, place: Place::Item(&given.place, index) }, spot.inside(INDEX_BYTES))
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.expect_errors(spot, given.node.raw.len());
                Ok(())
            }
        }
    }

    fn member(&mut self, inner: Given<'_, '_>, name: &str, spot: Spot, of_root: bool) -> Result<(), Fault> {
        match (name, inner.node.as_str()) {
            ("$ref", Some(target)) => return self.reference(inner, target, spot),
            ("$dynamicRef" | "$recursiveRef", Some(_)) => {
                return Err(Fault::new(inner.place, "is not taken: use $ref with a place in this schema"));
            }
            // They would change what the references below them mean.
            ("$id" | "$schema", Some(_)) if !of_root => return Err(not_inside(inner.place)),
            ("id", Some(_)) if self.names_by_id && !of_root => return Err(not_inside(inner.place)),
            ("pattern", Some(_)) => self.patterns(inner, 1)?,
            ("patternProperties", None) => {
                self.patterns(inner, inner.node.as_object().map_or(0, <[_]>::len))?;
            }
            ("format" | "minLength" | "maxLength" | "contentEncoding" | "contentMediaType", _) => {
                self.size.texts = self.size.texts.saturating_add(spot.cost);
            }
            ("anyOf" | "oneOf", None) => self.size.has_branches = true,
            // The error has a copy of what must not be.
            ("not", None) => self.expect_errors(spot, inner.node.raw.len().saturating_mul(VALUE_PER_TEXT)),
            _ => {}
        }
        self.value(inner, spot)
    }

    /// Counts what an error takes that is found here.
    fn expect_errors(&mut self, spot: Spot, text: usize) {
        let bytes = (ERROR_BYTES + 2 * spot.path).saturating_add(text).saturating_mul(spot.cost);
        self.size.error_bytes = self.size.error_bytes.saturating_add(bytes);
    }

    fn patterns(&mut self, given: Given<'_, '_>, more: usize) -> Result<(), Fault> {
        self.size.patterns += more;
        if self.size.patterns <= PATTERNS_MAX {
            return Ok(());
        }
        let problem =
            format_args!("is one too many: with references followed, {PATTERNS_MAX} patterns are taken");
        Err(Fault::new(given.place, problem))
    }

    fn reference(&mut self, given: Given<'_, '_>, target: &str, spot: Spot) -> Result<(), Fault> {
        // Two ways to write one place, and a check would take the other.
        if target.contains('%') {
            return Err(Fault::new(given.place, "must be written without percent-encoding"));
        }
        let Some(pointer) = target.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))
        else {
            let problem =
                "must lead to a place in this schema, such as \"#/$defs/address\": nothing is fetched";
            return Err(Fault::new(given.place, problem));
        };
        let node = pointed(self.root, pointer)
            .ok_or_else(|| Fault::new(given.place, "leads to nothing in this schema"))?;
        self.value(Given { node, place: given.place }, spot.inside(target.len()))
    }
}

fn not_inside(place: Place<'_>) -> Fault {
    Fault::new(place, "is taken at the root of a schema only: references are read from there")
}

fn pointed<'n, 'a>(root: &'n Node<'a>, pointer: &str) -> Option<&'n Node<'a>> {
    pointer.split('/').skip(1).try_fold(root, |node, part| {
        let name = part.replace("~1", "/").replace("~0", "~");
        match &node.value {
            Value::Object(_) => node.get(&name),
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use hapax_core::json::{self, Limits};

    use super::*;

    #[track_caller]
    fn outcome(schema: &str) -> String {
        let node = json::read(schema, Limits::DEFAULT).unwrap();
        let checked = check(Given { node: &node, place: Place::Member(&Place::Body, "schema") });
        checked.map_or_else(|fault| fault.message, |_| "fine".to_owned())
    }

    #[test]
    fn a_reference_leads_to_a_place_in_the_schema() {
        assert_eq!(outcome(r##"{"items":{"$ref":"#/$defs/a~1b/0"},"$defs":{"a/b":[{}]}}"##), "fine");
        assert!(outcome(r##"{"$ref":"#/$defs/a"}"##).starts_with("schema.$ref: leads to nothing"));
        let elsewhere = outcome(r#"{"allOf":[{"$ref":"https://example.com/x.json"}]}"#);
        assert!(
            elsewhere.starts_with("schema.allOf[0].$ref: must lead to a place in this schema"),
            "{elsewhere}"
        );
        assert!(outcome(r##"{"$dynamicRef":"#x"}"##).contains("is not taken"));
    }

    #[test]
    fn a_property_may_have_the_name_of_a_reference() {
        assert_eq!(outcome(r#"{"properties":{"$ref":{"type":"string"}}}"#), "fine");
    }

    #[test]
    fn patterns_are_counted() {
        let patterns = |count: usize| {
            let each: Vec<String> = (0..count).map(|number| format!(r#"{{"pattern":"{number}"}}"#)).collect();
            format!(r#"{{"anyOf":[{}],"patternProperties":{{"^x":{{}}}}}}"#, each.join(","))
        };
        assert_eq!(outcome(&patterns(PATTERNS_MAX - 1)), "fine");
        assert!(outcome(&patterns(PATTERNS_MAX)).starts_with("schema.patternProperties: is one too many"));
        assert!(
            outcome(&patterns(PATTERNS_MAX + 1)).starts_with("schema.anyOf[100].pattern: is one too many")
        );
    }

    #[test]
    fn a_schema_that_grows_without_end_is_refused() {
        assert!(outcome(r##"{"$ref":"#"}"##).contains("is too much"));
        assert!(outcome(r##"{"properties":{"next":{"$ref":"#"}}}"##).contains("is too much"));
        let doubled = |from: usize| {
            let to = from + 1;
            format!(r##""d{from}":{{"allOf":[{{"$ref":"#/$defs/d{to}"}},{{"$ref":"#/$defs/d{to}"}}]}}"##)
        };
        let doublings: Vec<String> = (0..40).map(doubled).collect();
        let bomb = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d40":{{}}}}}}"##, doublings.join(","));
        assert!(outcome(&bomb).contains("is too much"));
    }

    #[test]
    fn what_is_measured_is_what_is_run() {
        // Each of these makes the references below it mean something else to the validator.
        let below =
            |inner: &str| format!(r##"{{"$ref":"#/$defs/x","$defs":{{"x":{{{inner},"$defs":{{}}}}}}}}"##);
        let refused = outcome(&below(r#""$id":"urn:x""#));
        assert!(refused.starts_with("schema.$ref.$id: is taken at the root of a schema only"), "{refused}");
        assert!(
            outcome(&below(r#""$schema":"http://json-schema.org/draft-04/schema#""#)).contains("at the root")
        );
        let encoded = outcome(r##"{"$ref":"#/%24defs/a","$defs":{"a":{}},"%24defs":{"a":{}}}"##);
        assert!(encoded.starts_with("schema.$ref: must be written without percent-encoding"), "{encoded}");
        let older = r#"{"$schema":"http://json-schema.org/draft-04/schema#","items":{"id":"urn:x"}}"#;
        assert!(outcome(older).starts_with("schema.items.id: is taken at the root"));
        assert_eq!(outcome(r#"{"$id":"urn:x","properties":{"$id":{},"id":{"id":"x"}}}"#), "fine");
    }

    #[test]
    fn looking_again_is_counted() {
        let nested = |levels: usize| {
            let (open, close) = (r#"{"unevaluatedProperties":false,"allOf":["#, "]}");
            format!("{}true{}", open.repeat(levels), close.repeat(levels))
        };
        assert_eq!(outcome(&nested(5)), "fine");
        assert!(outcome(&nested(20)).contains("is too much"));
    }
}
