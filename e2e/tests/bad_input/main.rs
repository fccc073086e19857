//! Requests that no client should send: each gets an answer it can use, nothing is stored, and the server
//! goes on.

mod bodies;
mod connections;
mod keys;
mod limits;
mod many;
mod members;
mod workers;

use e2e::{Client, Server, job};

/// Panics unless the default queue is empty and a good request is still served on the same connection.
#[track_caller]
fn nothing_was_stored(client: &mut Client) {
    for state in ["available", "scheduled", "pending", "active", "retryable", "completed", "discarded"] {
        assert_eq!(client.count("default", state), 0, "{state} jobs");
    }
    let id = client.create(&job("still.there"));
    client.cancel(&id).is(200);
}

/// A server and a client of it.
#[track_caller]
fn start() -> (Server, Client) {
    let server = Server::start();
    let client = server.client();
    (server, client)
}
