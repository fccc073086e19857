//! The shapes of bodies, by name: `components/schemas` of the document.
//!
//! Names, choices and bounds come from the types that the server reads and writes them with. A member that a reply has and
//! its shape does not makes `router/tests.rs` fail, for every exchange there is compared with the document.

mod admission;
mod agent;
mod cron;
mod dead_letter;
mod deed;
mod envelope;
mod error;
mod event;
mod history;
mod job;
mod key;
mod page;
mod pool;
mod progress;
mod queue;
mod rate_limit;
mod retry;
mod schema;
mod server;
mod unique;
mod webhook;
mod worker;
mod workflow;

use super::shape::{Shape, choice};

pub(super) use webhook::steps as delivery_steps;

/// A shape and its name.
pub(super) type Named = (&'static str, Shape);

/// All of them.
pub(super) fn all() -> impl Iterator<Item = Named> {
    let files = [
        error::shapes,
        job::shapes,
        envelope::shapes,
        retry::shapes,
        unique::shapes,
        admission::shapes,
        deed::shapes,
        key::shapes,
        progress::shapes,
        history::shapes,
        worker::shapes,
        queue::shapes,
        dead_letter::shapes,
        cron::shapes,
        workflow::shapes,
        event::shapes,
        webhook::shapes,
        agent::shapes,
        schema::shapes,
        pool::shapes,
        rate_limit::shapes,
        server::shapes,
        page::shapes,
    ];
    files.into_iter().flat_map(|shapes: fn() -> Vec<Named>| shapes())
}

/// One of the values of an enumeration, by their names.
fn one_of<T: Copy, const N: usize>(all: [T; N], name: impl Fn(T) -> &'static str) -> Shape {
    choice(all.map(name))
}
