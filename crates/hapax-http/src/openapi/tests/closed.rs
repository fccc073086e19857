//! The document with its openness taken away: in an answer nothing may stand that it does not know.
//!
//! To clients it says that further members may come. Here a further member is one that somebody forgot to describe.

use serde_json::{Map, Value, json};

/// Keywords with a schema, with a list of them, and with some by name, whose values are whole values.
const ONE: &[&str] = &["items", "additionalProperties", "schema"];
const SEVERAL: &[&str] = &["anyOf", "allOf"];

/// What the server does not know, and returns because a client of the play sent it.
const OWN: [(&str, &str); 3] = [("Job", "x_own"), ("Checkpoint", "step_index"), ("Checkpoint", "metadata")];

/// The document, closed.
pub(super) fn closed(document: &Value) -> Value {
    let mut closed = document.clone();
    for schema in closed["components"]["schemas"].as_object_mut().unwrap().values_mut() {
        inner(schema);
    }
    for (shape, name) in OWN {
        if let Some(shape) = closed["components"]["schemas"].get_mut(shape) {
            shape["properties"][name] = json!({});
        }
    }
    for responses in responses(&mut closed) {
        for media in responses.values_mut().filter_map(|one| one["content"].as_object_mut()) {
            media.values_mut().for_each(|media| outer(&mut media["schema"]));
        }
    }
    closed
}

fn responses(document: &mut Value) -> Vec<&mut Map<String, Value>> {
    let members = document.as_object_mut().unwrap();
    let mut found = Vec::new();
    for (name, value) in members {
        match name.as_str() {
            "components" => found.extend(value["responses"].as_object_mut()),
            "paths" => {
                let operations = value.as_object_mut().unwrap().values_mut();
                let operations = operations.flat_map(|methods| methods.as_object_mut().unwrap().values_mut());
                found.extend(operations.filter_map(|operation| operation["responses"].as_object_mut()));
            }
            _ => {}
        }
    }
    found
}

/// Closes a schema of a whole value.
fn outer(schema: &mut Value) {
    inner(schema);
    let Some(members) = schema.as_object_mut() else { return };
    let says_something = ["type", "$ref", "anyOf", "allOf"].iter().any(|name| members.contains_key(*name));
    if says_something && !members.contains_key("additionalProperties") {
        members.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

/// Closes the schemas in a schema which others may add members to.
fn inner(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    for (name, value) in members {
        match name.as_str() {
            "properties" => value.as_object_mut().unwrap().values_mut().for_each(outer),
            name if ONE.contains(&name) => outer(value),
            name if SEVERAL.contains(&name) => value.as_array_mut().unwrap().iter_mut().for_each(inner),
            _ => {}
        }
    }
}

#[test]
fn a_member_that_is_not_described_does_not_fit_a_closed_answer() {
    let document = json!({
        "components": {
            "schemas": {
                "One": {"type": "object", "properties": {"a": {}}},
                "Two": {"allOf": [{"$ref": "#/components/schemas/One"}, {"type": "object", "properties": {"b": {"$ref": "#/components/schemas/One"}}}]},
            },
            "responses": {"r": {"content": {"m": {"schema": {"$ref": "#/components/schemas/Two"}}}}},
        },
        "paths": {},
    });
    let closed = closed(&document);
    let schema = &closed["components"]["responses"]["r"]["content"]["m"]["schema"];
    let root = json!({"allOf": [schema], "components": closed["components"]});
    let fits = |value: Value| jsonschema::draft202012::is_valid(&root, &value);
    assert!(fits(json!({"a": {"free": 1}, "b": {"a": 1}})));
    assert!(!fits(json!({"a": 1, "c": 1})), "beside");
    assert!(!fits(json!({"b": {"c": 1}})), "inside");
}
