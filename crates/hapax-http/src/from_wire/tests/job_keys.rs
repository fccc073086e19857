//! Job keys, and jobs that are sent back as they were read.

use hapax_core::unique::{JobKeyMode, Uniqueness};

use super::*;

#[test]
fn job_keys_of_the_wrong_form_are_refused() {
    let long = format!(r#""job_key":"{}""#, "é".repeat(513));
    insta::assert_snapshot!(jobs_with(&[
        r#""job_key":"""#,
        r#""job_key":7"#,
        r#""job_key":null"#,
        r#""job_key":"abc","job_key_mode":"preserve_runat""#,
        r#""job_key":"abc","job_key_mode":1"#,
        r#""job_key":"abc","job_key_mode":null"#,
        r#""job_key_mode":"replace""#,
        r#""options":{"job_key_mode":"replace"}"#,
        r#""job_key":"abc","unique":{}"#,
        r#""job_key":"abc","options":{"unique":{"on_conflict":"ignore"}}"#,
        r#""job_key":"abc","unique":null"#,
        r#""job_key":"abc","options":{"job_key":"abd"}"#,
        r#""job_key":"abc","pending":true"#,
        r#""job_key":"abc","job_key_mode":"preserve_run_at","pending":true"#,
        r#""job_key":"abc","job_key_mode":"preserve""#,
        &long,
    ]));
    assert!(with(&format!(r#""job_key":"{}""#, "é".repeat(512))).is_ok());
    assert_eq!(outcome(job_key("")), "400 invalid_request: path: a job key must not be empty");
    assert!(job_key(&"x".repeat(513)).is_err());
}

#[test]
fn job_keys_in_all_their_notations_are_understood() {
    let read = |members: &str| {
        let draft = with(members).unwrap();
        let Some(Uniqueness::JobKey(job_key)) = draft.spec.unique else { panic!("{members}") };
        assert_eq!(draft.key, Some(super::job_key(&job_key.name).unwrap()));
        (job_key.name.to_string(), job_key.mode)
    };
    assert_eq!(read(r#""job_key":"a b""#), ("a b".to_owned(), JobKeyMode::Replace));
    for mode in JobKeyMode::ALL {
        let members = format!(r#""options":{{"job_key":"é","job_key_mode":"{}"}}"#, mode.name());
        assert_eq!(read(&members), ("é".to_owned(), mode));
    }
    let node = super::super::read(br#"{"type":"a","args":[],"job_key":"abc"}"#).unwrap();
    let canonical = job(&node, &Intake::new(Media::Json, NOW)).unwrap().canonical;
    assert_eq!(canonical.as_deref(), Some(r#"{"job_key":"abc"}"#));
}

#[test]
fn a_job_that_is_sent_back_as_it_was_read_means_the_same() {
    let unique = |members: &str| with(members).unwrap().spec.unique;
    let with_key = unique(
        r#""job_key":"abc","job_key_mode":"replace","unique":{"uniqueness_key":"x","duplicates":{"count":1}}"#,
    );
    assert!(matches!(with_key, Some(Uniqueness::JobKey(_))));
    assert_eq!(unique(r#""unique":{"released":{"by":"operator"},"duplicates":{"count":1}}"#), None);
    let policy = unique(r#""unique":{"keys":["type"],"released":{"by":"operator"}}"#);
    assert!(matches!(policy, Some(Uniqueness::Policy(_))));
    let successor = unique(r#""unique":{"keys":["type"],"while_active":"queue_latest","waits_for":"x"}"#);
    assert!(matches!(successor, Some(Uniqueness::Policy(_))));

    let debounced = with(
        r#""scheduled_at":"2027-01-15T08:00:10.000Z","unique":{"debounce":{"wait":"PT10S"},"first_start":"2027-01-15T08:00:10.000Z"}"#,
    );
    assert_eq!(debounced.unwrap().spec.scheduled_at, None, "debounce decides anew");
}
