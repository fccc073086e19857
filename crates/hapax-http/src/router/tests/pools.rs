//! Pools and fetches from them.

use axum::body::Body;
use axum::http::StatusCode;

use crate::limits::POOLS_MAX;
use crate::testing::{Answer, Rig, request};

async fn put(rig: &Rig, body: &str) -> Answer {
    let request = request("PUT", "/ojs/v1/admin/pools/p", body);
    rig.send(request.body(Body::from(body.to_owned())).unwrap()).await
}

#[tokio::test]
async fn a_fetch_from_a_pool_takes_jobs_of_all_its_queues() {
    let rig = Rig::new();
    put(&rig, r#"{"queues":["a","b"],"strategy":"strict"}"#).await;
    for queue in ["b", "a", "c"] {
        rig.enqueue(&format!(r#"{{"type":"a","args":[],"queue":"{queue}"}}"#)).await;
    }
    let fetched = rig.post("/ojs/v1/workers/fetch", r#"{"pool":"p","count":5}"#).await.json();
    let queues: Vec<_> = fetched["jobs"].as_array().unwrap().iter().map(|job| job["queue"].clone()).collect();
    assert_eq!(queues, ["a", "b"]);
    let stats = rig.get("/ojs/v1/admin/scheduling/stats").await.json();
    assert_eq!(stats["stats"]["pools"][0]["fetches"], 1);
    assert_eq!(stats["stats"]["pools"][0]["queues"][1]["dispatch_count"], 1);
}

#[tokio::test]
async fn there_are_only_so_many_pools_and_all_of_them_can_be_listed() {
    let rig = Rig::new();
    let body = r#"{"queues":["a"]}"#;
    let put = async |name: String| {
        let request = request("PUT", &format!("/ojs/v1/admin/pools/{name}"), body);
        rig.send(request.body(Body::from(body)).unwrap()).await
    };
    for number in 0..POOLS_MAX {
        assert_eq!(put(format!("p{number:04}")).await.status, StatusCode::CREATED);
    }
    let more = put("one-more".into()).await;
    assert_eq!(more.error(), "409 conflict: there are 1000 pools already, which is the most");
    assert_eq!(put("p0000".into()).await.status, StatusCode::OK, "what is there can be made anew");
    let mut names = Vec::new();
    let mut path = "/ojs/v1/admin/pools?limit=400".to_owned();
    for has_more in [true, true, false] {
        let page = rig.get(&path).await.json();
        assert_eq!((&page["total"], &page["pagination"]["has_more"]), (&POOLS_MAX.into(), &has_more.into()));
        let items = page["items"].as_array().unwrap();
        names.extend(items.iter().map(|pool| pool["name"].as_str().unwrap().to_owned()));
        let cursor = page["pagination"]["next_cursor"].as_str().unwrap_or_default();
        path = format!("/ojs/v1/admin/pools?limit=400&cursor={cursor}");
    }
    let expected: Vec<String> = (0..POOLS_MAX).map(|number| format!("p{number:04}")).collect();
    assert_eq!(names, expected);
}

#[tokio::test]
async fn the_order_of_a_weighted_pool_changes_from_fetch_to_fetch() {
    let rig = Rig::new();
    put(&rig, r#"{"queues":["a","b"],"strategy":"weighted","weights":{"a":3}}"#).await;
    let jobs = ["a", "b"].map(|queue| format!(r#"{{"type":"a","args":[],"queue":"{queue}"}}"#));
    for _ in 0..40 {
        rig.post("/ojs/v1/jobs/batch", &format!(r#"{{"jobs":[{},{}]}}"#, jobs[0], jobs[1])).await;
    }
    let mut from_a = 0;
    for _ in 0..40 {
        let fetched = rig.post("/ojs/v1/workers/fetch", r#"{"pool":"p"}"#).await;
        from_a += usize::from(fetched.text_at("/jobs/0/queue") == "a");
    }
    assert!((21..40).contains(&from_a), "{from_a} of 40 with a weight of 3 against 1");
}

#[tokio::test]
async fn pools_and_wishes_of_the_wrong_form_are_refused() {
    let rig = Rig::new();
    for (body, expected) in [
        ("{}", "queues: is required"),
        (r#"{"queues":[]}"#, "queues: must name 1 to 256 queues"),
        (r#"{"queues":["a","a"]}"#, "queues: name a twice"),
        (r#"{"queues":{"a":0}}"#, "queues.a: must be at least 1"),
        (r#"{"queues":["a"],"weights":{"b":1}}"#, "weights.b: is not a queue of the pool"),
        (r#"{"queues":["a"],"strategy":"least-loaded"}"#, "strategy: unknown strategy"),
        (r#"{"queues":["a"],"concurrency":5}"#, "concurrency: unknown member"),
        (r#"{"queues":["a"],"name":"q"}"#, "name: is not the name in the path"),
    ] {
        let answer = put(&rig, body).await;
        let expected = format!("400 invalid_request: {expected}");
        assert!(answer.error().starts_with(&expected), "{body}: {}", answer.error());
    }
    let both = rig.post("/ojs/v1/workers/fetch", r#"{"pool":"p","queues":["a"]}"#).await;
    assert!(both.error().starts_with("400 invalid_request: pool: stands beside queues"), "{}", both.error());
    let unknown = rig.post("/ojs/v1/workers/fetch", r#"{"pool":"p"}"#).await;
    assert_eq!(unknown.error(), "404 not_found: there is no pool \"p\"");
}
