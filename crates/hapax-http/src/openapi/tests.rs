//! The document against the routes, against the rules of OpenAPI, and against what is said on the wire.

mod closed;
mod contract;

pub(crate) use contract::{Contract, Question};

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::{Value, json};

use super::operations::GROUPS;
use super::{page, parameter};
use crate::ApiKey;
use crate::openapi::Route;
use crate::shared::BodyRule;
use crate::testing::{Rig, Setup};

/// Routes and methods, as texts.
type Listed = BTreeSet<(String, String)>;

fn document(rig: &Rig) -> Value {
    serde_json::from_slice(rig.shared.reference.get().unwrap()).unwrap()
}

fn described(document: &Value) -> Listed {
    let paths = document["paths"].as_object().unwrap();
    let methods = paths.iter().flat_map(|(path, methods)| {
        methods.as_object().unwrap().keys().map(move |method| (method.to_uppercase(), path.clone()))
    });
    methods.collect()
}

fn in_table(routes: &[Route]) -> Listed {
    routes.iter().map(|route| (route.method.to_string(), route.template.to_owned())).collect()
}

/// Compares the document with the table of routes, and says what to write.
pub(crate) fn assert_complete(rig: &Rig, routes: &[Route]) {
    let (described, listed) = (described(&document(rig)), in_table(routes));
    if let Some((method, path)) = listed.difference(&described).next() {
        panic!(
            "{method} {path} has no description: add `{}(\"{path}\", \"…\")` to the file of its group in \
             openapi/operations/, with what it takes, gives and fails with",
            method.to_lowercase()
        );
    }
    let operations = GROUPS.iter().flat_map(|group| (group.operations)());
    let written: Vec<(Method, &str)> = operations.flat_map(|operation| operation.routes).collect();
    let conformance = rig.shared.conformance;
    for (index, (method, path)) in written.iter().enumerate() {
        let is_for_the_suite = !conformance && *path == "/ojs/v1/admin/reset";
        assert!(
            is_for_the_suite || listed.contains(&(method.to_string(), (*path).to_owned())),
            "{method} {path} is described in openapi/operations/, and there is no such route"
        );
        assert!(!written[..index].contains(&(method.clone(), path)), "{method} {path} is described twice");
    }
}

#[test]
fn every_route_is_described_with_and_without_the_one_for_the_suite() {
    for conformance in [true, false] {
        let rig = Rig::with(Setup { conformance, ..Setup::default() });
        let routes = crate::router::listed(&rig.shared);
        assert_complete(&rig, &routes);
        assert_eq!(described(&document(&rig)), in_table(&routes));
    }
}

#[test]
fn a_route_takes_a_body_if_its_description_does() {
    let rig = Rig::new();
    let document = document(&rig);
    for route in crate::router::listed(&rig.shared) {
        let operation = operation(&document, route.method.as_str(), route.template);
        let reads = matches!(route.body, BodyRule::Job | BodyRule::Batch);
        let takes = operation.get("requestBody").is_some();
        assert_eq!(reads, takes, "{} {}: `takes` in its description", route.method, route.template);
        let unknown = parameter::of_path(route.template).err();
        assert_eq!(unknown, None, "{}: say what it is in openapi/parameter.rs", route.template);
    }
}

#[test]
fn the_document_keeps_the_rules_of_openapi() {
    let rig = Rig::new();
    let document = document(&rig);
    assert_eq!(document["openapi"], "3.1.0");
    let mut ids = BTreeSet::new();
    let mut forms = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let form: Vec<&str> =
            path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part }).collect();
        assert!(forms.insert(form.join("/")), "{path} is another path with other names");
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{method} {path}: {id} is taken");
            assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{method} {path}");
            assert!(operation["responses"].as_object().unwrap().len() > 1, "{method} {path} gives nothing");
            let parameters = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
            let of_path: Vec<&Value> = parameters.iter().filter(|one| one["in"] == "path").collect();
            assert_eq!(of_path.len(), path.matches('{').count(), "{method} {path}");
            assert!(of_path.iter().all(|one| one["required"] == true), "{method} {path}");
            let names: BTreeSet<_> =
                parameters.iter().map(|one| (one["in"].to_string(), one["name"].to_string())).collect();
            assert_eq!(names.len(), parameters.len(), "{method} {path} names a parameter twice");
        }
    }
    let mut used = BTreeSet::new();
    references(&document, &mut used);
    for reference in &used {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(used.contains(&format!("#/components/schemas/{name}")), "nobody uses {name}");
        jsonschema::draft202012::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[tokio::test]
async fn the_document_says_which_routes_want_a_key_and_the_page_wants_none() {
    let key = ApiKey { name: "main".into(), digest: [0; 32] };
    let rig = Rig::with(Setup { keys: vec![key], ..Setup::default() });
    let closed = document(&rig);
    assert_eq!(closed["security"], json!([{"key": []}]));
    assert_eq!(operation(&closed, "GET", "/health")["security"], json!([]));
    assert!(operation(&closed, "GET", "/openapi.json").get("security").is_none());
    assert!(document(&Rig::new()).get("security").is_none(), "a server without keys wants none");
    assert_eq!(rig.get("/openapi.json").await.status, 401);
    let page = rig.get("/docs").await;
    assert_eq!((page.status.as_u16(), page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(page.header("content-security-policy"), Some(page::POLICY.to_str().unwrap()));
    assert_eq!(page.text, page::HTML);
}

#[tokio::test]
async fn programs_get_the_document_as_json() {
    let rig = Rig::new();
    let answer = rig.get("/openapi.json").await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, Some("application/json")));
    assert_eq!(answer.json(), document(&rig));
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str().filter(|_| name == "$ref") {
                    Some(reference) => drop(found.insert(reference.to_owned())),
                    None => references(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

fn operation<'d>(document: &'d Value, method: &str, path: &str) -> &'d Value {
    &document["paths"][path][method.to_lowercase()]
}
