//! Delivery over HTTP: nothing accepted is lost, one worker at a time, and the end is the end.

mod guarantees;
mod history;
mod idempotency;
mod leases;
mod long_poll;
mod on_the_way;
mod order;
mod restart;

use e2e::clock::{self, SOON};
use e2e::{Client, Delivery};

/// The next delivery from a queue on which a lease has to run out first.
#[track_caller]
fn redelivered(client: &mut Client, queue: &str) -> Delivery {
    clock::eventually("the lease runs out", SOON, || client.fetch(queue, 1).pop())
}
