//! What is written can be read, and so can what earlier versions wrote.

use hapax_core::unique::Key;
use hapax_core::{Fraction, Json};

use super::*;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + millis)
}

fn ledger() -> Ledger {
    let entry = |outcome, request_id| LedgerEntry { at: at(1), outcome, request_id };
    Ledger::restored(12, vec![entry("existing", None), entry("rejected", Some("r-1".into()))])
}

fn check(ledger: &Ledger, released: Option<&Release>, first_start: Option<Timestamp>) -> Option<String> {
    let text =
        write(Held { ledger, released, first_start, progress: None, checkpoint: None, begun_at: None });
    let read = read(text.as_deref()).unwrap();
    assert_eq!((&read.ledger, read.released.as_ref(), read.first_start), (ledger, released, first_start));
    text
}

#[test]
fn a_job_that_turned_nobody_away_and_kept_its_key_has_none() {
    assert_eq!(check(&Ledger::default(), None, None), None);
}

#[test]
fn each_part_stands_alone() {
    let start = at(0).millis();
    let text = check(&Ledger::default(), None, Some(at(0))).unwrap();
    assert_eq!(text, format!(r#"{{"count":0,"recent":[],"first_start":{start}}}"#));
    for by in Releaser::ALL {
        for reason in [None, Some("it \"hangs\"".into())] {
            let release = Release { at: at(2), key: Key::of_text("a"), by, reason };
            check(&Ledger::default(), Some(&release), None);
            check(&ledger(), Some(&release), Some(at(3)));
        }
    }
}

#[test]
fn what_a_worker_left_behind_comes_back_as_it_was() {
    let nothing = Ledger::default();
    let json = Json::from_trusted;
    for number in [0.0, 0.1 + 0.2, 1.0] {
        for (message, data) in
            [(None, None), (Some("half \"way\"\n".into()), Some(json("{\"b\":1.0,\"a\":1e3}")))]
        {
            let progress =
                Progress { value: Some(Fraction::clamped(number)), message, data, updated_at: at(5) };
            let checkpoint = Checkpoint {
                state: json("[1.0, \"\\u0000\", 12345678901234567890]"),
                notes: json("{\"step_index\":3}"),
                sequence: 7,
                saved_at: at(6),
            };
            let (progress, checkpoint) = (Some(&progress), Some(&checkpoint));
            let begun_at = Some(at(7));
            let held =
                Held { ledger: &nothing, released: None, first_start: None, progress, checkpoint, begun_at };
            let read = read(write(held).as_deref()).unwrap();
            assert_eq!((read.progress.as_ref(), read.checkpoint.as_ref()), (progress, checkpoint));
            assert_eq!(read.begun_at, begun_at);
        }
    }
}

#[test]
fn a_ledger_of_format_2_reads_as_it_was_written() {
    let at = at(1).millis();
    let text = format!(
        r#"{{"count":12,"recent":[{{"at":{at},"outcome":"existing"}},{{"at":{at},"outcome":"rejected","request_id":"r-1"}}]}}"#
    );
    assert_eq!(read(Some(&text)).unwrap().ledger, ledger());
}

#[test]
fn a_ledger_is_short() {
    let at = at(1).millis();
    let text = format!(r#"{{"count":12,"recent":[[{at},"e",null],[0,"r","r-1"]]}}"#);
    assert_eq!(check(&ledger(), None, None), Some(text));
}

#[test]
fn entries_of_any_order_and_outcome_come_back() {
    let outcomes = ["created", "replaced", "existing", "updated", "rejected"];
    let moments = [i64::MAX, i64::MIN, -1, 0, 1];
    let entries = outcomes.into_iter().zip(moments).map(|(outcome, millis)| LedgerEntry {
        at: Timestamp::from_millis(millis),
        outcome,
        request_id: Some("req_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f".into()),
    });
    check(&Ledger::restored(5, entries.collect()), None, None);
}

#[test]
fn what_nobody_wrote_is_damage() {
    for text in [
        r#"{"count":1,"recent":[{"at":1,"outcome":"vanished"}]}"#,
        r#"{"count":1,"recent":[[1,"v",null]]}"#,
        r#"{"count":1,"recent":[[1,"e","=short"]]}"#,
        r#"{"count":1,"recent":[[1]]}"#,
        r#"{"released":{"at":1,"key":"short","by":"operator"}}"#,
        r#"{"released":{"at":1}}"#,
        r#"{"from_the_future":1}"#,
        r#"{"progress":{"value":"1.5","at":1}}"#,
        r#"{"progress":{"data":"{","at":1}}"#,
        r#"{"checkpoint":{"state":"","sequence":1,"at":1}}"#,
    ] {
        assert!(read(Some(text)).is_err(), "{text}");
    }
}

#[test]
fn names_of_requests_are_escaped_where_they_have_to_be() {
    let id = "\"\\\n\u{1}é";
    let entry = LedgerEntry { at: at(1), outcome: "existing", request_id: Some(id.into()) };
    check(&Ledger::restored(1, vec![entry]), None, None);
}
