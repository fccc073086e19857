//! Ledgers: what a holder turned away.

use hapax_core::unique::{Field, FieldSet, RECENT_KEPT, Replacement, Strategy};
use hapax_core::{Event, JobId, StateSet};

use super::bench::{Bench, HOUR, SECOND};
use super::draft::unique;

/// The outcomes that a holder's ledger shows.
fn outcomes(bench: &Bench, holder: JobId) -> Vec<&'static str> {
    bench.job(holder).ledger.recent().iter().map(|entry| entry.outcome).collect()
}

pub(super) fn a_holder_notes_every_job_that_it_stood_against(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    let args = Replacement::everywhere(FieldSet::default().with(Field::Args));
    bench.enqueue(unique("k"));
    bench.enqueue(unique("k").on_conflict(Strategy::Ignore));
    bench.enqueue(unique("k").replacing(args));
    assert_eq!(outcomes(bench, holder), ["rejected", "existing", "updated"]);
    assert_eq!(bench.job(holder).ledger.count(), 3);
}

pub(super) fn an_entry_says_when_and_by_which_request(bench: &mut Bench) {
    let holder = bench.create(unique("k").request("first"));
    bench.pass(SECOND);
    bench.enqueue(unique("k").request("second"));
    bench.pass(SECOND);
    bench.enqueue(unique("k"));
    let ledger = bench.job(holder).ledger;
    assert_eq!(ledger.recent()[0].request_id.as_deref(), Some("second"));
    assert_eq!(ledger.recent()[0].at, bench.now - SECOND);
    assert_eq!(ledger.recent()[1].request_id, None);
    assert_eq!(ledger.last_at(), Some(bench.now));
}

pub(super) fn a_ledger_counts_all_and_shows_the_newest(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    for number in 0..25 {
        bench.enqueue(unique("k").request(&number.to_string()));
    }
    bench.reopen();
    let ledger = bench.job(holder).ledger;
    assert_eq!(ledger.count(), 25);
    assert_eq!(ledger.recent().len(), RECENT_KEPT);
    assert_eq!(ledger.recent()[0].request_id.as_deref(), Some("15"));
    assert_eq!(ledger.recent()[RECENT_KEPT - 1].request_id.as_deref(), Some("24"));
}

pub(super) fn a_ledger_stays_with_the_job_through_its_life(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    bench.enqueue(unique("k"));
    let running = bench.fetch_one();
    bench.enqueue(unique("k"));
    bench.fail(&running).unwrap();
    bench.enqueue(unique("k"));
    bench.pass(HOUR);
    bench.advance();
    bench.complete_one();
    bench.enqueue(unique("k").states(StateSet::ALL));
    assert_eq!(bench.job(holder).ledger.count(), 4);
}

pub(super) fn a_holder_that_is_replaced_notes_nothing(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    let next = bench.enqueue(unique("k").on_conflict(Strategy::Replace)).job.id;
    assert_eq!([holder, next].map(|id| bench.job(id).ledger.count()), [0, 0]);
}

pub(super) fn a_job_that_follows_starts_with_an_empty_ledger(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    bench.enqueue(unique("k"));
    bench.step(holder, Event::Cancel).unwrap();
    let next = bench.create(unique("k"));
    assert_eq!(bench.job(next).ledger.count(), 0);
    assert_eq!(bench.job(holder).ledger.count(), 1);
}
