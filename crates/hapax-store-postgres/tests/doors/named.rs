//! Every refusal of form that the HTTP binding has a line for, every strategy and every job key against every state.

use hapax_core::{Event, JobId};

use crate::rig::Rig;

/// The lines of a table of refusals: what was sent stands above what came of it, which is indented.
fn sent(table: &str) -> impl Iterator<Item = &str> {
    let body = table.splitn(3, "---\n").nth(2).unwrap_or_default();
    body.lines().filter(|line| !line.starts_with("    ") && !line.trim().is_empty())
}

/// Numbers jobs, so that both doors give them the same ids.
struct Ids(u32);

impl Ids {
    fn next(&mut self) -> String {
        self.0 += 1;
        format!("01a31895-ca17-7000-8000-{:012x}", self.0)
    }
}

#[test]
fn what_http_refuses_or_takes_in_its_own_tests_sql_does_too() {
    let tables = [
        include_str!(
            "../../../hapax-http/src/from_wire/snapshots/hapax_http__from_wire__tests__attributes_of_the_wrong_form_are_refused.snap"
        ),
        include_str!(
            "../../../hapax-http/src/from_wire/snapshots/hapax_http__from_wire__tests__the_same_attribute_in_two_places_has_to_say_the_same.snap"
        ),
        include_str!(
            "../../../hapax-http/src/from_wire/snapshots/hapax_http__from_wire__tests__envelopes_of_the_wrong_form_are_refused.snap"
        ),
        include_str!(
            "../../../hapax-http/src/from_wire/tests/snapshots/hapax_http__from_wire__tests__job_keys__job_keys_of_the_wrong_form_are_refused.snap"
        ),
        include_str!(
            "../../../hapax-http/src/from_wire/tests/snapshots/hapax_http__from_wire__tests__policies__debouncing_and_queueing_of_the_wrong_form_are_refused.snap"
        ),
        include_str!(
            "../../../hapax-http/src/from_wire/tests/snapshots/hapax_http__from_wire__tests__policies__retry_policies_of_the_wrong_form_are_validation_errors.snap"
        ),
        include_str!(
            "../../../hapax-http/src/from_wire/tests/snapshots/hapax_http__from_wire__tests__policies__unique_policies_of_the_wrong_form_are_refused.snap"
        ),
    ];
    let (mut rig, mut ids, mut compared) = (Rig::new(), Ids(0), 0);
    for row in tables.into_iter().flat_map(sent) {
        let id = format!("\"id\":\"{}\"", ids.next());
        // Each door would choose an id of its own.
        if row.contains("\"id\":null") {
            continue;
        }
        let job = match row.strip_prefix('{') {
            Some("}") => "{}".to_owned(),
            Some(_) if row.contains("\"id\"") => row.to_owned(),
            Some(members) => format!("{{{id},{members}"),
            None if row.starts_with('"') && row.contains("\"id\"") => with(row),
            None if row.starts_with('"') => with(&format!("{id},{row}")),
            // What is no object is refused in other words.
            None => continue,
        };
        rig.enqueue(&job);
        compared += 1;
    }
    assert!(compared > 150, "only {compared} lines were compared");
}

fn with(members: &str) -> String {
    format!(r#"{{"type":"a","args":[{{"u":1}},2],"meta":{{"t":1}},{members}}}"#)
}

#[test]
fn numbers_and_names_at_their_edges_are_read_alike() {
    let (mut rig, mut ids) = (Rig::new(), Ids(0));
    let huge = format!(r#""unique":{{"keys":["args"]}},"args":[1{}.5]"#, "0".repeat(400));
    let long = format!("\"x{}\":1", "y".repeat(80));
    let deep = format!("\"x\":{}1{}", "[".repeat(63), "]".repeat(63));
    for members in [
        &huge,
        r#""unique":{"keys":["args"]},"args":[0.00000000000000000000000000000000001e-300]"#,
        r#""unique":{"keys":["args"]},"args":[12345678901234567890123,-0,-0.0,100000000000000000000000.0]"#,
        r#""unique":{"keys":["args"]},"args":[{"é":1,"é":2}]"#,
        r#""unique":{"keys":["args"],"args_keys":["é","é"]},"args":[{"é":1}]"#,
        r#""unique":{"keys":["args"],"args_keys":["é"]},"args":[{"é":1}]"#,
        r#""unique":{"keys":["args"],"args_keys":["1","u"]},"args":[5,7,{"u":null}]"#,
        r#""unique":{"keys":["args"],"args_keys":["01"]},"args":[5,7]"#,
        r#""unique":{"period":99999999999999999999}"#,
        r#""unique":{"period":315360000001}"#,
        r#""timeout":1e3"#,
        r#""timeout":1.0"#,
        r#""timeout_ms":9223372036854775808"#,
        r#""timeout":5,"timeout_ms":5000"#,
        r#""total_timeout":60,"timeout":30,"enqueue_ttl":"PT1M","heartbeat_timeout":5,"grace_period":0"#,
        r#""total_timeout":20,"timeout":30"#,
        r#""total_timeout":"PT20S","timeout_ms":20001"#,
        r#""total_timeout":0"#,
        r#""total_timeout":1.5"#,
        r#""enqueue_ttl":"PT1.5S""#,
        r#""scheduled_at":"+PT2H","enqueue_ttl":7200"#,
        r#""scheduled_at":"+PT2H","total_timeout":"PT1H""#,
        r#""scheduled_at":"+PT2H","total_timeout":"PT2H","enqueue_ttl":"PT3H""#,
        r#""scheduled_at":"+PT1H","enqueue_ttl":"PT2H""#,
        r#""enqueue_ttl":"PT0S""#,
        r#""enqueue_ttl":"soon""#,
        r#""heartbeat_timeout":[]"#,
        r#""heartbeat_timeout":null,"options":{"heartbeat_timeout":4}"#,
        r#""grace_period":-1"#,
        r#""grace_period":315360000001"#,
        r#""progress":0.5,"checkpoint":{},"last_checkpoint":1"#,
        r#""retry":{"backoff_coefficient":1e23,"initial_interval":"PT0.001S"}"#,
        r#""retry":{"backoff_coefficient":1e400}"#,
        r#""retry":{"backoff_strategy":null,"strategy":"linear"}"#,
        r#""retry":{"backoff":"none","initial_delay_ms":5,"maxIntervalMs":7}"#,
        r#""retry":{"initialIntervalMs":"soon"}"#,
        r#""retry":{"backoffType":"cubic"}"#,
        r#""retry":{"max_atempts":2}"#,
        r#""retry":{"MaxAttempts":2}"#,
        r#""options":{"delay_until":"+PT2M"},"expires_at":"+PT1M""#,
        r#""expires_at":"never","timeout":-1,"priority":"high""#,
        r#""delay":5,"delay_ms":null,"options":{"delay_seconds":5,"delay":5}"#,
        r#""queu":"a","Timeout":1,"uniq":{},"metadat":null,"customer":1,"pid":7"#,
        r#""ext_agent_v2":7"#,
        r#""meta":{"a":1},"options":{"metadata":{"a":2,"b":3}}"#,
        r#""metadata":{"a":1}"#,
        r#""state":"completed","attempt":5"#,
        r#""job_key":"é\n\"\\","job_key_mode":"preserve_run_at""#,
        r#""unique":{"released":{},"uniqueness_key":"x"}"#,
        r#""job_key":"a","unique":{"duplicates":{}}"#,
        &long,
        &deep,
    ] {
        rig.enqueue(&format!(r#"{{"id":"{}","type":"a","args":[],{members}}}"#, ids.next()));
    }
}

#[test]
fn times_at_their_edges_are_read_alike() {
    let (mut rig, mut ids) = (Rig::new(), Ids(0));
    for members in [
        r#""scheduled_at":"2016-12-31T23:59:60Z""#,
        r#""scheduled_at":"2016-12-31t23:59:59Z""#,
        r#""scheduled_at":"2016-12-31T23:59:59z""#,
        r#""scheduled_at":"2016-12-31 23:59:59Z""#,
        r#""scheduled_at":"2027-02-29T00:00:00Z""#,
        r#""scheduled_at":"2028-02-29T00:00:00.123456789-00:00""#,
        r#""scheduled_at":"0000-01-01T00:00:00+01:00""#,
        r#""scheduled_at":"9999-12-31T23:59:59+00:01""#,
        r#""scheduled_at":"9999-12-29T23:59:59-23:59""#,
        r#""scheduled_at":"9999-12-32T23:59:59Z""#,
        r#""scheduled_at":"+P9999Y""#,
        r#""scheduled_at":"+P10000Y""#,
        r#""scheduled_at":"+P10001Y""#,
        r#""scheduled_at":"P1D""#,
        r#""expires_at":"+PT0.0000001S""#,
        r#""scheduled_at":"+PT1M","expires_at":"+PT1M""#,
        r#""scheduled_at":"2027-02-01T00:00:00Z","expires_at":"2027-02-01T00:00:00.001Z""#,
    ] {
        rig.enqueue(&format!(r#"{{"id":"{}","type":"a","args":[],{members}}}"#, ids.next()));
    }
}

/// In every state that a job can be in.
const STATES: [&str; 9] = [
    "scheduled",
    "available",
    "pending",
    "active",
    "retryable",
    "completed",
    "cancelled",
    "discarded",
    "lapsed",
];

/// Brings a job of this form into this state, in both stores.
fn hold(rig: &mut Rig, ids: &mut Ids, queue: &str, how: &str, state: &str) -> JobId {
    let more = match state {
        "scheduled" => r#","scheduled_at":"+PT1H""#,
        "pending" => r#","pending":true"#,
        "discarded" => r#","max_attempts":1,"retry":{"on_exhaustion":"dead_letter"}"#,
        _ => "",
    };
    let id = ids.next();
    let job = format!(r#"{{"id":"{id}","type":"a","args":[[1]],"queue":"{queue}",{how}{more}}}"#);
    rig.enqueue(&job);
    let id: JobId = id.parse().unwrap();
    let lease = match state {
        "active" | "retryable" | "completed" | "discarded" | "lapsed" => rig.claim(queue).unwrap().1,
        _ => String::new(),
    };
    match state {
        "retryable" | "discarded" => drop(rig.fail(id, &lease, Some("\"broken\""), false)),
        "completed" => drop(rig.complete(id, &lease, None)),
        "cancelled" => rig.step(id, &Event::Cancel),
        "lapsed" => {
            rig.pass(31 * 60_000);
            rig.advance();
        }
        _ => {}
    }
    let found = rig.compare(id).unwrap().state().name();
    assert_eq!(found, if state == "lapsed" { "available" } else { state });
    id
}

/// Duplicates of a holder in each state, then what becomes of all of them.
fn check(how: &dyn Fn(&str) -> String, holder: &dyn Fn(&str) -> String) {
    let (mut rig, mut ids, mut known) = (Rig::new(), Ids(0), Vec::new());
    for state in STATES {
        let queue = format!("q-{state}");
        known.push(hold(&mut rig, &mut ids, &queue, &holder(state), state));
        for args in ["[[2, 3]]", r#"[{"a": 1}]"#, "[[]]"] {
            let id = ids.next();
            let job = format!(
                r#"{{"id":"{id}","type":"a","args":{args},"queue":"{queue}","priority":3,"tags":["t"],"meta":{{"m":1}},"timeout":7,"scheduled_at":"+PT2H",{}}}"#,
                how(state)
            );
            // Some policies decide themselves when a job starts.
            let job =
                if job.contains("debounce") { job.replace(r#""scheduled_at":"+PT2H","#, "") } else { job };
            rig.enqueue(&job);
            known.push(id.parse().unwrap());
            rig.compare_all(&known);
        }
        while let Some((id, lease)) = rig.claim(&queue) {
            rig.complete(id, &lease, Some("{}"));
        }
        rig.compare_all(&known);
    }
    rig.pass(3 * 3_600_000);
    rig.advance();
    rig.compare_all(&known);
}

#[test]
fn every_strategy_against_every_state() {
    let key = |state: &str| format!(r#""key":"{state}""#);
    for policy in [
        r#""states":"all","on_conflict":"reject""#,
        r#""states":"all","on_conflict":"ignore""#,
        r#""states":"all","on_conflict":"replace""#,
        r#""states":"all","on_conflict":"replace_except_schedule""#,
        r#""on_conflict":"replace""#,
        r#""states":"all","replace":["args","meta","priority","queue","scheduled_at","tags","max_attempts","type"]"#,
        r#""states":"all","replace":{"scheduled":["args"],"retryable":["scheduled_at"],"lapsed":["args"]}"#,
        r#""states":"all","replace":{"scheduled":["args"],"retryable":["scheduled_at"]}"#,
        r#""debounce":{"wait":"PT10S","max_wait":"PT15S"}"#,
        r#""while_active":"queue_latest","on_conflict":"ignore""#,
        r#""while_active":"queue_latest","debounce":{"wait":5}"#,
        r#""while_active":"queue_latest","on_conflict":"replace","states":"all""#,
        r#""states":"all","period":60,"period_from":"finished_at","on_conflict":"ignore""#,
    ] {
        check(&|state| format!(r#""unique":{{{},{policy}}}"#, key(state)), &|state| {
            format!(r#""unique":{{{}}}"#, key(state))
        });
    }
}

#[test]
fn every_job_key_mode_against_every_state() {
    for mode in ["replace", "preserve_run_at", "unsafe_dedupe"] {
        let name = |state: &str| format!(r#""job_key":"{state}""#);
        check(&|state| format!(r#"{},"job_key_mode":"{mode}""#, name(state)), &name);
    }
}

#[test]
fn a_batch_is_refused_as_a_whole_and_says_which_job_it_was() {
    let (mut rig, mut ids) = (Rig::new(), Ids(0));
    let mut job = |members: &str| format!(r#"{{"id":"{}","type":"a","args":[],{members}}}"#, ids.next());
    let (one, two) = (job(r#""unique":{"key":"k"}"#), job(r#""unique":{"key":"k"}"#));
    rig.enqueue(&format!("[{one},{two}]"));
    rig.compare_all(&[]);
    rig.enqueue(&format!("[{one}]"));
    rig.enqueue(&format!("[{},{two}]", job("\"queue\":\"other\"")));
    rig.enqueue(&format!("[{},{one}]", job("\"queue\":\"other\"")));
    rig.enqueue(&format!("[{},5]", job("\"queue\":\"other\"")));
    rig.enqueue(&format!("[{},{}]", job("\"tags\":[1]"), job("\"queue\":\"other\"")));
    rig.enqueue("[]");
    let large = "x".repeat(600_000);
    let grown: Vec<String> = (0..2)
        .map(|_| job(&format!(r#""job_key":"large","payload":["{large}"]"#)).replace("\"args\":[],", ""))
        .collect();
    rig.enqueue(&format!("[{}]", grown.join(",")));
    rig.enqueue(&grown[0]);
    rig.enqueue(&grown[1]);
}
