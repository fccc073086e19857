//! What is written can be read, and so can what earlier versions wrote.

use std::time::Duration;

use super::*;

fn check(uniqueness: impl Into<Uniqueness>, text: &str) {
    let uniqueness = uniqueness.into();
    assert_eq!(write(&uniqueness), text);
    assert_eq!(read(text).unwrap(), uniqueness, "{text}");
}

#[test]
fn a_job_key_is_its_name_and_its_mode() {
    let job_key = |mode| Uniqueness::JobKey(JobKey { name: "a \"b\"".into(), mode });
    check(job_key(JobKeyMode::Replace), r#"{"job_key":"a \"b\"","mode":"replace"}"#);
    check(job_key(JobKeyMode::PreserveRunAt), r#"{"job_key":"a \"b\"","mode":"preserve_run_at"}"#);
    check(job_key(JobKeyMode::UnsafeDedupe), r#"{"job_key":"a \"b\"","mode":"unsafe_dedupe"}"#);
}

#[test]
fn a_policy_is_what_differs_from_the_default() {
    check(UniquePolicy::default(), "{}");
    let wait = Duration::from_secs(5);
    let debounce =
        |max_wait| UniquePolicy { debounce: Some(Debounce { wait, max_wait }), ..UniquePolicy::default() };
    check(debounce(None), r#"{"debounce":{"wait_ms":5000}}"#);
    check(debounce(Some(wait * 2)), r#"{"debounce":{"wait_ms":5000,"max_wait_ms":10000}}"#);
    let while_active = Some(WhileActive::QueueLatest);
    check(UniquePolicy { while_active, ..UniquePolicy::default() }, r#"{"while_active":"queue_latest"}"#);
}

#[test]
fn a_policy_of_format_1_reads_as_it_was_written() {
    let args = FieldSet::default().with(Field::Args);
    let policy = UniquePolicy {
        dimensions: Dimensions { queue: true, args: true, meta: true },
        args_keys: Some(vec!["user".into()]),
        meta_keys: Some(vec!["tenant".into()]),
        key: Some("own".into()),
        period: Some(Duration::from_mins(1)),
        period_from: Anchor::FinishedAt,
        states: StateSet::of(&[State::Active, State::Completed]),
        on_conflict: Strategy::Replace,
        replace: Some(Replacement::default().with(State::Active, args)),
        ..UniquePolicy::default()
    };
    check(
        policy,
        r#"{"keys":["queue","args","meta"],"args_keys":["user"],"meta_keys":["tenant"],"key":"own","period_ms":60000,"period_from":"finished_at","states":["active","completed"],"on_conflict":"replace","replace":{"active":["args"]}}"#,
    );
}

#[test]
fn half_a_job_key_and_both_forms_at_once_are_damage() {
    for text in [
        r#"{"job_key":"a"}"#,
        r#"{"mode":"replace"}"#,
        r#"{"job_key":"a","mode":"sometimes"}"#,
        r#"{"job_key":"a","mode":"replace","keys":["args"]}"#,
        r#"{"debounce":{"wait_ms":-1}}"#,
        r#"{"debounce":{}}"#,
        r#"{"while_active":"always"}"#,
        r#"{"from_the_future":1}"#,
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}
