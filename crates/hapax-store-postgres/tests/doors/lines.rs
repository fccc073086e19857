//! Jobs with an ordering key: servers put them into their lines, and what SQL does to them keeps every line in order.

use hapax_core::JobId;

use crate::rig::Rig;
use crate::said::Said;

/// A line of jobs in both stores, each with these attributes besides.
fn line(rig: &mut Rig, jobs: &[&str]) -> Vec<JobId> {
    let make = |(index, more): (usize, &&str)| {
        let id = format!("01a31895-ca17-7000-8000-{:012x}", index + 1);
        let comma = if more.is_empty() { "" } else { "," };
        let job = format!(r#"{{"id":"{id}","type":"a.b","args":[1],"ordering_key":"k"{comma}{more}}}"#);
        let said = rig.enqueue_by_server(&job);
        assert!(matches!(said, Said::Done(..)), "{said:?}");
        id.parse().unwrap()
    };
    jobs.iter().enumerate().map(make).collect()
}

/// Runs what is left through both doors; who ran, in order.
fn run(rig: &mut Rig, known: &[JobId]) -> Vec<JobId> {
    let mut ran = Vec::new();
    while let Some((id, lease)) = rig.claim("default") {
        assert_eq!(rig.claim("default"), None, "nobody runs beside {id}");
        ran.push(id);
        if ran.len() % 2 == 0 {
            rig.fail(id, &lease, Some(r#"{"code":"DISCARD"}"#), false);
        } else {
            rig.complete(id, &lease, None);
        }
        rig.compare_all(known);
    }
    ran
}

#[test]
fn an_end_in_sql_lets_the_next_go() {
    let mut rig = Rig::new();
    let ids = line(&mut rig, &[""; 4]);
    assert_eq!(run(&mut rig, &ids), ids);
}

#[test]
fn a_retry_in_sql_holds_the_others_back() {
    let mut rig = Rig::new();
    let ids = line(&mut rig, &[""; 2]);
    let (id, lease) = rig.claim("default").unwrap();
    rig.fail(id, &lease, None, false);
    assert_eq!(rig.claim("default"), None);
    rig.compare_all(&ids);
    rig.pass(60_000);
    rig.advance();
    assert_eq!(run(&mut rig, &ids), ids);
}

#[test]
fn jobs_that_are_replaced_in_sql_hand_their_places_on() {
    let replaced = r#""unique":{"keys":["type"],"states":["completed"]}"#;
    for jobs in [["", replaced, replaced, "", replaced, ""], [replaced, replaced, "", replaced, "", ""]] {
        let mut rig = Rig::new();
        let mut ids = line(&mut rig, &jobs);
        let left: Vec<JobId> =
            ids.iter().zip(jobs).filter(|(_, more)| more.is_empty()).map(|(id, _)| *id).collect();
        let new = "01a31895-ca17-7000-8000-0000000000ff";
        rig.enqueue(&format!(
            r#"{{"id":"{new}","type":"a.b","args":[],"queue":"other","unique":{{"keys":["type"],"on_conflict":"replace"}}}}"#
        ));
        ids.push(new.parse().unwrap());
        rig.compare_all(&ids);
        assert_eq!(run(&mut rig, &ids), left);
    }
}

#[test]
fn a_job_whose_key_is_removed_in_sql_hands_its_place_on() {
    let mut rig = Rig::new();
    let ids = line(&mut rig, &["", r#""job_key":"j""#, ""]);
    rig.remove("j");
    rig.compare_all(&ids);
    assert_eq!(run(&mut rig, &ids), [ids[0], ids[2]]);
    let mut rig = Rig::new();
    let ids = line(&mut rig, &[r#""job_key":"j""#, ""]);
    rig.remove("j");
    assert_eq!(run(&mut rig, &ids), [ids[1]]);
}

#[test]
fn a_job_in_a_line_is_not_moved_by_sql() {
    let mut rig = Rig::new();
    let ids = line(&mut rig, &["", r#""job_key":"j""#, r#""unique":{"keys":["type"]}"#]);
    let update = r#"{"id":"01a31895-ca17-7000-8000-0000000000ff","type":"a.b","args":[],"job_key":"j"}"#;
    assert!(matches!(rig.enqueue(update), Said::Refused(code, ..) if code == "conflict"));
    let fields = r#"{"id":"01a31895-ca17-7000-8000-0000000000ff","type":"a.b","args":[2],"queue":"b","unique":{"keys":["type"],"replace":["args","queue"]}}"#;
    assert!(matches!(rig.enqueue(fields), Said::Refused(code, ..) if code == "conflict"));
    let args = r#"{"id":"01a31895-ca17-7000-8000-0000000000ff","type":"a.b","args":[2],"queue":"b","unique":{"keys":["type"],"replace":["args"]}}"#;
    assert!(matches!(rig.enqueue(args), Said::Done(..)), "its arguments may change");
    rig.compare_all(&ids);
    assert_eq!(run(&mut rig, &ids), ids);
}

#[test]
fn a_key_that_sql_takes_away_lets_nobody_overtake() {
    let mut rig = Rig::new();
    let mut ids = line(&mut rig, &[r#""job_key":"j""#, ""]);
    let (id, lease) = rig.claim("default").unwrap();
    let new =
        r#"{"id":"01a31895-ca17-7000-8000-0000000000ff","type":"a.b","args":[],"queue":"b","job_key":"j"}"#;
    rig.enqueue(new);
    ids.push("01a31895-ca17-7000-8000-0000000000ff".parse().unwrap());
    rig.compare_all(&ids);
    assert_eq!(rig.claim("default"), None);
    rig.complete(id, &lease, None);
    assert_eq!(run(&mut rig, &ids), [ids[1]]);
}

#[test]
fn a_job_that_was_given_up_leaves_its_line_by_an_update_in_sql() {
    let mut rig = Rig::new();
    let ids = line(&mut rig, &[r#""job_key":"j""#, ""]);
    let (id, lease) = rig.claim("default").unwrap();
    rig.fail(id, &lease, Some(r#"{"code":"DISCARD"}"#), false);
    rig.enqueue(
        r#"{"id":"01a31895-ca17-7000-8000-0000000000ff","type":"a.b","args":[],"queue":"b","job_key":"j"}"#,
    );
    rig.compare_all(&ids);
    assert_eq!(run(&mut rig, &ids), [ids[1]]);
}

#[test]
fn sql_does_not_put_jobs_into_lines() {
    let rig = Rig::new();
    let job = r#"{"type":"a.b","args":[],"options":{"ordering_key":"k"}}"#;
    let said = rig.sql("SELECT hapax.enqueue($1::text::jsonb)::text", &[&job]);
    let Said::Refused(code, message, ..) = &said else { panic!("{said:?}") };
    assert_eq!(code, "unsupported");
    assert!(message.contains("options.ordering_key") && message.contains("POST /ojs/v1/jobs"), "{message}");
}
