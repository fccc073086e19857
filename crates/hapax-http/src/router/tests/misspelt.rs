//! Members whose names are nearly right: where one would be passed over it is refused, where it is kept it is told.

use crate::testing::{Answer, Rig};

/// Fails unless the body is refused at that place, with that name as the one that was meant.
async fn expect_guess(rig: &Rig, path: &str, body: &str, place: &str, meant: &str) {
    let answer = rig.post(path, body).await;
    assert!(answer.status.is_client_error(), "{body}: {}", answer.text);
    assert_eq!(answer.text_at("/error/details/field"), place, "{body}: {}", answer.text);
    let guess = format!("did you mean \"{meant}\"?");
    assert!(answer.text_at("/error/message").contains(&guess), "{body}: {}", answer.text);
}

fn job(members: &str) -> String {
    format!(r#"{{"type":"a","args":[],{members}}}"#)
}

fn warnings(answer: &Answer) -> Vec<String> {
    assert!(answer.status.is_success(), "{}", answer.text);
    let told = answer.json().get("warnings").cloned().unwrap_or_default();
    told.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_retry_policy_takes_no_other_members() {
    let rig = Rig::new();
    for (members, place, meant) in [
        (r#""retry":{"max_attempt":2}"#, "retry.max_attempt", "max_attempts"),
        (r#""retry":{"maxAttempt":2}"#, "retry.maxAttempt", "max_attempts"),
        (r#""options":{"retry":{"on_exhuastion":"x"}}"#, "options.retry.on_exhuastion", "on_exhaustion"),
        (r#""retry_policy":{"jiter":true}"#, "retry_policy.jiter", "jitter"),
    ] {
        expect_guess(&rig, "/ojs/v1/jobs", &job(members), place, meant).await;
    }
    let others = rig.post("/ojs/v1/jobs", &job(r#""retry":{"max_retries":9,"delay":5}"#)).await;
    let said = (others.status.as_u16(), others.text_at("/error/details/field"));
    assert_eq!(said, (422, "retry.max_retries".to_owned()), "{}", others.text);
    assert!(others.text_at("/error/message").contains("known are max_attempts, "), "{}", others.text);
}

#[tokio::test]
async fn a_retry_policy_in_the_words_of_others_is_understood() {
    let rig = Rig::new();
    for (policy, shape, first) in [
        (r#"{"max_attempts":3,"strategy":"constant","initial_delay_ms":100}"#, "constant", "PT0.1S"),
        (r#"{"max_attempts":3,"backoff":"linear","base_delay_ms":2000}"#, "linear", "PT2S"),
        (r#"{"maxAttempts":3,"backoff":"none","initialInterval":"PT3S"}"#, "constant", "PT3S"),
        (r#"{"backoff_type":"polynomial","initial_interval_ms":5}"#, "polynomial", "PT0.005S"),
    ] {
        let answer = rig.post("/ojs/v1/jobs", &job(&format!(r#""retry":{policy}"#))).await;
        assert_eq!(answer.status, 201, "{policy}: {}", answer.text);
        let said =
            (answer.text_at("/job/retry/backoff_strategy"), answer.text_at("/job/retry/initial_interval"));
        assert_eq!(said, (shape.to_owned(), first.to_owned()), "{policy}");
    }
}

#[tokio::test]
async fn what_a_step_waits_for_is_not_lost_to_a_misspelling() {
    let rig = Rig::new();
    let first = r#"{"id":"a","type":"a","args":[]}"#;
    for (members, place, meant) in [
        (r#""dependson":["a"]"#, "steps[1].dependson", "depends_on"),
        (r#""depend_on":["a"]"#, "steps[1].depend_on", "depends_on"),
        (r#""dependsOn":["a"]"#, "steps[1].dependsOn", "depends_on"),
        (r#""options":{"queu":"x"}"#, "steps[1].options.queu", "queue"),
        (r#""option":{"queue":"x"}"#, "steps[1].option", "options"),
        (r#""options":{"callbacktype":"on_success"}"#, "steps[1].options.callbacktype", "callback_type"),
    ] {
        let body = format!(r#"{{"steps":[{first},{}]}}"#, job(members));
        expect_guess(&rig, "/ojs/v1/workflows", &body, place, meant).await;
    }
    let chain = format!(r#"{{"type":"chain","steps":[{}]}}"#, job(r#""priorty":1"#));
    expect_guess(&rig, "/ojs/v1/workflows", &chain, "steps[0].priorty", "priority").await;
    let defaults = format!(r#"{{"type":"group","jobs":[{first}],"options":{{"queu":"x"}}}}"#)
        .replace(r#""id":"a","#, "");
    expect_guess(&rig, "/ojs/v1/workflows", &defaults, "options.queu", "queue").await;
    let batch = format!(
        r#"{{"type":"batch","jobs":[{0}],"callbacks":{{"on_success":{1}}}}}"#,
        job(r#""tags":[]"#),
        job(r#""timeout_m":1"#)
    );
    expect_guess(&rig, "/ojs/v1/workflows", &batch, "callbacks.on_success.timeout_m", "timeout_ms").await;
    let own = format!(r#"{{"steps":[{}]}}"#, job(r#""x_owner":"me","region":"eu","options":{"x_cost":1}"#));
    assert_eq!(rig.post("/ojs/v1/workflows", &own).await.status, 201);
}

#[tokio::test]
async fn a_recurring_job_in_the_flat_form_is_as_strict_about_itself() {
    let rig = Rig::new();
    let cron = |members: &str| {
        format!(r#"{{"name":"z","expression":"1 * * * *","type":"a.b","args":[],{members}}}"#)
    };
    for (members, place, meant) in [
        (r#""overlap_polcy":"allow""#, "overlap_polcy", "overlap_policy"),
        (r#""timzone":"Europe/Berlin""#, "timzone", "timezone"),
        (r#""enabld":false"#, "enabld", "enabled"),
    ] {
        expect_guess(&rig, "/ojs/v1/cron", &cron(members), place, meant).await;
    }
    let own = rig.post("/ojs/v1/cron", &cron(r#""region":"eu","priorty":3"#)).await;
    assert_eq!(own.status, 201, "{}", own.text);
    assert!(own.text_at("/warnings/0").contains("did you mean \"priority\"?"), "{}", own.text);
}

#[tokio::test]
async fn what_workers_send_is_not_lost_to_a_misspelling() {
    let rig = Rig::new();
    for (path, body, place, meant) in [
        ("workers/fetch", r#"{"queues":["a"],"wait":5}"#, "wait", "wait_ms"),
        ("workers/fetch", r#"{"queues":["a"],"cuont":5}"#, "cuont", "count"),
        ("workers/heartbeat", r#"{"worker_id":"w","active_job":["x"]}"#, "active_job", "active_jobs"),
        ("workers/heartbeat", r#"{"worker_id":"w","lease":"x"}"#, "lease", "leases"),
        ("workers/ack", r#"{"job_id":"x","reslt":1}"#, "reslt", "result"),
        ("workers/nack", r#"{"job_id":"x","leas":"y"}"#, "leas", "lease"),
        ("workers/nack", r#"{"job_id":"x","eror":"y"}"#, "eror", "error"),
        ("workers/register", r#"{"worker_id":"w","queus":["a"]}"#, "queus", "queues"),
        ("workers/progress", r#"{"job_id":"x","progress":0.5,"mesage":"y"}"#, "mesage", "message"),
        ("jobs/batch", r#"{"jobs":[{"type":"a","args":[]}],"atomicty":"atomic"}"#, "atomicty", "atomicity"),
    ] {
        expect_guess(&rig, &format!("/ojs/v1/{path}"), body, place, meant).await;
    }
}

#[tokio::test]
async fn a_batch_is_all_or_nothing_and_says_so() {
    let rig = Rig::new();
    let batch = |members: &str| format!(r#"{{"jobs":[{{"type":"a","args":[]}}],{members}}}"#);
    let partial = rig.post("/ojs/v1/jobs/batch", &batch(r#""atomicity":"partial""#)).await;
    assert_eq!(
        (partial.status.as_u16(), partial.text_at("/error/details/field")),
        (400, "atomicity".to_owned())
    );
    assert!(partial.text_at("/error/message").contains("/jobs/bulk"), "{}", partial.text);
    let keyed = rig.post("/ojs/v1/jobs/batch", &batch(r#""idempotency_key":"k""#)).await;
    assert_eq!(
        (keyed.status.as_u16(), keyed.text_at("/error/details/field")),
        (400, "idempotency_key".to_owned())
    );
    assert!(keyed.text_at("/error/message").contains("Idempotency-Key"), "{}", keyed.text);
    assert_eq!(rig.post("/ojs/v1/jobs/batch", &batch(r#""atomicity":"atomic""#)).await.status, 201);
}

#[tokio::test]
async fn a_heartbeat_for_one_job_shows_its_lease() {
    let rig = Rig::new();
    rig.enqueue(r#"{"type":"a","args":[]}"#).await;
    let fetched = rig.post("/ojs/v1/workers/fetch", r#"{"queues":["default"],"worker_id":"w"}"#).await;
    let (id, lease) = (fetched.text_at("/jobs/0/id"), fetched.text_at("/jobs/0/lease"));
    let beat = |lease: &str| format!(r#"{{"worker_id":"w","job_id":"{id}","lease":"{lease}"}}"#);
    let held = rig.post("/ojs/v1/workers/heartbeat", &beat(&lease)).await.json();
    assert_eq!(held["jobs_extended"], serde_json::json!([id]), "{held}");
    let lost = rig.post("/ojs/v1/workers/heartbeat", &beat("another")).await.json();
    assert_eq!(lost["lost_jobs"], serde_json::json!([id]), "{lost}");
}

/// What the official SDKs, their serverless parts, the conformance suite and the documents of the spec send beside what is read.
#[tokio::test]
async fn members_that_others_send_stay_welcome() {
    let rig = Rig::new();
    for (path, body) in [
        (
            "workers/fetch",
            r#"{"queues":["a"],"count":10,"worker_id":"w","visibility_timeout_ms":30000,"runtime":"wasi"}"#,
        ),
        (
            "workers/heartbeat",
            r#"{"worker_id":"w","state":"running","active_jobs":0,"active_job_ids":[],"hostname":"h","pid":1,
                "queues":["a"],"concurrency":10,"labels":["x"],"shutdown":true,"visibility_timeout_ms":30000}"#,
        ),
        ("workers/beat", r#"{"worker_id":"w","state":"quiet","active_jobs":[],"shutdown":true}"#),
        (
            "workers/register",
            r#"{"worker_id":"w","hostname":"h","pid":1,"queues":["a"],"concurrency":1,"started_at":"2026-01-01T00:00:00Z","language":"go"}"#,
        ),
        (
            "cron",
            r#"{"name":"r","cron":"@daily","timezone":"UTC","type":"a","args":[],"meta":{},"options":{"queue":"a"},
                "overlap_policy":"skip","enabled":true,"description":"d"}"#,
        ),
        (
            "workflows",
            r#"{"name":"w","steps":[{"id":"step-0","type":"a","args":[],"options":{"queue":"q","timeout_ms":1,"tags":["x"],
                "retry":{"maxAttempts":3,"backoffCoefficient":2,"nonRetryableErrors":[],"onExhaustion":"discard"}}},
                {"id":"on-complete","type":"b","args":[],"depends_on":["step-0"],"options":{"callback_type":"on_complete"}}]}"#,
        ),
        ("jobs/batch", r#"{"jobs":[{"type":"a","args":[],"version":"1","options":{"queue":"a"}}]}"#),
    ] {
        let answer = rig.post(&format!("/ojs/v1/{path}"), body).await;
        assert!(answer.status.is_success(), "{body}: {}", answer.text);
        assert!(answer.json().get("warnings").is_none(), "{body}: {}", answer.text);
    }
    for path in ["workers/ack", "workers/nack"] {
        let body = r#"{"job_id":"x","worker_id":"w","duration_ms":5,"status":"done","delivery_id":"d"}"#;
        assert_eq!(rig.post(&format!("/ojs/v1/{path}"), body).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_job_keeps_what_is_nearly_right_and_says_so() {
    let rig = Rig::new();
    let body = job(
        r#""uniqe":{},"priorty":5,"delay":5,"retyr":{},"options":{"scheduledAt":"x","queu":"y"},"region":"eu""#,
    );
    let answer = rig.post("/ojs/v1/jobs", &body).await;
    let told = warnings(&answer);
    for (name, hint) in [
        ("uniqe", "did you mean \"unique\"?"),
        ("priorty", "did you mean \"priority\"?"),
        ("retyr", "did you mean \"retry\"?"),
        ("delay", "\"scheduled_at\": \"+PT5M\""),
        ("options.scheduledAt", "did you mean \"scheduled_at\"?"),
        ("options.queu", "did you mean \"queue\"?"),
    ] {
        let told = told.iter().find(|text| text.starts_with(&format!("{name}: ")));
        assert!(told.is_some_and(|text| text.contains(hint)), "{name}: {}", answer.text);
    }
    assert_eq!(told.len(), 6, "{told:?}");
    assert_eq!(answer.json()["job"]["priorty"], 5, "what is not known is kept: {}", answer.text);
    let bulk = format!(r#"{{"jobs":[{}]}}"#, job(r#""priorty":5"#));
    for path in ["/ojs/v1/jobs/batch", "/ojs/v1/jobs/bulk"] {
        let told = warnings(&rig.post(path, &bulk).await);
        assert!(told.len() == 1 && told[0].starts_with("jobs[0].priorty: "), "{path}: {told:?}");
    }
    for fine in [
        r#""x_custom_field":1,"ext_agent_model":"m","version":"1","owner":"me","uid":7"#,
        r#""priorty":null"#,
    ] {
        assert_eq!(warnings(&rig.post("/ojs/v1/jobs", &job(fine)).await), Vec::<String>::new(), "{fine}");
    }
}

#[tokio::test]
async fn a_job_that_would_expire_before_it_starts_is_refused() {
    let rig = Rig::new();
    for (members, place) in [
        (r#""scheduled_at":"+PT5M","expires_at":"+PT1M""#, "expires_at"),
        (r#""options":{"delay_until":"+PT5M","expires_at":"+PT5M"}"#, "options.expires_at"),
    ] {
        let answer = rig.post("/ojs/v1/jobs", &job(members)).await;
        assert_eq!((answer.status.as_u16(), answer.text_at("/error/details/field")), (400, place.to_owned()));
        assert!(answer.text_at("/error/message").contains("must lie after "), "{}", answer.text);
    }
    for fine in [r#""scheduled_at":"+PT5M","expires_at":"+PT6M""#, r#""expires_at":"2020-01-01T00:00:00Z""#] {
        assert_eq!(rig.post("/ojs/v1/jobs", &job(fine)).await.status, 201, "{fine}");
    }
}

#[tokio::test]
async fn a_time_that_is_none_hears_of_spans() {
    let rig = Rig::new();
    let answer = rig.post("/ojs/v1/jobs", &job(r#""scheduled_at":"tomorrow""#)).await;
    assert!(answer.text_at("/error/message").contains("+PT5M"), "{}", answer.text);
}

#[tokio::test]
async fn a_misspelt_filter_of_a_list_is_refused() {
    let rig = Rig::new();
    for (path, meant) in [
        ("/ojs/v1/admin/jobs?queu=mail", "queue"),
        ("/ojs/v1/admin/jobs?stat=active", "state"),
        ("/ojs/v1/dead-letter?quue=mail", "queue"),
        ("/ojs/v1/unique/keys?quee=mail", "queue"),
        ("/ojs/v1/workflows?curser=x", "cursor"),
        ("/ojs/v1/cron?lmit=1", "limit"),
        ("/ojs/v1/queues?lmit=1", "limit"),
        ("/ojs/v1/schemas?lmit=1", "limit"),
        ("/ojs/v1/admin/pools?lmit=1", "limit"),
        ("/ojs/v1/rate-limits?lmit=1", "limit"),
        ("/ojs/v1/webhooks/subscriptions?lmit=1", "limit"),
        ("/ojs/v1/events/stream?tpyes=job.failed", "types"),
    ] {
        let answer = rig.get(path).await;
        let guess = format!("did you mean \"{meant}\"?");
        assert!(
            answer.status == 400 && answer.text.replace('\\', "").contains(&guess),
            "{path}: {}",
            answer.text
        );
    }
    for path in ["/ojs/v1/workflows?name=mine", "/ojs/v1/admin/jobs?priority=5", "/ojs/v1/dead-letter?meta=x"]
    {
        let answer = rig.get(path).await;
        assert!(answer.status == 400 && answer.text.contains("known are "), "{path}: {}", answer.text);
    }
}
