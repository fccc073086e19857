//! Policies: what is refused in them, and the notations in which they come.

use hapax_core::unique::Strategy;
use hapax_core::{State, StateSet};

use super::*;

#[test]
fn retry_policies_of_the_wrong_form_are_validation_errors() {
    insta::assert_snapshot!(jobs_with(&[
        r#""retry":3"#,
        r#""retry":{"max_attempts":-1}"#,
        r#""retry":{"max_attempts":1.5}"#,
        r#""retry":{"max_attempts":"3"}"#,
        r#""retry":{"backoff_coefficient":0.5}"#,
        r#""retry":{"backoff_coefficient":"2"}"#,
        r#""retry":{"initial_interval":"1s"}"#,
        r#""retry":{"initial_interval":1}"#,
        r#""retry":{"initial_interval":"PT0S"}"#,
        r#""retry":{"initial_interval_ms":0}"#,
        r#""retry":{"max_interval":"PT"}"#,
        r#""retry":{"initial_interval":"PT10S","max_interval":"PT1S"}"#,
        r#""retry":{"jitter":1}"#,
        r#""retry":{"non_retryable_errors":"a"}"#,
        r#""retry":{"non_retryable_errors":[""]}"#,
        r#""retry":{"on_exhaustion":"deadletter"}"#,
        r#""retry":{"backoff_strategy":"expnential"}"#,
        r#""options":{"retry_policy":{"max_attempts":-1}}"#,
        r#""max_attempts":-1"#,
        r#""max_attempts":4,"retry":{"max_attempts":3}"#,
    ]));
}

#[test]
fn retry_policies_in_all_their_notations_are_understood() {
    let policy = |members: &str| with(members).unwrap().spec.retry;
    let seconds = std::time::Duration::from_secs;
    let long = policy(r#""retry":{"initial_interval":"PT10M"}"#);
    assert_eq!((long.initial_interval, long.max_interval), (seconds(600), seconds(600)));
    let millis = policy(r#""options":{"retry_policy":{"initial_interval_ms":2000,"max_interval_ms":4000}}"#);
    assert_eq!((millis.initial_interval, millis.max_interval), (seconds(2), seconds(4)));
    for name in ["backoff_strategy", "backoff_type", "strategy"] {
        let linear = policy(&format!(r#""retry":{{"{name}":"linear","initial_delay_ms":5}}"#));
        assert_eq!(linear.backoff, hapax_core::Backoff::Linear);
    }
    assert_eq!(policy(r#""retry":{"strategy":"none"}"#).backoff, hapax_core::Backoff::Constant);
    assert_eq!(policy(r#""retry":null,"max_attempts":7"#).max_attempts, 7);
    assert_eq!(policy(r#""retry":{"max_attempts":null,"jitter":null}"#), hapax_core::RetryPolicy::default());
}

#[test]
fn unique_policies_of_the_wrong_form_are_refused() {
    insta::assert_snapshot!(jobs_with(&[
        r#""unique":true"#,
        r#""unique":[]"#,
        r#""unique":{"kyes":["type"]}"#,
        r#""unique":{"argskeys":["u"]}"#,
        r#""unique":{"ttl":60}"#,
        r#""unique":{"keys":"type"}"#,
        r#""unique":{"keys":["argz"]}"#,
        r#""unique":{"keys":["Type"]}"#,
        r#""unique":{"keys":[1]}"#,
        r#""unique":{"keys":["args","args"]}"#,
        r#""unique":{"keys":["args"],"args_keys":[]}"#,
        r#""unique":{"keys":["args"],"args_keys":["missing"]}"#,
        r#""unique":{"keys":["args"],"args_keys":["2"]}"#,
        r#""unique":{"keys":["meta"]}"#,
        r#""unique":{"keys":["meta"],"meta_keys":[]}"#,
        r#""unique":{"keys":["meta"],"meta_keys":["missing"]}"#,
        r#""unique":{"meta_keys":[]}"#,
        r#""unique":{"args_keys":["u"]}"#,
        r#""unique":{"keys":["type","queue"],"args_keys":["u"]}"#,
        r#""unique":{"args_keys":[]}"#,
        r#""unique":{"keys":["args"],"meta_keys":["t"]}"#,
        r#""unique":{"key":"own","args_keys":["u"]}"#,
        r#""unique":{"key":["missing"]}"#,
        r#""unique":{"key":["meta"]}"#,
        r#""unique":{"key":""}"#,
        r#""unique":{"key":1}"#,
        r#""unique":{"key":[]}"#,
        r#""unique":{"key":["u"],"keys":["args"]}"#,
        r#""unique":{"period":0}"#,
        r#""unique":{"period":-5}"#,
        r#""unique":{"period":1.5}"#,
        r#""unique":{"period":"P"}"#,
        r#""unique":{"period":"PT"}"#,
        r#""unique":{"period":"PT0S"}"#,
        r#""unique":{"period":"1h"}"#,
        r#""unique":{"period":"Infinity"}"#,
        r#""unique":{"period":"INFINITY"}"#,
        r#""unique":{"period":"infinite"}"#,
        r#""unique":{"period":true}"#,
        r#""unique":{"period_from":"created"}"#,
        r#""unique":{"timestamp":"inserted"}"#,
        r#""unique":{"states":[]}"#,
        r#""unique":{"states":["avialable"]}"#,
        r#""unique":{"states":["active","active"]}"#,
        r#""unique":{"states":"incomplet"}"#,
        r#""unique":{"states":"completed"}"#,
        r#""unique":{"states":["incomplete","completed"]}"#,
        r#""unique":{"states":["active","all"]}"#,
        r#""unique":{"states":["scheduled"]}"#,
        r#""unique":{"states":7}"#,
        r#""unique":{"on_conflict":"rejct"}"#,
        r#""unique":{"on_conflict":null}"#,
        r#""unique":{"replace":true}"#,
        r#""unique":{"replace":[]}"#,
        r#""unique":{"replace":{}}"#,
        r#""unique":{"replace":["arg"]}"#,
        r#""unique":{"replace":{"schduled":["args"]}}"#,
        r#""unique":{"replace":{"scheduled":[]}}"#,
    ]));
}

#[test]
fn debouncing_and_queueing_of_the_wrong_form_are_refused() {
    insta::assert_snapshot!(jobs_with(&[
        r#""debounce":{"wait":"PT10S"}"#,
        r#""options":{"while_active":"queue_latest"}"#,
        r#""debounce":null,"while_active":null"#,
        r#""unique":{"debounce":"PT10S"}"#,
        r#""unique":{"debounce":{}}"#,
        r#""unique":{"debounce":{"wait":"PT10S","max_wiat":"PT1M"}}"#,
        r#""unique":{"debounce":{"delay":"PT10S"}}"#,
        r#""unique":{"debounce":{"wait":0}}"#,
        r#""unique":{"debounce":{"wait":"PT0S"}}"#,
        r#""unique":{"debounce":{"wait":"10s"}}"#,
        r#""unique":{"debounce":{"wait":true}}"#,
        r#""unique":{"debounce":{"wait":"infinity"}}"#,
        r#""unique":{"debounce":{"wait":10,"max_wait":"PT0S"}}"#,
        r#""unique":{"debounce":{"wait":10,"max_wait":1.5}}"#,
        r#""unique":{"debounce":{"wait":10,"max_wait":"infinity"}}"#,
        r#""unique":{"debounce":{"wait":10,"max_wait":null}}"#,
        r#""unique":{"debounce":{"wait":10},"on_conflict":"ignore"}"#,
        r#""unique":{"debounce":{"wait":10},"on_conflict":null}"#,
        r#""unique":{"debounce":{"wait":10},"replace":["args"]}"#,
        r#""unique":{"debounce":{"wait":10},"states":["available"]}"#,
        r#""unique":{"debounce":{"wait":10},"states":"all"}"#,
        r#""unique":{"debounce":{"wait":10}},"scheduled_at":"+PT1H""#,
        r#""unique":{"debounce":{"wait":10}},"options":{"delay_until":"+PT1H"}"#,
        r#""unique":{"debounce":{"wait":10}},"pending":true"#,
        r#""unique":{"debounce":{"wait":10}},"pending":false"#,
        r#""unique":{"while_active":true}"#,
        r#""unique":{"while_active":"queue_lastest"}"#,
        r#""unique":{"while_active":"queue_latest","replace":["args"]}"#,
        r#""unique":{"while_active":"queue_latest","states":["pending"]}"#,
        r#""unique":{"while_active":"queue_latest","period":60,"period_from":"scheduled_at"}"#,
        r#""unique":{"while_active":"queue_latest","states":["active"]}"#,
        r#""unique":{"while_active":"queue_latest"},"options":{"pending":true}"#,
        r#""unique":{"while_active":"queue_latest"},"scheduled_at":"+PT1H""#,
        r#""unique":{"while_active":"queue_latest","on_conflict":"ignore"}"#,
        r#""unique":{"while_active":"queue_latest","debounce":{"wait":10}}"#,
    ]));
}

#[test]
fn a_fault_of_a_policy_names_the_member_that_has_to_change() {
    for (members, field) in [
        (r#""states":[]"#, "unique.states"),
        (r#""period":"PT0S""#, "unique.period"),
        (r#""period_ms":0"#, "unique.period_ms"),
        (r#""period_ms":"PT1S""#, "unique.period_ms"),
        (r#""period_ms":1000,"period":"PT1S""#, "unique.period_ms"),
        (r#""key":"""#, "unique.key"),
        (r#""key":["missing"]"#, "unique.key"),
        (r#""keys":["args"],"args_keys":[]"#, "unique.args_keys"),
        (r#""keys":["args"],"args_keys":["missing"]"#, "unique.args_keys"),
        (r#""keys":["meta"]"#, "unique.meta_keys"),
        (r#""keys":["meta"],"meta_keys":["missing"]"#, "unique.meta_keys"),
        (r#""debounce":{"wait":"PT0S"}"#, "unique.debounce.wait"),
        (r#""debounce":{"wait":1,"max_wait":"PT0S"}"#, "unique.debounce.max_wait"),
        (r#""debounce":{"wait":1},"states":"all""#, "unique.states"),
        (r#""debounce":{"wait":1},"states":["active"]"#, "unique.states"),
        (r#""debounce":{"wait":1},"replace":["args"]"#, "unique.debounce"),
        (r#""while_active":"queue_latest","replace":["args"]"#, "unique.while_active"),
        (r#""while_active":"queue_latest","states":["active"]"#, "unique.states"),
    ] {
        let details = with(&format!(r#""unique":{{{members}}}"#)).unwrap_err().details;
        let details: serde_json::Value = serde_json::from_slice(&details).unwrap();
        assert_eq!(details["field"], field, "{members}");
    }
}

#[test]
fn unique_policies_in_all_their_notations_are_understood() {
    let policy = |members: &str| {
        let uniqueness = with(&format!(r#""unique":{{{members}}}"#)).unwrap().spec.unique.unwrap();
        uniqueness.policy().unwrap().clone()
    };
    assert_eq!(policy(""), hapax_core::unique::UniquePolicy::default());
    let python = policy(r#""key":["type","queue","args"],"states":["available","active","scheduled"]"#);
    assert!(python.dimensions.queue && python.dimensions.args && !python.dimensions.meta);
    let javascript = policy(r#""key":["u"],"period":"PT1H""#);
    assert!(javascript.dimensions.args);
    assert_eq!(javascript.args_keys, Some(vec!["u".into()]));
    assert_eq!(policy(r#""key":"own""#).key.as_deref(), Some("own"));
    assert_eq!(policy(r#""period":60"#).period, Some(std::time::Duration::from_mins(1)));
    assert_eq!(policy(r#""period_ms":1500"#).period, Some(std::time::Duration::from_millis(1500)));
    assert_eq!(policy(r#""period":"infinity""#).period, None);
    assert_eq!(policy(r#""period":null"#).period, None);
    assert_eq!(policy(r#""timestamp":"inserted_at""#).period_from, hapax_core::unique::Anchor::CreatedAt);
    assert_eq!(policy(r#""timestamp":"scheduled_at""#).period_from, hapax_core::unique::Anchor::ScheduledAt);
    assert_eq!(policy(r#""states":"all""#).states, StateSet::ALL);
    assert_eq!(policy(r#""states":"incomplete""#).states, StateSet::INCOMPLETE);
    assert_eq!(policy(r#""states":"successful""#).states, StateSet::SUCCESSFUL);
    assert_eq!(policy(r#""states":"scheduled""#).states, StateSet::of(&[State::Scheduled]));
    for word in ["ignore", "use_existing", "drop"] {
        assert_eq!(policy(&format!(r#""on_conflict":"{word}""#)).on_conflict, Strategy::Ignore);
    }
    let oban = policy(r#""replace":{"scheduled":["args","max_attempts"],"retryable":["priority"]}"#);
    assert_eq!(oban.replace.unwrap().fields(State::Retryable).iter().count(), 1);
    assert!(oban.replace.unwrap().fields(State::Available).is_empty());
    let seconds = std::time::Duration::from_secs;
    let debounce = policy(r#""debounce":{"wait":"PT10S","max_wait":60}"#).debounce.unwrap();
    assert_eq!((debounce.wait, debounce.max_wait), (seconds(10), Some(seconds(60))));
    assert_eq!(policy(r#""debounce":{"wait":10}"#).debounce.unwrap().max_wait, None);
    let latest = policy(r#""while_active":"queue_latest""#).while_active;
    assert_eq!(latest, Some(hapax_core::unique::WhileActive::QueueLatest));
    assert!(with(r#""unique":{"uniqueness_key":"x","duplicates":{"count":1}}"#).is_ok(), "as it was shown");
}
