//! Every refusal of form, as a table: what was sent, and what the client reads.

mod job_keys;
mod ordering;
mod policies;
mod workers;

use std::fmt::Write as _;

use hapax_core::Timestamp;

use super::*;

const NOW: Timestamp = Timestamp::EPOCH;

/// One line for what became of a body.
fn outcome<T>(read: Result<T, Fault>) -> String {
    match read {
        Ok(_) => "accepted".to_owned(),
        Err(Fault { code, message, .. }) => format!("{} {}: {message}", code.status(), code.name()),
    }
}

fn table<T>(rows: &[&str], read: impl Fn(&Node<'_>) -> Result<T, Fault>) -> String {
    rows.iter().fold(String::new(), |mut table, row| {
        let outcome = outcome(super::read(row.as_bytes()).and_then(|body| read(&body)));
        let _infallible = writeln!(table, "{row}\n    {outcome}");
        table
    })
}

fn draft(body: &str) -> Result<hapax_broker::Draft, Fault> {
    let node = super::read(body.as_bytes())?;
    Ok(job(&node, &Intake::new(Media::Json, NOW))?.draft)
}

/// A job with these further members.
fn with(members: &str) -> Result<hapax_broker::Draft, Fault> {
    draft(&format!(r#"{{"type":"a","args":[{{"u":1}},2],"meta":{{"t":1}},{members}}}"#))
}

fn jobs_with(rows: &[&str]) -> String {
    rows.iter().fold(String::new(), |mut table, row| {
        let _infallible = writeln!(table, "{row}\n    {}", outcome(with(row)));
        table
    })
}

#[test]
fn a_limit_that_is_over_before_the_start_is_refused() {
    let read = |members: &str| with(members).map(|_| ()).map_err(|fault| fault.message);
    for limit in ["enqueue_ttl", "total_timeout"] {
        let early = format!(r#""scheduled_at":"+PT2H","{limit}":7200"#);
        let expected = format!("{limit}: would be over before scheduled_at, for it counts from now");
        assert_eq!(read(&early), Err(expected));
        assert_eq!(read(&format!(r#""scheduled_at":"+PT2H","{limit}":7201"#)), Ok(()));
    }
}

#[test]
fn bodies_that_are_no_json_are_refused_with_the_place() {
    let deep = "[".repeat(65);
    let rows = [
        "",
        " ",
        "{",
        r#"{"type":"a","args":["#,
        r#"{"type":"a",}"#,
        "nul",
        "{} {}",
        "\u{feff}{}",
        r#"{"a":1,"b":2,"a":3}"#,
        r#"{"args":[{"b":{"c":1,"c":2}}]}"#,
        r#"{"a":"\ud800"}"#,
        "{\"a\":\"\n\"}",
        "{\"a\":01}",
        &deep,
    ];
    insta::assert_snapshot!(table(&rows, |_| Ok(())));
    assert_eq!(
        outcome(super::read(b"{\"a\":\"\xff\"}")),
        "400 invalid_payload: the body is not JSON: not UTF-8 at byte 6"
    );
    let fault = super::read(b"{\n \"a\": }").unwrap_err();
    assert_eq!(String::from_utf8(fault.details).unwrap(), r#"{"line":2,"column":7,"offset":8}"#);
}

#[test]
fn envelopes_of_the_wrong_form_are_refused() {
    let rows = [
        "[]",
        "1",
        "null",
        "{}",
        r#"{"type":"a"}"#,
        r#"{"args":[]}"#,
        r#"{"type":null,"args":[]}"#,
        r#"{"type":1,"args":[]}"#,
        r#"{"type":"","args":[]}"#,
        r#"{"type":"Email.Send","args":[]}"#,
        r#"{"type":"a","args":null}"#,
        r#"{"type":"a","args":"x"}"#,
        r#"{"type":"a","args":1}"#,
        r#"{"type":"a","args":true}"#,
        r#"{"type":"a","args":{}}"#,
        r#"{"type":"a","payload":{"b":1}}"#,
        r#"{"type":"a","payload":1,"args":[]}"#,
        r#"{"type":"a","args":[],"options":[]}"#,
        r#"{"type":"a","args":[],"options":null}"#,
    ];
    insta::assert_snapshot!(table(&rows, |body| job(body, &Intake::new(Media::Json, NOW))));
    let object = super::read(br#"{"type":"a","args":{}}"#).unwrap();
    assert_eq!(
        outcome(job(&object, &Intake::new(Media::OpenJobSpec, NOW))),
        "400 invalid_request: args: must be an array (an object is taken with Content-Type: application/json), not an object"
    );
}

#[test]
fn attributes_of_the_wrong_form_are_refused() {
    insta::assert_snapshot!(jobs_with(&[
        r#""id":"""#,
        r#""id":"550e8400-e29b-41d4-a716-446655440000""#,
        r#""id":"019461A8-1A2B-7C3D-8E4F-5A6B7C8D9E0F""#,
        r#""id":7"#,
        r#""id":null"#,
        r#""specversion":"2.0""#,
        r#""specversion":1.0"#,
        r#""queue":"My Queue""#,
        r#""queue":["a"]"#,
        r#""options":{"queue":"A"}"#,
        r#""priority":101"#,
        r#""priority":-101"#,
        r#""priority":1.5"#,
        r#""priority":"high""#,
        r#""priority":99999999999999999999"#,
        r#""options":{"priority":true}"#,
        r#""options":{"meta":[]}"#,
        r#""options":{"metadata":"x"}"#,
        r#""tags":"a""#,
        r#""tags":["a",1]"#,
        r#""schema":1"#,
        r#""scheduled_at":"tomorrow""#,
        r#""scheduled_at":"2026-03-01T09:30:00""#,
        r#""scheduled_at":1772357400"#,
        r#""scheduled_at":"+5m""#,
        r#""options":{"delay_until":"PT5M"}"#,
        r#""expires_at":"2026-02-30T00:00:00Z""#,
        r#""timeout":-1"#,
        r#""timeout":"PT1M""#,
        r#""timeout":60,"timeout_ms":1"#,
        r#""timeout_ms":1.5"#,
        r#""visibility_timeout":0"#,
        r#""visibility_timeout":"PT0S""#,
        r#""visibility_timeout":"1m""#,
        r#""visibility_timeout_ms":0"#,
        r#""visibility_timeout":"PT1M","visibility_timeout_ms":1"#,
        r#""pending":"yes""#,
        r#""delivery":"exactly_once""#,
        r#""delivery":"at_most_ones""#,
        r#""delivery":1"#,
    ]));
}

#[test]
fn the_same_attribute_in_two_places_has_to_say_the_same() {
    insta::assert_snapshot!(jobs_with(&[
        r#""queue":"a","options":{"queue":"a"}"#,
        r#""queue":"a","options":{"queue":"b"}"#,
        r#""priority":1,"options":{"priority":1.0}"#,
        r#""x_own":{"a":1,"b":2},"options":{"x_own":{"b":2,"a":1}}"#,
        r#""x_own":1,"options":{"x_own":2}"#,
        r#""queue":null,"options":{"queue":"b"}"#,
    ]));
}

#[test]
fn a_job_is_kept_as_it_was_sent() {
    let spec = draft(
        r#"{"type":"a","args":[ 1.0, 1e3 ],"meta":{"b": 1,"a":2},"options":{"metadata":{"a":9,"c": 3},"x_b":null},"x_a":[1.50]}"#,
    )
    .unwrap()
    .spec;
    assert_eq!(spec.args.as_str(), "[ 1.0, 1e3 ]");
    assert_eq!(spec.meta.as_str(), r#"{"b":1,"a":2,"c":3}"#);
    assert_eq!(spec.extra.as_str(), r#"{"x_a":[1.50],"x_b":null}"#);
    assert_eq!(draft(r#"{"type":"a","payload":{"b": 1}}"#).unwrap().spec.args.as_str(), r#"[{"b": 1}]"#);
}

#[test]
fn keys_are_those_of_the_vectors() {
    let key = |body: &str| draft(body).unwrap().key.unwrap().to_string();
    let email = "71f9344b82e66297a49775bbe27752297922842b675330641ebe3ff4fea46c1f";
    let unique =
        r#""queue":"notifications","unique":{"keys":["type","queue","args"],"args_keys":["user_id"]}"#;
    for args in
        [r#""args":{"user_id":42,"x":1}"#, r#""args":[{"user_id":42}]"#, r#""payload":{"user_id":42}"#]
    {
        assert_eq!(key(&format!(r#"{{"type":"email.send",{args},{unique}}}"#)), email);
    }
    let cache = "dc19075d0e4dde8bcd3952c4f9789b50e959792aa308daaa8eae0daa9f1985b0";
    let unique = r#""unique":{"keys":["type","args","meta"],"meta_keys":["tenant_id"]}"#;
    for meta in [
        r#""meta":{"tenant_id":"acme","trace":1}"#,
        r#""options":{"metadata":{"tenant_id":"acme"}}"#,
        r#""meta":{"tenant_id":"acme"},"options":{"metadata":{"tenant_id":"other"}}"#,
    ] {
        let body = format!(r#"{{"type":"cache.warm","args":{{"resource":"products"}},{meta},{unique}}}"#);
        assert_eq!(key(&body), cache, "{meta}");
    }
}

#[test]
fn times_and_spans_keep_the_words_of_the_client() {
    let spec = with(r#""scheduled_at":"2099-12-31T23:59:59+02:00","timeout":60"#).unwrap().spec;
    assert_eq!(&*spec.scheduled_at.unwrap().text, "2099-12-31T23:59:59+02:00");
    let expiring = with(r#""expires_at":"+PT2S""#).unwrap().spec;
    assert_eq!(&*expiring.expires_at.unwrap().text, "1970-01-01T00:00:02.000Z");
    assert!(spec.timeout.unwrap().in_seconds);
    let spec =
        with(r#""scheduled_at":"+PT1H","options":{"delay_until":"+PT1H","timeout_ms":0}"#).unwrap().spec;
    assert_eq!(spec.scheduled_at.unwrap().at, Timestamp::from_millis(3_600_000));
    assert_eq!(spec.timeout, None);
    let contradiction = with(r#""scheduled_at":"+PT1H","delay_until":"+PT2H""#).unwrap_err();
    assert_eq!(contradiction.message, "delay_until: contradicts scheduled_at; send one of the two");
}

#[test]
fn batches_of_the_wrong_form_are_refused() {
    let rows = [
        "[]",
        "{}",
        r#"{"jobs":[]}"#,
        r#"{"jobs":{}}"#,
        r#"{"jobs":[1]}"#,
        r#"{"jobs":[{"type":"a","args":[]},{"type":"a","args":[],"unique":{"states":["x"]}}]}"#,
        r#"{"jobs":[{"type":"a","args":[],"x":"0123456789012345678901234567890123456789"}]}"#,
    ];
    insta::assert_snapshot!(table(&rows, |body| batch(body, &Intake::new(Media::Json, NOW), 64)));
    let many = format!(r#"{{"jobs":[{}0]}}"#, "0,".repeat(10_000));
    let many = super::read(many.as_bytes()).unwrap();
    assert_eq!(
        outcome(batch(&many, &Intake::new(Media::Json, NOW), 64)),
        "413 BATCH_SIZE_EXCEEDED: a batch may hold 10000 jobs, and this one has 10001"
    );
    let second = super::read(br#"{"jobs":[{"type":"a","args":[]},{"type":"a"}]}"#).unwrap();
    let details = batch(&second, &Intake::new(Media::Json, NOW), 64).unwrap_err().details;
    assert!(String::from_utf8(details).unwrap().ends_with(r#""index":1}"#));
}

#[test]
fn bulks_of_the_wrong_form_are_refused() {
    let rows = [
        "[]",
        r#"{"jobs":[]}"#,
        r#"{"jobs":1}"#,
        r#"{"jobs":[{"type":"a","args":[]}],"atomicty":"atomic"}"#,
        r#"{"jobs":[{"type":"a","args":[]}],"atomicity":"Atomic"}"#,
        r#"{"jobs":[{"type":"a","args":[]}],"atomicity":true}"#,
        r#"{"jobs":[{"type":"a","args":[]}],"idempotency_key":1}"#,
        r#"{"jobs":[{"type":"a","args":[]},{"type":"a"}],"atomicity":"atomic"}"#,
        r#"{"jobs":[{"type":"a","args":[]},{"type":"a"}],"atomicity":"partial"}"#,
    ];
    insta::assert_snapshot!(table(&rows, |body| bulk(body, &Intake::new(Media::Json, NOW), 64)));
    let many = format!(r#"{{"jobs":[{}0]}}"#, "0,".repeat(10_000));
    let many = super::read(many.as_bytes()).unwrap();
    assert_eq!(bulk(&many, &Intake::new(Media::Json, NOW), 64).unwrap_err().code, Code::BatchTooLarge);
}

#[test]
fn the_jobs_of_a_bulk_are_read_one_by_one() {
    let long = "x".repeat(64);
    let body = format!(
        r#"{{"jobs":[{{"type":"a","args":[]}},1,{{"type":"b","args":[]}},{{"type":"a","args":["{long}"]}}],"idempotency_key":"k"}}"#
    );
    let body = super::read(body.as_bytes()).unwrap();
    let Bulk { jobs, idempotency_key } = bulk(&body, &Intake::new(Media::Json, NOW), 64).unwrap();
    assert_eq!(idempotency_key.as_deref(), Some("k"));
    let BulkJobs::Each { drafts, faults } = jobs else { panic!("each for itself unless told") };
    let kinds: Vec<_> = drafts.iter().map(|draft| draft.spec.kind.as_str().to_owned()).collect();
    assert_eq!(kinds, ["a", "b"]);
    let faults: Vec<_> = faults.iter().map(|(index, fault)| (*index, fault.message.as_str())).collect();
    assert_eq!(
        faults,
        [(1, "jobs[1]: must be an object, not a number"), (3, "jobs[3]: is larger than 64 bytes")]
    );
}

#[test]
fn what_is_compared_pair_by_pair_is_bounded() {
    let names: Vec<String> = (0..257).map(|n| format!("\"x{n}\"")).collect();
    let attributes = names.iter().map(|name| format!("{name}:1")).collect::<Vec<_>>().join(",");
    assert_eq!(
        outcome(with(&attributes)),
        "400 invalid_request: x256: is one more than the 256 unknown attributes that a job may have"
    );
    let keys = names.join(",");
    assert_eq!(
        outcome(with(&format!(r#""unique":{{"keys":["args"],"args_keys":[{keys}]}}"#))),
        "400 invalid_request: unique.args_keys: must have at most 256 items"
    );
}
