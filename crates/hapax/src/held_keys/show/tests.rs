//! A key as it reads.

use super::*;

fn shown(json: &str) -> String {
    let now = Timestamp::parse("2026-03-01T12:31:00Z").unwrap();
    serde_json::from_str::<Carried>(json).unwrap().for_eyes(now)
}

#[test]
fn each_job_says_its_rule_and_until_when_it_holds_the_key() {
    let json = r#"{"key":"abcd","held":true,"holders_live":3,"holders_ended":9,"holders":[
        {"job_id":"4","type":"email.send","queue":"default","state":"active","created_at":"2026-03-01T12:30:00.000Z",
         "held":true,"unique":{"keys":["type"],"on_conflict":"ignore","period":"PT1H"},"duplicates":{"count":3},
         "free":{"at":"2026-03-01T13:30:00.000Z","states":["completed","cancelled"]}},
        {"job_id":"3","type":"email.send","queue":"default","state":"scheduled","created_at":"2026-03-01T12:29:00.000Z",
         "held":true,"unique":{"debounce":{"wait":"PT10S"}},"free":{"at":"2026-03-01T13:30:00.000Z"}},
        {"job_id":"2","type":"email.send","queue":"default","state":"available","created_at":"2026-03-01T12:28:00.000Z",
         "held":true,"job_key":"a\u0007b","unique":{"uniqueness_key":"abcd"},"free":{"states":["completed"]}},
        {"job_id":"1","type":"email.send","queue":"default","state":"completed","created_at":"2026-03-01T09:30:00.000Z",
         "held":false,"unique":{"on_conflict":"ignore","while_active":"queue_latest"}}]}"#;
    insta::assert_snapshot!(shown(json), @r#"
    held: abcd, the job key a\u{7}b
    12 jobs with this key, 3 live and 9 ended

    JOB  STATE      TYPE        QUEUE    CREATED                               HOLDS  DUPLICATES  RULE          UNTIL
    4    active     email.send  default  2026-03-01T12:30:00.000Z (60 s ago)   yes    3           ignore        2026-03-01T13:30:00.000Z (in 59 min), or completed, cancelled
    3    scheduled  email.send  default  2026-03-01T12:29:00.000Z (2 min ago)  yes    0           debounce      2026-03-01T13:30:00.000Z (in 59 min)
    2    available  email.send  default  2026-03-01T12:28:00.000Z (3 min ago)  yes    0           job_key       completed
    1    completed  email.send  default  2026-03-01T09:30:00.000Z (3 h ago)    no     0           queue_latest

    the newest 4; more with --limit
    "#);
}

#[test]
fn a_free_key_shows_who_had_it() {
    let json = r#"{"key":"abcd","held":false,"holders_live":0,"holders_ended":1,"holders":[
        {"job_id":"1","type":"report","queue":"q","state":"completed","created_at":"2026-03-01T09:30:00.000Z",
         "held":false}]}"#;
    insta::assert_snapshot!(shown(json), @r#"
    free: abcd
    1 job with this key, 0 live and 1 ended

    JOB  STATE      TYPE    QUEUE  CREATED                             HOLDS  DUPLICATES  RULE  UNTIL
    1    completed  report  q      2026-03-01T09:30:00.000Z (3 h ago)  no     0
    "#);
}
