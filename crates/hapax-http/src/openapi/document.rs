//! The document itself.

use std::collections::BTreeMap;

use axum::http::Method;
use hapax_wire::error::Code;
use hapax_wire::writer::{self, Object};

use super::Route;
use super::operation::{Answer, Body, Content, Operation};
use super::operations::GROUPS;
use super::parameter::{self, Parameter, Place};
use super::shape::{either, named};
use super::shapes;
use crate::shared::{Access, BodyRule, Shared};
use crate::tenancy::Tenancy;

/// The media type of every JSON answer.
const ANSWER: &str = "application/openjobspec+json";
/// The media types of bodies.
const BODIES: [&str; 2] = ["application/json", ANSWER];

const ABOUT: &str = "A background-job server that speaks Open Job Spec over HTTP.\n\n\
    Every answer carries `OJS-Version: 1.0` and `X-Request-Id`. In requests, `null` is the same as nothing unless said \
    otherwise. Answers may have members that are not described here; let them be.";

/// A route together with what it does.
struct Described<'d> {
    group: &'static str,
    route: &'d Route,
    operation: &'d Operation,
}

/// Describes the routes. One that nobody has described is left out, and the tests fail.
pub(crate) fn document(routes: &[Route], shared: &Shared) -> Vec<u8> {
    let operations: Vec<(&'static str, Operation)> = GROUPS
        .iter()
        .flat_map(|group| (group.operations)().into_iter().map(|operation| (group.name, operation)))
        .collect();
    let described: Vec<Described<'_>> = operations
        .iter()
        .flat_map(|(group, operation)| {
            let listed = operation.routes.iter().filter_map(|(method, path)| {
                routes.iter().find(|route| route.method == *method && route.template == *path)
            });
            listed.map(move |route| Described { group, route, operation })
        })
        .collect();
    let mut out = Vec::with_capacity(256 * 1024);
    writer::object(&mut out, |o| {
        o.text("openapi", "3.1.0");
        o.object("info", |o| info(o, shared));
        o.array("servers", ["/"], |url, out| writer::object(out, |o| o.text("url", url)));
        if shared.auth.wants_keys() {
            o.raw("security", r#"[{"key":[]}]"#);
        }
        o.array("tags", GROUPS, |group, out| {
            writer::object(out, |o| {
                o.text("name", group.name);
                o.text("description", group.about);
            });
        });
        o.object("paths", |o| paths(o, &described, shared));
        o.object("components", |o| components(o, &described));
    });
    out
}

fn info(o: &mut Object<'_>, shared: &Shared) {
    o.text("title", "Hapax");
    o.text("version", shared.version);
    o.text("description", ABOUT);
    o.object("license", |o| {
        o.text("name", "MIT or Apache-2.0");
        o.text("identifier", "MIT OR Apache-2.0");
    });
}

fn paths(o: &mut Object<'_>, described: &[Described<'_>], shared: &Shared) {
    let mut seen: Vec<&str> = Vec::new();
    for template in described.iter().map(|one| one.route.template) {
        if seen.contains(&template) {
            continue;
        }
        seen.push(template);
        o.object(template, |o| {
            for one in described.iter().filter(|one| one.route.template == template) {
                let method = one.route.method.as_str().to_ascii_lowercase();
                o.object(&method, |o| one.write(o, shared));
            }
        });
    }
}

fn components(o: &mut Object<'_>, described: &[Described<'_>]) {
    let failures: BTreeMap<String, Vec<Code>> = described
        .iter()
        .flat_map(|one| one.failures().into_values())
        .map(|codes| (failure_name(&codes), codes))
        .collect();
    o.object("securitySchemes", |o| {
        o.object("key", |o| {
            o.text("type", "http");
            o.text("scheme", "bearer");
            o.text("description", "An API key of the server, if it has any.");
        });
    });
    o.object("responses", |o| {
        for (name, codes) in &failures {
            o.object(name, |o| {
                let meanings: Vec<String> =
                    codes.iter().map(|code| format!("`{}`: {}", code.name(), code.meaning())).collect();
                o.text("description", &meanings.join("\n\n"));
                content(o, ANSWER, named("Error").as_str());
            });
        }
        o.object("other", |o| {
            o.text("description", "Any other error.");
            content(o, ANSWER, named("Error").as_str());
        });
    });
    o.object("schemas", |o| {
        for (name, shape) in shapes::all() {
            o.raw(name, shape.as_str());
        }
    });
}

impl Described<'_> {
    fn write(&self, o: &mut Object<'_>, shared: &Shared) {
        let Operation { routes, summary, details, parameters, body, answers, errors: _ } = self.operation;
        o.array("tags", [self.group], |group, out| writer::text(out, group));
        o.text("operationId", &operation_id(&self.route.method, self.route.template));
        o.text("summary", summary);
        let is_first = routes
            .first()
            .is_some_and(|(method, path)| *method == self.route.method && *path == self.route.template);
        let first = routes.first().filter(|_| !is_first);
        let same = first.map(|(method, path)| format!("The same as `{method} {path}`."));
        let details: Vec<&str> = [details.as_deref(), same.as_deref()].into_iter().flatten().collect();
        if !details.is_empty() {
            o.text("description", &details.join("\n\n"));
        }
        if self.route.access == Access::Open {
            o.raw("security", "[]");
        }
        let of_path = parameter::of_path(self.route.template).unwrap_or_default();
        let tenant = (self.route.tenancy != Tenancy::All).then(parameter::tenant);
        if !of_path.is_empty() || !parameters.is_empty() || tenant.is_some() {
            o.array("parameters", of_path.iter().chain(parameters).chain(&tenant), write_parameter);
        }
        if let Some(body) = body {
            o.object("requestBody", |o| write_body(o, body, self.route.body, shared));
        }
        o.object("responses", |o| self.responses(o, answers));
    }

    fn responses(&self, o: &mut Object<'_>, answers: &[Answer]) {
        let mut failures = self.failures();
        for answer in answers {
            let codes = failures.remove(&answer.status);
            o.object(&answer.status.to_string(), |o| write_answer(o, answer, codes.is_some()));
        }
        for (status, codes) in &failures {
            o.object(&status.to_string(), |o| {
                o.text("$ref", &format!("#/components/responses/{}", failure_name(codes)));
            });
        }
        o.object("default", |o| o.text("$ref", "#/components/responses/other"));
    }

    /// The errors of the route by their status.
    fn failures(&self) -> BTreeMap<u16, Vec<Code>> {
        let Operation { body, errors, .. } = self.operation;
        let mut codes = errors.clone();
        if self.route.access == Access::Keyed {
            codes.push(Code::Unauthenticated);
        }
        if body.is_some() {
            codes.extend([Code::InvalidPayload, Code::InvalidRequest, Code::PayloadTooLarge]);
        }
        // What stands in a query is read or refused wherever jobs and what belongs to them are.
        if self.route.access == Access::Keyed && self.route.template.starts_with("/ojs/v1/") {
            codes.push(Code::InvalidRequest);
        }
        let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
        for code in Code::ALL.into_iter().filter(|code| codes.contains(code)) {
            by_status.entry(code.status()).or_default().push(code);
        }
        by_status
    }
}

fn failure_name(codes: &[Code]) -> String {
    let names: Vec<&str> = codes.iter().map(|code| code.name()).collect();
    names.join(".")
}

fn write_parameter(parameter: &Parameter, out: &mut Vec<u8>) {
    let Parameter { name, place, about, shape: _ } = parameter;
    writer::object(out, |o| {
        o.text("name", name);
        o.text("in", place.name());
        if *place == Place::Path {
            o.flag("required", true);
        }
        o.text("description", about);
        if *place == Place::QueryList {
            o.text("style", "form");
            o.flag("explode", false);
        }
        o.raw("schema", parameter::shape_of(parameter).as_str());
    });
}

fn write_body(o: &mut Object<'_>, body: &Body, rule: BodyRule, shared: &Shared) {
    let bytes = match rule {
        BodyRule::Batch => shared.limits.request_bytes,
        BodyRule::Job | BodyRule::Unused | BodyRule::Lasting => shared.limits.job_bytes,
    };
    o.text("description", &format!("At most {bytes} bytes."));
    o.flag("required", body.is_required);
    o.object("content", |o| {
        for media in BODIES {
            o.object(media, |o| o.raw("schema", body.shape.as_str()));
        }
    });
}

fn write_answer(o: &mut Object<'_>, answer: &Answer, may_be_error: bool) {
    o.text("description", answer.about);
    match &answer.content {
        Content::Json(shape) if may_be_error => {
            content(o, ANSWER, either([shape.clone(), named("Error")]).as_str());
        }
        Content::Json(shape) => content(o, ANSWER, shape.as_str()),
        Content::Other(media, shape) => content(o, media, shape.as_str()),
        Content::Nothing => {}
    }
}

fn content(o: &mut Object<'_>, media: &str, schema: &str) {
    o.object("content", |o| o.object(media, |o| o.raw("schema", schema)));
}

/// A name for generated code: `getJobsByIdResult`.
fn operation_id(method: &Method, template: &str) -> String {
    let path = template.strip_prefix("/ojs/v1").map_or(template, |rest| match rest {
        // Probes ask for it at the root as well.
        "/health" => template,
        rest => rest,
    });
    let mut id = method.as_str().to_ascii_lowercase();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        if segment.starts_with('{') {
            id.push_str("By");
        }
        for word in segment.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
            let (first, rest) = word.split_at(1);
            id.push_str(&first.to_ascii_uppercase());
            id.push_str(rest);
        }
    }
    if template.ends_with('/') { id + "Root" } else { id }
}
