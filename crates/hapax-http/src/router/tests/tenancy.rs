//! Every route, asked by the tenant to whom things belong, by another, and by nobody.

use std::collections::BTreeSet;

use axum::body::Body;

use super::table;
use crate::Entrance;
use crate::openapi::Route;
use crate::tenancy::Tenancy;
use crate::testing::{Answer, Rig, Setup, request};

/// What stands in everything that belongs to somebody, and nowhere else.
const SECRET: &str = "for-acme-only";

/// A request: its method, its route, the variable part of its path, its body.
type Case = (&'static str, &'static str, String, String);

/// A server with one of everything that can belong to a tenant, all of it acme's.
struct World {
    rig: Rig,
    waiting: String,
    active: String,
    done: String,
    dead: String,
    pending: String,
    agent: String,
    branch: String,
    paused: String,
    workflow: String,
    key: String,
}

impl World {
    async fn new(require_tenant: bool) -> World {
        let entrance = Entrance { require_tenant, ..Entrance::default() };
        let rig = Rig::with(Setup { entrance, ..Setup::default() });
        let job = |queue: &str, more: &str| {
            format!(r#"{{"type":"a","args":["{SECRET}"],"queue":"{queue}"{more}}}"#)
        };
        let enqueue = async |queue: &str, more: &str| {
            done(&rig, "POST", "/ojs/v1/jobs", &job(queue, more)).await.text_at("/job/id")
        };
        let take = async |queue: &str| {
            let wish = format!(r#"{{"queues":["{queue}"],"worker_id":"w"}}"#);
            done(&rig, "POST", "/ojs/v1/workers/fetch", &wish).await;
        };
        let unique = r#","unique":{"keys":["type","args"]}"#;
        let waiting = enqueue("waiting", unique).await;
        let explained = done(&rig, "POST", "/ojs/v1/unique/explain", &job("waiting", unique)).await;
        enqueue("named", r#","job_key":"k""#).await;
        let active = enqueue("active", "").await;
        take("active").await;
        let saved = format!(r#"{{"state":{{"at":"{SECRET}"}}}}"#);
        done(&rig, "PUT", &format!("/ojs/v1/jobs/{active}/checkpoint"), &saved).await;
        let ended = enqueue("done", "").await;
        take("done").await;
        done(&rig, "POST", &format!("/ojs/v1/jobs/{ended}/ack"), &format!(r#"{{"result":"{SECRET}"}}"#))
            .await;
        let dead = enqueue("dead", r#","retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}"#).await;
        take("dead").await;
        done(&rig, "POST", &format!("/ojs/v1/jobs/{dead}/nack"), r#"{"error":"no"}"#).await;
        let pending = enqueue("pending", r#","pending":true"#).await;
        let agent = enqueue("agents", r#","ext_agent_v2":{}"#).await;
        let fork = format!("/ojs/v1/agents/{agent}/fork");
        let branch = done(&rig, "POST", &fork, r#"{"at_turn":1}"#).await.text_at("/branch_id");
        let paused = enqueue("agents", r#","ext_agent_v2":{}"#).await;
        done(&rig, "POST", &format!("/ojs/v1/agents/{paused}/pause"), "{}").await;
        let chain = format!(r#"{{"type":"chain","name":"{SECRET}","steps":[{}]}}"#, job("steps", ""));
        let workflow = done(&rig, "POST", "/ojs/v1/workflows", &chain).await.text_at("/workflow/id");
        done(&rig, "POST", "/ojs/v1/cron", &recurring(SECRET)).await;
        let key = explained.text_at("/key");
        World { waiting, active, done: ended, dead, pending, agent, branch, paused, workflow, key, rig }
    }

    /// A request of a tenant, or of nobody.
    async fn send(&self, tenant: Option<&str>, case: &Case) -> Answer {
        let (method, template, part, body) = case;
        let path = ["{id}", "{name}", "{key}"]
            .iter()
            .fold((*template).to_owned(), |path, variable| path.replace(variable, part));
        send(&self.rig, tenant, method, &path, body).await
    }

    /// Everything that is acme's, as acme sees it.
    async fn sight(&self) -> String {
        let World { waiting, active, done, dead, pending, agent, branch, paused, workflow, key, rig } = self;
        let mut seen = String::new();
        for id in [waiting, active, done, dead, pending, agent, branch, paused] {
            for path in ["", "/checkpoint", "/progress"] {
                seen += &send(rig, Some("acme"), "GET", &format!("/ojs/v1/jobs/{id}{path}"), "").await.text;
            }
        }
        for path in [format!("workflows/{workflow}"), "cron/nightly".into(), format!("unique/keys/{key}")] {
            seen += &send(rig, Some("acme"), "GET", &format!("/ojs/v1/{path}"), "").await.text;
        }
        seen + &rig.get("/ojs/v1/queues/named/stats").await.text
    }

    /// A part for every route that is not for all.
    fn cases(&self) -> Vec<Case> {
        let mut cases = self.deeds_on_many();
        cases.extend(self.jobs());
        cases.extend(self.workers());
        cases.extend(self.operators());
        cases.extend(self.plans());
        cases
    }

    fn deeds_on_many(&self) -> Vec<Case> {
        let named = |id: &str| format!(r#"{{"job_ids":["{id}"]}}"#);
        let letters = r#"{"confirm":true}"#.to_owned();
        let filter = |queue| format!(r#"{{"filter":{{"queue":"{queue}"}},"confirm":true}}"#);
        let completed = r#"{"states":["completed"],"confirm":true}"#.to_owned();
        let none = String::new;
        vec![
            ("POST", "/ojs/v1/jobs/bulk/cancel", none(), named(&self.waiting)),
            ("POST", "/ojs/v1/jobs/bulk/cancel", none(), r#"{"filter":{"queue":"waiting"}}"#.into()),
            ("POST", "/ojs/v1/jobs/bulk/retry", none(), named(&self.dead)),
            ("POST", "/ojs/v1/jobs/bulk/delete", none(), named(&self.done)),
            ("POST", "/ojs/v1/jobs/results", none(), format!(r#"{{"ids":["{}"]}}"#, self.done)),
            ("DELETE", "/ojs/v1/dead-letter", none(), letters.clone()),
            ("POST", "/ojs/v1/dead-letter/retry", none(), letters.clone()),
            ("DELETE", "/ojs/v1/admin/dead-letter", none(), letters.clone()),
            ("POST", "/ojs/v1/admin/dead-letter/retry", none(), letters),
            ("POST", "/ojs/v1/admin/jobs/bulk/cancel", none(), filter("waiting")),
            ("POST", "/ojs/v1/admin/jobs/bulk/retry", none(), filter("dead")),
            ("POST", "/ojs/v1/admin/jobs/bulk/delete", none(), filter("done")),
            ("DELETE", "/ojs/v1/admin/queues/{name}/jobs", "done".into(), completed),
        ]
    }

    fn jobs(&self) -> Vec<Case> {
        let World { waiting, active, done, pending, agent, branch, paused, .. } = self;
        let merge = format!(r#"{{"branch_a":"{agent}","branch_b":"{branch}","strategy":"ours"}}"#);
        let rows = [
            ("GET", "/ojs/v1/jobs/{id}", waiting, ""),
            ("DELETE", "/ojs/v1/jobs/{id}", waiting, ""),
            ("PATCH", "/ojs/v1/jobs/{id}", waiting, r#"{"priority":7}"#),
            ("POST", "/ojs/v1/jobs/{id}/cancel", waiting, ""),
            ("POST", "/ojs/v1/jobs/{id}/activate", pending, ""),
            ("POST", "/ojs/v1/jobs/{id}/ack", active, ""),
            ("POST", "/ojs/v1/jobs/{id}/nack", active, r#"{"error":"no"}"#),
            ("GET", "/ojs/v1/jobs/{id}/result", done, ""),
            ("GET", "/ojs/v1/jobs/{id}/events", waiting, ""),
            ("GET", "/ojs/v1/jobs/{id}/progress/stream", waiting, ""),
            ("GET", "/ojs/v1/jobs/{id}/result/stream", done, ""),
            ("GET", "/ojs/v1/jobs/{id}/history", done, ""),
            ("GET", "/ojs/v1/jobs/{id}/lineage", waiting, ""),
            ("PUT", "/ojs/v1/jobs/{id}/progress", active, r#"{"progress":0.5}"#),
            ("GET", "/ojs/v1/jobs/{id}/progress", active, ""),
            ("PUT", "/ojs/v1/jobs/{id}/checkpoint", active, r#"{"state":{}}"#),
            ("POST", "/ojs/v1/jobs/{id}/checkpoint", active, r#"{"state":{}}"#),
            ("GET", "/ojs/v1/jobs/{id}/checkpoint", active, ""),
            ("DELETE", "/ojs/v1/jobs/{id}/checkpoint", active, ""),
            ("POST", "/ojs/v1/checkpoints/{id}", active, r#"{"state":{}}"#),
            ("DELETE", "/ojs/v1/checkpoints/{id}", active, ""),
            ("GET", "/ojs/v1/checkpoints/{id}/resume", active, ""),
            ("POST", "/ojs/v1/ojs/v1/checkpoints/{id}", active, r#"{"state":{}}"#),
            ("DELETE", "/ojs/v1/ojs/v1/checkpoints/{id}", active, ""),
            ("GET", "/ojs/v1/ojs/v1/checkpoints/{id}/resume", active, ""),
            ("POST", "/ojs/v1/agents/{id}/pause", agent, ""),
            ("POST", "/ojs/v1/agents/{id}/resume", paused, r#"{"approved":true}"#),
            ("POST", "/ojs/v1/agents/{id}/fork", agent, r#"{"at_turn":1}"#),
            ("POST", "/ojs/v1/agents/{id}/merge", agent, &merge),
            ("POST", "/ojs/v1/agents/{id}/tool-retry", agent, r#"{"tool_call_id":"t"}"#),
        ];
        rows.into_iter().map(|(method, route, id, body)| (method, route, id.clone(), body.into())).collect()
    }

    fn workers(&self) -> Vec<Case> {
        let active = &self.active;
        let wish = r#"{"queues":["waiting"]}"#.to_owned();
        let of = |more: &str| format!(r#"{{"job_id":"{active}"{more}}}"#);
        let beat = format!(r#"{{"worker_id":"w","active_jobs":["{active}"]}}"#);
        let rows = [
            ("POST", "/ojs/v1/workers/fetch", "", wish.clone()),
            ("POST", "/ojs/v1/jobs/fetch", "", wish),
            ("POST", "/ojs/v1/workers/ack", "", of("")),
            ("POST", "/ojs/v1/workers/nack", "", of(r#","error":"no""#)),
            ("POST", "/ojs/v1/workers/heartbeat", "", beat.clone()),
            ("POST", "/ojs/v1/workers/beat", "", beat),
            ("POST", "/ojs/v1/workers/progress", "", of(r#","progress":0.5"#)),
            ("DELETE", "/ojs/v1/job-keys/{key}", "k", String::new()),
            ("GET", "/ojs/v1/unique/keys/{key}", &self.key, String::new()),
            ("POST", "/ojs/v1/unique/keys/{key}/release", &self.key, String::new()),
        ];
        rows.into_iter().map(|(method, route, part, body)| (method, route, part.to_owned(), body)).collect()
    }

    fn operators(&self) -> Vec<Case> {
        let World { waiting, done, dead, .. } = self;
        let rows = [
            ("GET", "/ojs/v1/admin/jobs/{id}", waiting),
            ("PATCH", "/ojs/v1/admin/jobs/{id}", waiting),
            ("DELETE", "/ojs/v1/admin/jobs/{id}", done),
            ("POST", "/ojs/v1/admin/jobs/{id}/cancel", waiting),
            ("POST", "/ojs/v1/admin/jobs/{id}/retry", dead),
            ("GET", "/ojs/v1/dead-letter/{id}", dead),
            ("POST", "/ojs/v1/dead-letter/{id}/retry", dead),
            ("DELETE", "/ojs/v1/dead-letter/{id}", dead),
            ("GET", "/ojs/v1/admin/dead-letter/{id}", dead),
            ("POST", "/ojs/v1/admin/dead-letter/{id}/retry", dead),
            ("DELETE", "/ojs/v1/admin/dead-letter/{id}", dead),
        ];
        let body = |method| if method == "PATCH" { r#"{"priority":7}"# } else { "" };
        rows.into_iter().map(|(method, route, id)| (method, route, id.clone(), body(method).into())).collect()
    }

    fn plans(&self) -> Vec<Case> {
        let job = r#"{"type":"a","args":[]}"#;
        let rows = [
            ("POST", "/ojs/v1/jobs", "", job.to_owned()),
            ("POST", "/ojs/v1/jobs/batch", "", format!(r#"{{"jobs":[{job}]}}"#)),
            ("POST", "/ojs/v1/jobs/bulk", "", format!(r#"{{"jobs":[{job}]}}"#)),
            ("POST", "/ojs/v1/unique/explain", "", r#"{"type":"a","args":[],"unique":{}}"#.to_owned()),
            ("POST", "/ojs/v1/workflows", "", format!(r#"{{"type":"chain","steps":[{job}]}}"#)),
            ("GET", "/ojs/v1/workflows/{id}", &self.workflow, String::new()),
            ("DELETE", "/ojs/v1/workflows/{id}", &self.workflow, String::new()),
            ("GET", "/ojs/v1/workflows/{id}/progress", &self.workflow, String::new()),
            ("POST", "/ojs/v1/workflows/{id}/cancel", &self.workflow, String::new()),
            ("GET", "/ojs/v1/crons/{id}", "nightly", String::new()),
            ("PATCH", "/ojs/v1/crons/{id}", "nightly", r#"{"enabled":false}"#.to_owned()),
            ("DELETE", "/ojs/v1/crons/{id}", "nightly", String::new()),
            ("POST", "/ojs/v1/cron", "", recurring("another")),
            ("GET", "/ojs/v1/cron/{name}", "nightly", String::new()),
            ("PATCH", "/ojs/v1/cron/{name}", "nightly", r#"{"enabled":false}"#.to_owned()),
            ("DELETE", "/ojs/v1/cron/{name}", "nightly", String::new()),
            ("POST", "/ojs/v1/cron/{name}/run", "nightly", String::new()),
        ];
        rows.into_iter().map(|(method, route, part, body)| (method, route, part.to_owned(), body)).collect()
    }
}

fn recurring(argument: &str) -> String {
    format!(r#"{{"name":"nightly","expression":"0 3 * * *","type":"a","args":["{argument}"]}}"#)
}

async fn send(rig: &Rig, tenant: Option<&str>, method: &str, path: &str, body: &str) -> Answer {
    let mut request = request(method, path, body);
    if let Some(tenant) = tenant {
        request = request.header("x-ojs-tenant", tenant);
    }
    rig.send(request.body(Body::from(body.to_owned())).unwrap()).await
}

/// What acme does to begin with.
async fn done(rig: &Rig, method: &str, path: &str, body: &str) -> Answer {
    let answer = send(rig, Some("acme"), method, path, body).await;
    assert!(answer.status.is_success(), "{method} {path} {body}: {}", answer.text);
    answer
}

/// The rule of a route.
fn rule(routes: &[Route], case: &Case) -> Tenancy {
    let is_meant = |route: &&Route| route.method.as_str() == case.0 && route.template == case.1;
    routes.iter().find(is_meant).unwrap_or_else(|| panic!("{case:?} is of no route")).tenancy
}

#[tokio::test]
async fn another_tenant_sees_nothing_and_changes_nothing_on_any_route() {
    let count = World::new(false).await.cases().len();
    for number in 0..count {
        let world = World::new(false).await;
        let case = &world.cases()[number];
        let rule = rule(&table::routes(&world.rig.shared).listed, case);
        let before = world.sight().await;
        assert!(before.matches(SECRET).count() > 7, "{before}");
        let other = world.send(Some("other"), case).await;
        assert!(!other.text.contains(SECRET), "{case:?} tells it: {}", other.text);
        assert_eq!(world.sight().await, before, "{case:?} changes it");
        if matches!(rule, Tenancy::OwnJob | Tenancy::OwnWorkflow | Tenancy::OwnCron) {
            assert_eq!(other.status.as_u16(), 404, "{case:?}: {}", other.text);
        }
        let own = world.send(Some("acme"), case).await;
        assert!(own.status.is_success(), "{case:?}: {} {}", own.status, own.text);
        assert_ne!(own.text, other.text, "{case:?} is the same for both, so that the case says nothing");
    }
}

#[tokio::test]
async fn where_a_tenant_is_required_every_route_about_jobs_asks_for_it() {
    let world = World::new(true).await;
    let (before, routes) = (world.sight().await, table::routes(&world.rig.shared).listed);
    for case in world.cases() {
        let rule = rule(&routes, &case);
        if rule == Tenancy::OwnIfSaid {
            continue;
        }
        let nobody = world.send(None, &case).await;
        assert!(nobody.text.contains("X-OJS-Tenant"), "{case:?}: {}", nobody.text);
        if rule != Tenancy::OwnDrafts {
            assert!(nobody.error().starts_with("400 invalid_request: X-OJS-Tenant: is required"), "{case:?}");
        }
    }
    assert_eq!(world.sight().await, before);
}

#[tokio::test]
async fn where_a_tenant_is_required_operators_still_need_none() {
    let rig = World::new(true).await.rig;
    for Route { method, template, tenancy, .. } in table::routes(&rig.shared).listed {
        if !matches!(tenancy, Tenancy::All | Tenancy::OwnIfSaid) {
            continue;
        }
        let path = template.replace("{id}", "x").replace("{name}", "x").replace("{key}", "x");
        let answer = send(&rig, None, method.as_str(), &path, "").await;
        assert!(!answer.text.contains("X-OJS-Tenant: is required"), "{method} {template}: {}", answer.text);
    }
}

#[tokio::test]
async fn every_route_that_is_not_for_all_has_a_case() {
    let world = World::new(false).await;
    let cases: BTreeSet<_> = world.cases().iter().map(|case| (case.0.to_owned(), case.1)).collect();
    let routes = table::routes(&world.rig.shared).listed;
    let kept: BTreeSet<_> = routes
        .iter()
        .filter(|route| route.tenancy != Tenancy::All)
        .map(|route| (route.method.to_string(), route.template))
        .collect();
    assert_eq!(cases, kept, "a route without a case, or a case without a route");
}

/// Whoever adds a route says for whom it is, and this is where a wrong word is noticed.
#[test]
fn no_route_that_names_something_of_a_tenant_is_for_all() {
    let rig = Rig::new();
    let owned =
        ["jobs", "checkpoints", "dead-letter", "agents", "workflows", "cron", "crons", "job-keys", "keys"];
    for Route { method, template, tenancy, .. } in table::routes(&rig.shared).listed {
        let parts: Vec<&str> = template.split('/').collect();
        let names_one = parts.windows(2).any(|pair| owned.contains(&pair[0]) && pair[1].starts_with('{'));
        assert!(!names_one || tenancy != Tenancy::All, "{method} {template} names something of a tenant");
    }
}
