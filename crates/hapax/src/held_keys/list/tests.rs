//! Lists of keys as they read.

use super::*;

fn key(digit: char) -> String {
    digit.to_string().repeat(64)
}

/// A page with these keys, and where it stands.
fn page(keys: &[String], held: u64, next_cursor: Option<&str>) -> Page {
    let next = next_cursor.map_or_else(String::new, |cursor| format!(r#","next_cursor":{cursor:?}"#));
    let json = format!(
        r#"{{"keys":[{}],"held":{held},"pagination":{{"has_more":{},"limit":50{next}}}}}"#,
        keys.join(","),
        next_cursor.is_some(),
    );
    serde_json::from_str(&json).unwrap()
}

fn held(digit: char, job_type: &str, more: &str) -> String {
    format!(
        r#"{{"key":"{}","job_id":"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0{digit}","type":"{job_type}","queue":"default",
            "state":"active","created_at":"2026-03-01T09:30:00.000Z","held_for_ms":10800000{more}}}"#,
        key(digit)
    )
}

fn shown(filter: &Filter, pages: &[Page]) -> String {
    let mut listing = Listing { filter, table: new_table(), shown: 0 };
    pages.iter().map(|page| listing.for_eyes(page)).collect()
}

#[test]
fn a_page_is_a_table_and_says_how_to_go_on() {
    let keys = [
        held('1', "email.send", r#","duplicates":{"count":12,"last_at":"2026-03-01T10:00:00.000Z"}"#),
        held('2', "report", r#","job_key":"nightly\u001b[2J 日報","duplicates":{"count":0}"#),
    ];
    insta::assert_snapshot!(shown(&Filter::default(), &[page(&keys, 7, Some("abc"))]), @r#"
    HELD FOR  STATE   TYPE        QUEUE    DUPLICATES  JOB                                   KEY                                                               JOB KEY
    3 h       active  email.send  default  12          019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e01  1111111111111111111111111111111111111111111111111111111111111111
    3 h       active  report      default  0           019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e02  2222222222222222222222222222222222222222222222222222222222222222  nightly\u{1b}[2J 日報

    2 keys of 7 that are held; the next page: --cursor abc, all pages: --all
    "#);
}

#[test]
fn all_pages_are_one_table() {
    let filter = Filter { all: true, ..Filter::default() };
    let pages =
        [page(&[held('1', "email.send", "")], 2, Some("abc")), page(&[held('2', "report", "")], 2, None)];
    insta::assert_snapshot!(shown(&filter, &pages), @r#"
    HELD FOR  STATE   TYPE        QUEUE    DUPLICATES  JOB                                   KEY                                                               JOB KEY
    3 h       active  email.send  default  0           019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e01  1111111111111111111111111111111111111111111111111111111111111111
    3 h       active  report      default  0           019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e02  2222222222222222222222222222222222222222222222222222222222222222

    2 keys of 2 that are held
    "#);
}

#[test]
fn an_empty_list_says_so() {
    assert_eq!(shown(&Filter::default(), &[page(&[], 0, None)]), "no key is held\n");
    assert_eq!(shown(&Filter::default(), &[page(&[], 7, None)]), "none of 7 that are held\n");
}

#[test]
fn a_filter_is_sent_to_the_server() {
    let filter = Filter {
        job_type: Some("email.send".into()),
        older_than: Some("P1D".into()),
        limit: Some(5),
        ..Filter::default()
    };
    let expected = keys().parameter("type", Some("email.send")).parameter("older_than", Some("P1D"));
    assert_eq!(
        path(&filter, Some("a b")),
        expected.parameter("limit", Some(5)).parameter("cursor", Some("a b"))
    );
    let all = Filter { all: true, ..Filter::default() };
    assert_eq!(path(&all, None), keys().parameter("limit", Some(1000)));
}
