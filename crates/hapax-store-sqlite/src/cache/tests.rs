//! The shelves are bounded in bytes, whoever brought them.

use hapax_core::unique::{Key, Release, Releaser};
use hapax_core::{Failure, History, Json, Rules};

use super::*;
use crate::draft;

fn stored(seq: Seq) -> Stored {
    let incoming = draft::incoming(seq.unsigned_abs(), draft::spec());
    let admission = incoming.admit(Vec::new(), draft::at(0), &Rules::default()).unwrap();
    Stored { seq, turn: seq, job: admission.job }
}

fn failure(message: &str, details: &str, line: &str) -> Failure {
    Failure {
        attempt: 1,
        kind: "k".into(),
        code: "c".into(),
        message: message.into(),
        occurred_at: draft::at(0),
        retryable: None,
        details: Some(Json::from_trusted(details)),
        backtrace: vec![line.into()],
        overrun: None,
    }
}

fn failed(seq: Seq, message: &str) -> Stored {
    let mut stored = stored(seq);
    stored.job.history = History::restored(vec![failure(message, "[]", "here")], true);
    stored
}

#[test]
fn results_failures_and_reasons_count() {
    let mut job = stored(1);
    let plain = bytes(&job);
    job.job.phase = Phase::Completed { at: draft::at(1), result: Some(Json::from_trusted("[1,2,3]")) };
    assert_eq!(bytes(&job), plain + 7);
    job.job.history = History::restored(vec![failure("oops", "[10]", "here")], true);
    let failed = plain + 7 + 2 + 4 + 4 + 4 + size_of::<Box<str>>();
    assert_eq!(bytes(&job), failed);
    let (key, by) = (Key::of_text("a"), Releaser::Operator);
    job.job.released = Some(Release { at: draft::at(2), key, by, reason: Some("it hangs".into()) });
    assert_eq!(bytes(&job), failed + 8);
}

#[test]
fn a_shelf_of_failed_jobs_stays_within_its_bytes() {
    let message = "x".repeat(1 << 20);
    let mut shelf = Shelf::<1000>::default();
    for seq in 0..100 {
        shelf.insert(Arc::new(failed(seq, &message)));
        let held: usize = shelf.jobs.values().map(|stored| bytes(stored)).sum();
        assert_eq!(shelf.bytes, held);
        assert!(held <= SHELF_BYTES_MAX);
    }
    assert_eq!(shelf.jobs.len(), 31, "the newest that fit");
    assert!(shelf.jobs.contains_key(&99));
    // A job that grows while it is here, one that shrinks, and one that leaves.
    shelf.insert(Arc::new(failed(99, &message.repeat(2))));
    shelf.insert(Arc::new(stored(98)));
    shelf.remove(97);
    assert_eq!(shelf.bytes, shelf.jobs.values().map(|stored| bytes(stored)).sum::<usize>());
}
