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

/// Refuses references that lead elsewhere, to nothing, or to too much. How many patterns a check tries.
pub(super) fn check(schema: Given<'_, '_>) -> Result<usize, Fault> {
    let mut walk = Walk { root: schema.node, left: VALUES_MAX, patterns: 0 };
    walk.value(schema, 0)?;
    Ok(walk.patterns)
}

struct Walk<'r, 'a> {
    root: &'r Node<'a>,
    left: usize,
    patterns: usize,
}

impl Walk<'_, '_> {
    fn value(&mut self, given: Given<'_, '_>, depth: usize) -> Result<(), Fault> {
        self.left = self.left.checked_sub(1).filter(|_| depth <= DEPTH_MAX).ok_or_else(|| {
            let problem = format_args!(
                "is too much: with references followed a schema may have {VALUES_MAX} values and be {DEPTH_MAX} deep, \
                 and may not lead back to itself"
            );
            Fault::new(given.place, problem)
        })?;
        match &given.node.value {
            Value::Object(members) => members.iter().try_for_each(|member| {
                let name = member.name.as_ref();
                let inner = Given { node: &member.node, place: Place::Member(&given.place, name) };
                match (name, member.node.as_str()) {
                    ("$ref", Some(target)) => self.reference(inner, target, depth),
                    ("$dynamicRef" | "$recursiveRef", Some(_)) => {
                        Err(Fault::new(inner.place, "is not taken: use $ref with a place in this schema"))
                    }
                    ("pattern", Some(_)) => self.patterns(inner, 1),
                    ("patternProperties", None) => {
                        self.patterns(inner, member.node.as_object().map_or(0, <[_]>::len))?;
                        self.value(inner, depth + 1)
                    }
                    _ => self.value(inner, depth + 1),
                }
            }),
            Value::Array(items) => items.iter().enumerate().try_for_each(|(index, node)| {
                self.value(Given { node, place: Place::Item(&given.place, index) }, depth + 1)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn patterns(&mut self, given: Given<'_, '_>, more: usize) -> Result<(), Fault> {
        self.patterns += more;
        if self.patterns <= PATTERNS_MAX {
            return Ok(());
        }
        let problem =
            format_args!("is one too many: with references followed, {PATTERNS_MAX} patterns are taken");
        Err(Fault::new(given.place, problem))
    }

    fn reference(&mut self, given: Given<'_, '_>, target: &str, depth: usize) -> Result<(), Fault> {
        let Some(pointer) = target.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))
        else {
            let problem =
                "must lead to a place in this schema, such as \"#/$defs/address\": nothing is fetched";
            return Err(Fault::new(given.place, problem));
        };
        let node = pointed(self.root, pointer)
            .ok_or_else(|| Fault::new(given.place, "leads to nothing in this schema"))?;
        self.value(Given { node, place: given.place }, depth + 1)
    }
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
}
