//! What events about requests for many jobs say.

use hapax_broker::{BulkFact, BulkWish};
use hapax_core::State;
use hapax_wire::writer::Object;

/// The members of `data` (Bulk Operations 12.1).
pub(super) fn data(o: &mut Object<'_>, fact: &BulkFact) {
    let BulkFact { wish, total, done } = *fact;
    let rest = total - done.min(total);
    let (done_as, rest_as) = match wish {
        BulkWish::EnqueueEach | BulkWish::EnqueueAll => ("succeeded", "failed"),
        BulkWish::Cancel => (State::Cancelled.name(), "skipped"),
        BulkWish::Retry => ("retried", "skipped"),
        BulkWish::Delete => ("deleted", "skipped"),
    };
    o.number("total", total);
    o.number(done_as, done);
    o.number(rest_as, rest);
    match wish {
        BulkWish::EnqueueEach => o.text("atomicity", "partial"),
        BulkWish::EnqueueAll => o.text("atomicity", "atomic"),
        BulkWish::Cancel | BulkWish::Retry | BulkWish::Delete => {}
    }
}
