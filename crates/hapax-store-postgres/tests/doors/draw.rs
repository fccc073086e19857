//! Random envelopes over a handful of keys, some of them damaged.

use serde_json::{Map, Value, json};

/// The numbers of a seed.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Draw {
        Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap();
        usize::try_from((self.next() >> 16) % end).unwrap()
    }

    /// True so many times in a hundred.
    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn of<'v, T: ?Sized>(&mut self, values: &[&'v T]) -> &'v T {
        values[self.below(values.len())]
    }

    /// One of some JSON texts.
    pub(crate) fn json(&mut self, texts: &[&str]) -> Value {
        serde_json::from_str(self.of(texts)).unwrap()
    }

    /// An id of version 7; later ones are higher.
    pub(crate) fn id(&mut self, now: i64, count: u64) -> String {
        let tail = self.next() & 0xffff_ffff_ffff;
        format!(
            "{:08x}-{:04x}-7{:03x}-8{:03x}-{tail:012x}",
            now >> 16,
            now & 0xffff,
            count >> 12,
            count & 0xfff
        )
    }
}

const ARGS: &[&str] = &[
    "[]",
    "[1]",
    r#"[{"u": 1, "v": 2.50}]"#,
    r#"[{"u": 1}, {"v": 7}]"#,
    r#"{"u": 1}"#,
    r#"{"u": 1.0, "v": [true, null]}"#,
    "[[1, 2]]",
    "[[3]]",
    "[[]]",
    r#"[["a]", "[["], 5]"#,
    r#"[{"café": "é", "u": 12345678901234567890123}]"#,
    r#"{"u": {"b": 1, "a": 0.000001, "": -1.5e-9}}"#,
];

const TIME_LIMITS: [(&str, &[&str]); 4] = [
    ("total_timeout", &["5", "\"PT1H\"", "3600"]),
    ("enqueue_ttl", &["60", "\"PT2M\"", "1"]),
    ("heartbeat_timeout", &["30", "\"PT1M\"", "1"]),
    ("grace_period", &["0", "\"PT0S\"", "5"]),
];

/// A job of the right form.
pub(crate) fn job(draw: &mut Draw) -> Map<String, Value> {
    let mut job = Map::new();
    let mut put = |name: &str, value: Value| drop(job.insert(name.to_owned(), value));
    put("type", json!(draw.of(&["a.b", "mail.send"])));
    if draw.percent(15) {
        put("payload", draw.json(&["[1]", "[2, 3]", r#"{"u": 1}"#, "5"]));
    } else {
        put("args", draw.json(ARGS));
    }
    if draw.percent(50) {
        put("queue", json!(draw.of(&["q1", "q2"])));
    }
    if draw.percent(30) {
        put("priority", json!(draw.below(5)));
    }
    if draw.percent(30) {
        put("meta", draw.json(&[r#"{"tenant": "acme"}"#, r#"{"tenant": "b", "x": 1}"#, "{}"]));
    }
    if draw.percent(20) {
        let name = draw.of(&["scheduled_at", "delay_until"]);
        put(
            name,
            json!(draw.of(&["+PT5S", "+P1D", "2027-01-15T08:00:30.0005Z", "2020-01-01T00:00:00+02:00"])),
        );
    }
    if draw.percent(10) {
        put("expires_at", json!(draw.of(&["+PT30S", "+P2D", "2027-01-20T08:00:00Z"])));
    }
    if draw.percent(20) {
        put("retry", retry(draw));
    }
    if draw.percent(10) {
        put("max_attempts", json!(draw.below(3)));
    }
    if draw.percent(8) {
        put("timeout", json!(draw.below(20)));
    }
    if draw.percent(8) {
        put("visibility_timeout", draw.json(&["5", "\"PT10S\"", "\"PT1M\""]));
    }
    for (name, spans) in TIME_LIMITS {
        if draw.percent(8) {
            put(name, draw.json(spans));
        }
    }
    if draw.percent(8) {
        put("tags", draw.json(&["[]", r#"["a"]"#, r#"["a", "b"]"#]));
    }
    if draw.percent(5) {
        put("delivery", json!(draw.of(&["at_most_once", "at_least_once"])));
    }
    if draw.percent(8) {
        put(draw.of(&["x_one", "x_two"]), draw.json(&["1", "{\"a\": [1.10]}", "null"]));
    }
    if draw.percent(3) {
        put("schema", json!("urn:x"));
    }
    if draw.percent(65) {
        put("unique", Value::Object(policy(draw)));
    } else if draw.percent(60) {
        put("job_key", json!(draw.of(&["j1", "j2"])));
        if draw.percent(70) {
            put("job_key_mode", json!(draw.of(&["replace", "preserve_run_at", "unsafe_dedupe"])));
        }
    }
    if draw.percent(7) {
        put("pending", json!(true));
    }
    job
}

/// A limit that leaves room for everybody: keys that take turns, and some that do not.
pub(crate) fn rate_limit(draw: &mut Draw) -> Value {
    let mut limit = json!({"key": draw.of(&["t1", "t2", "t3"])});
    if draw.percent(80) {
        limit["share"] = json!(draw.of(&["fair", "fair", "fair", "line"]));
    }
    if draw.percent(20) {
        limit["rate"] = json!({"limit": 1_000_000, "period": draw.of(&["PT1M", "PT1H30M"])});
        limit["concurrency"] = json!(1_000_000);
    }
    limit
}

fn retry(draw: &mut Draw) -> Value {
    draw.json(&[
        r#"{"max_attempts": 2}"#,
        r#"{"max_attempts": 1, "on_exhaustion": "dead_letter"}"#,
        r#"{"jitter": false, "initial_interval": "PT0.1S", "backoff_coefficient": 1.5}"#,
        r#"{"backoff_strategy": "linear", "initial_interval_ms": 1234}"#,
        r#"{"backoff_type": "polynomial", "backoff_coefficient": 2.25, "max_interval": "PT10M"}"#,
        r#"{"strategy": "none", "initial_interval": "PT7M"}"#,
        r#"{"non_retryable_errors": ["Auth.*", "Fatal"], "on_exhaustion": "dead_letter"}"#,
        r#"{"max_attempts": 3}"#,
    ])
}

fn policy(draw: &mut Draw) -> Map<String, Value> {
    let mut policy = Map::new();
    let mut put = |name: &str, value: Value| drop(policy.insert(name.to_owned(), value));
    match draw.below(6) {
        0 => put("key", json!(draw.of(&["k1", "k2"]))),
        1 => {
            put("keys", json!(["type", "args"]));
            put("args_keys", json!(["u"]));
        }
        2 => {
            put("keys", json!(["meta", "type"]));
            put("meta_keys", json!(["tenant"]));
        }
        3 => put("keys", draw.json(&[r#"["args"]"#, r#"["queue"]"#, "[]"])),
        4 => put("key", draw.json(&[r#"["type"]"#, r#"["u"]"#, r#"["args", "queue"]"#])),
        _ => {}
    }
    if draw.percent(35) {
        put("period", draw.json(&["60", "\"PT1S\"", "\"infinity\"", "\"P1D\"", "\"P20D\"", "\"PT0.5S\""]));
    }
    if draw.percent(15) {
        put("period_from", json!(draw.of(&["created_at", "scheduled_at", "finished_at", "inserted_at"])));
    } else if draw.percent(10) {
        put("timestamp", json!(draw.of(&["inserted_at", "finished_at"])));
    }
    if draw.percent(40) {
        put(
            "states",
            draw.json(&[
                "\"all\"",
                "\"incomplete\"",
                "\"scheduled\"",
                "\"successful\"",
                r#"["active"]"#,
                r#"["available", "active", "pending", "completed", "discarded"]"#,
                r#"["retryable", "cancelled"]"#,
            ]),
        );
    }
    match draw.below(12) {
        0 => put("replace", draw.json(&[r#"["args", "priority"]"#, r#"["scheduled_at", "queue", "tags"]"#])),
        1 => put(
            "replace",
            draw.json(&[
                r#"{"scheduled": ["args", "scheduled_at"], "available": ["max_attempts", "meta"]}"#,
                r#"{"retryable": ["scheduled_at"], "active": ["type", "args"], "completed": ["tags"]}"#,
            ]),
        ),
        2 => put("debounce", draw.json(&[r#"{"wait": "PT10S", "max_wait": 25}"#, r#"{"wait": 5}"#])),
        3 => put("while_active", json!("queue_latest")),
        _ => {}
    }
    if draw.percent(75) && !policy.contains_key("debounce") {
        let word =
            draw.of(&["reject", "ignore", "replace", "replace", "replace_except_schedule", "use_existing"]);
        policy.insert("on_conflict".to_owned(), json!(word));
    }
    policy
}

/// Some attributes under `options`.
pub(crate) fn nested(draw: &mut Draw, mut job: Map<String, Value>) -> Map<String, Value> {
    if !draw.percent(20) {
        return job;
    }
    let names: Vec<String> = job.keys().filter(|_| draw.percent(40)).cloned().collect();
    let mut options = Map::new();
    for name in names {
        let value = if draw.percent(15) { job[&name].clone() } else { job.remove(&name).unwrap() };
        options.insert(name, value);
    }
    if draw.percent(20) {
        options.insert("metadata".to_owned(), json!({"tenant": "m", "more": 1.0}));
    }
    job.insert("options".to_owned(), Value::Object(options));
    job
}

const JUNK: &[&str] = &[
    "null",
    "true",
    "0",
    "-1",
    "1.0",
    "99999999999999999999",
    "\"\"",
    "\"P\"",
    "\"PT\"",
    "\"PT0S\"",
    "\"P20000Y\"",
    "\"PT5M3H\"",
    "\"infinty\"",
    "\"+PT5M\"",
    "\"PT1H\"",
    "\"2026-02-30T00:00:00Z\"",
    "\"2026-12-31T23:59:60.5Z\"",
    "\"9999-12-31T23:59:59Z\"",
    "\"Bad Name\"",
    "\"complete\"",
    "\"replce\"",
    "\"activ\"",
    "[]",
    "[1]",
    r#"["args", "args"]"#,
    r#"["tpye"]"#,
    r#"["all"]"#,
    r#"["missing"]"#,
    "{}",
    r#"{"wait": 0}"#,
    r#"{"wiat": 5}"#,
    r#"{"wait": "PT5S", "max_wait": "infinity"}"#,
    r#"{"active": []}"#,
    r#"{"avalable": ["args"]}"#,
    r#"{"max_attempts": -1}"#,
    r#"{"backoff_coefficient": 0.5}"#,
    r#"{"initial_interval": "PT10M", "max_interval": "PT1M"}"#,
    r#"{"non_retryable_errors": [""]}"#,
];

/// Something wrong, or at least odd.
pub(crate) fn damage(draw: &mut Draw, job: &mut Map<String, Value>) {
    match draw.below(4) {
        0 => {
            let name = draw.of(&[
                "total_timeout",
                "grace_period",
                "debounce",
                "priority",
                "id",
                "specversion",
                "options",
                "tags",
            ]);
            job.insert(name.to_owned(), draw.json(JUNK));
        }
        1 => {
            if let Some(Value::Object(policy)) = job.get_mut("unique") {
                let name = draw.of(&[
                    "keys",
                    "args_keys",
                    "meta_keys",
                    "key",
                    "period",
                    "period_from",
                    "timestamp",
                    "states",
                    "on_conflict",
                    "replace",
                    "debounce",
                    "while_active",
                    "statse",
                    "first_start",
                ]);
                policy.insert(name.to_owned(), draw.json(JUNK));
            }
        }
        2 => {
            let names: Vec<String> = job.keys().cloned().collect();
            let name = &names[draw.below(names.len())];
            job.insert(name.clone(), draw.json(JUNK));
        }
        _ => {
            let names: Vec<String> = job.keys().cloned().collect();
            let name = names[draw.below(names.len())].clone();
            let value = job.remove(&name).unwrap();
            if draw.percent(50) {
                job.insert(name[1..].to_owned(), value);
            }
        }
    }
}
