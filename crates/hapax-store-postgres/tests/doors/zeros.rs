//! Zero characters, which JSON may hold and text of the database may not: what a server accepted, SQL can work with.

use hapax_core::JobId;
use serde_json::json;

use crate::rig::Rig;
use crate::said::Said;

const ID: &str = "01a31895-ca17-7000-8000-000000000001";

/// A key that only a server can compute, and one that SQL can name as well.
const BEYOND_SQL: &str = r#"{"keys":["type"],"key":"\u0000k"}"#;
const PLAIN: &str = r#"{"keys":["type"]}"#;

/// A job with a zero character wherever a client may write one.
fn stored(rig: &mut Rig, unique: &str) -> JobId {
    let job = format!(
        r#"{{"id":"{ID}","type":"a.b","args":["\u0000"],"meta":{{"\u0000":"\u0000"}},"x_other":"\u0000",
            "tags":["a\u0000"],"schema":"urn:\u0000","timeout":60,
            "retry":{{"max_attempts":3,"non_retryable_errors":["\u0000e"]}},
            "unique":{unique}}}"#
    );
    let said = rig.enqueue_by_server(&job);
    assert!(matches!(said, Said::Done(..)), "{said:?}");
    ID.parse().unwrap()
}

/// Takes the job, and has its attempt fail over HTTP with zero characters in everything that is said of it.
fn failed_once(rig: &mut Rig, unique: &str) -> JobId {
    let id = stored(rig, unique);
    let (claimed, lease) = rig.claim("default").unwrap();
    assert_eq!(claimed, id);
    let error = r#"{"type":"E\u0000","code":"c\u0000","message":"m\u0000","details":{"\u0000":"\u0000"},"backtrace":["\u0000"]}"#;
    let said = rig.fail_by_server(&format!(r#"{{"job_id":"{id}","lease":"{lease}","error":{error}}}"#));
    assert!(matches!(said, Said::Done(..)), "{said:?}");
    rig.pass(600_000);
    rig.advance();
    id
}

#[test]
fn they_do_not_stand_in_the_way_of_an_end() {
    let mut rig = Rig::new();
    let id = failed_once(&mut rig, BEYOND_SQL);
    let (_, lease) = rig.claim("default").unwrap();
    let complete = "SELECT hapax.complete($1::text::uuid, $2, NULL)::text";
    let said = rig.sql(complete, &[&id.to_string(), &lease]);
    assert_eq!(said.at("/state"), Some(&json!("completed")), "{said:?}");
}

#[test]
fn nor_of_a_failure() {
    let mut rig = Rig::new();
    let id = failed_once(&mut rig, BEYOND_SQL);
    let (_, lease) = rig.claim("default").unwrap();
    let fail = r#"SELECT hapax.fail($1::text::uuid, $2, '{"type":"F","message":"m"}'::jsonb, false)::text"#;
    let said = rig.sql(fail, &[&id.to_string(), &lease]);
    assert_eq!(said.at("/state"), Some(&json!("retryable")), "{said:?}");
}

#[test]
fn nor_of_a_duplicate() {
    let ways = [
        (r#""on_conflict":"ignore""#, "existing"),
        (r#""on_conflict":"replace""#, "replaced"),
        (r#""on_conflict":"replace_except_schedule""#, "replaced"),
        (r#""replace":["args","tags"]"#, "updated"),
    ];
    for (way, outcome) in ways {
        let mut rig = Rig::new();
        failed_once(&mut rig, PLAIN);
        let job = format!(r#"{{"type":"a.b","args":[],"unique":{{"keys":["type"],{way}}}}}"#);
        let said = rig.sql("SELECT hapax.enqueue($1::text::jsonb)::text", &[&job]);
        assert_eq!(said.at("/outcome"), Some(&json!(outcome)), "{way}: {said:?}");
    }
}
