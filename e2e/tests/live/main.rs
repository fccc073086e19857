//! Being told what happens, as it happens.

mod sdk;
mod shutdown;
mod sockets;
mod streams;
mod watching;

use e2e::Client;
use e2e::job;

/// A job on this queue from its enqueueing to its end.
fn life(client: &mut Client, queue: &str) -> String {
    let id = client.create(&job("a.b").on(queue));
    let delivery = client.fetch_one(queue);
    assert_eq!(delivery.id, id);
    client.ack(&delivery).is(200);
    id
}
