//! The document, as something that exchanges are held to.

use serde_json::{Value, json};

use super::closed::closed;
use super::{document, operation};
use crate::testing::{Answer, Rig};

/// Most faults of one exchange that are told.
const FAULTS_SHOWN_MAX: usize = 5;

/// What clients and server are held to.
pub(crate) struct Contract {
    document: Value,
    /// The same with answers in which nothing may stand that it does not know.
    closed: Value,
}

/// What was said, apart from the answer.
pub(crate) struct Question {
    method: String,
    template: String,
    query: String,
    body: String,
}

impl Question {
    /// The template may have a query behind it.
    pub(crate) fn new(method: &str, template: &str, body: &str) -> Question {
        let (template, query) = template.split_once('?').unwrap_or((template, ""));
        Question { method: method.into(), template: template.into(), query: query.into(), body: body.into() }
    }
}

impl Contract {
    pub(crate) fn of(rig: &Rig) -> Contract {
        let document = document(rig);
        let closed = closed(&document);
        Contract { document, closed }
    }

    /// Every exchange is as the document says.
    pub(crate) fn assert_kept(&self, said: &[(Question, Answer)]) {
        let mut told = Vec::new();
        for (question, answer) in said {
            let Question { method, template, query, body } = question;
            let faults = self.faults(question, answer);
            if !faults.is_empty() {
                let exchange = format!("{method} {template} {query} {body}\n{}", answer.shown());
                told.push(format!("{exchange}\n{}", faults.join("\n")));
            }
        }
        assert!(
            told.is_empty(),
            "the document does not say what is said; see openapi/:\n\n{}",
            told.join("\n\n")
        );
    }

    /// What is wrong with an exchange: a request that was taken and has not the shape of requests, an answer that is none
    /// of the route, a member that the document does not know.
    fn faults(&self, question: &Question, answer: &Answer) -> Vec<String> {
        let operation = operation(&self.document, &question.method, &question.template);
        if operation.is_null() {
            return vec!["the route has no description: see openapi/operations.rs".to_owned()];
        }
        let mut faults = self.of_request(operation, question, answer);
        faults.extend(self.of_answer(question, answer));
        faults
    }

    fn of_request(&self, operation: &Value, question: &Question, answer: &Answer) -> Vec<String> {
        let parameters = operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        let names = question.query.split('&').filter_map(|pair| Some(pair.split_once('=')?.0));
        let unknown = names.filter(|name| !parameters.iter().any(|one| one["name"] == *name));
        let mut faults: Vec<String> =
            unknown.map(|name| format!("the document does not know the parameter {name}")).collect();
        let schema = operation.pointer("/requestBody/content/application~1json/schema");
        if let Some(schema) = schema.filter(|_| answer.status.is_success() && !question.body.is_empty()) {
            let found = misfits(&self.document, schema, &question.body);
            faults.extend(found.map(|fault| format!("the request does not fit: {fault}")));
        }
        faults
    }

    fn of_answer(&self, question: &Question, answer: &Answer) -> Vec<String> {
        let responses = &operation(&self.closed, &question.method, &question.template)["responses"];
        let response = &responses[answer.status.as_str()];
        if response.is_null() {
            return vec!["the document does not know this status: add it with `gives` or `fails`".to_owned()];
        }
        let response = match response["$ref"].as_str() {
            Some(reference) => self.closed.pointer(&reference[1..]).unwrap(),
            None => response,
        };
        let Some(content) = response["content"].as_object() else {
            let silent = answer.text.is_empty();
            return if silent { Vec::new() } else { vec!["the document promises no body".to_owned()] };
        };
        let sent = answer.header("content-type").unwrap().split(';').next().unwrap();
        let Some(media) = content.get(sent) else {
            return vec![format!("the document does not know {sent}")];
        };
        if !sent.ends_with("json") {
            return Vec::new();
        }
        let found = misfits(&self.closed, &media["schema"], &answer.text);
        let faults = found.map(|fault| format!("the answer does not fit: {fault}"));
        faults.chain(unknown_code(response, answer)).collect()
    }
}

/// An error is one that the route is described with.
fn unknown_code(response: &Value, answer: &Answer) -> Option<String> {
    let answered = answer.json();
    let code = answered.pointer("/error/code").filter(|_| answer.status.as_u16() >= 400)?.as_str()?;
    // Only descriptions of errors begin with a code.
    let description = response["description"].as_str()?.strip_prefix('`').map(|rest| format!("`{rest}"))?;
    let is_known = description.contains(&format!("`{code}`"));
    (!is_known).then(|| format!("the document does not know the error {code} here: add it with `fails`"))
}

fn misfits(document: &Value, schema: &Value, text: &str) -> impl Iterator<Item = String> {
    let value: Value = serde_json::from_str(text).unwrap();
    let root = json!({"allOf": [schema], "components": document["components"]});
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
    let validator = options.should_validate_formats(true).offline().build(&root).unwrap();
    let found = validator.iter_errors(&value).take(FAULTS_SHOWN_MAX);
    let told: Vec<String> =
        found.map(|error| format!("{} at {:?}", error.masked(), error.instance_path().as_str())).collect();
    told.into_iter()
}

#[tokio::test]
async fn what_nobody_described_is_found() {
    let rig = Rig::new();
    let contract = Contract::of(&rig);
    let asked =
        |query: &str, body: &str| Question::new("POST", &format!("/ojs/v1/workers/fetch?{query}"), body);
    let answer = rig.post("/ojs/v1/workers/fetch", r#"{"queues":["q"]}"#).await;
    let faults = |question: &Question, answer: &Answer| contract.faults(question, answer).join("\n");
    assert_eq!(faults(&asked("", r#"{"queues":["q"]}"#), &answer), "");
    assert!(faults(&asked("a=b", "{}"), &answer).contains("the parameter a"));
    assert!(faults(&asked("", r#"{"queues":"q"}"#), &answer).contains("the request does not fit"));
    let changed = |status: u16, text: &str| Answer {
        status: status.try_into().unwrap(),
        text: text.to_owned(),
        ..answer.clone()
    };
    let quiet = asked("", "");
    assert!(faults(&quiet, &changed(200, r#"{"jobs":[],"colour":1}"#)).contains("the answer does not fit"));
    assert!(faults(&quiet, &changed(200, r#"{"jobs":[{}]}"#)).contains("the answer does not fit"));
    assert!(faults(&quiet, &changed(418, "{}")).contains("this status"));
    let error = rig.get("/ojs/v1/jobs/x").await;
    assert_eq!(faults(&quiet, &error), "");
    let other = changed(404, &error.text.replace("not_found", "lease_lost"));
    assert!(faults(&quiet, &other).contains("the error lease_lost"));
}
