//! Many clients race on a queue that takes only so many: never do more wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use e2e::{Client, Server, together};

use crate::{QUEUE, bound, patient, send, waiting};

const CLIENTS: usize = 50;
const MAX: u64 = 8;

/// Lets the clients work while somebody looks how many jobs wait, and somebody else may fetch some.
fn race<T: Send>(server: &Server, fetches: usize, work: impl Fn(&mut Client) -> T + Sync) -> Vec<T> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let looks = scope.spawn(|| {
            let (mut client, mut looks) = (server.client(), 0);
            while !is_over.load(Ordering::Relaxed) || looks == 0 {
                let waiting = waiting(&mut client);
                assert!(waiting <= MAX, "{waiting} wait where {MAX} may");
                looks += 1;
            }
        });
        let worker = scope.spawn(|| {
            let mut client = server.client();
            let mut left = fetches;
            while left > 0 {
                left -= client.fetch(QUEUE, left.min(3)).len();
            }
        });
        let outcomes = together(CLIENTS, |_| work(&mut server.client()));
        is_over.store(true, Ordering::Relaxed);
        for thread in [looks, worker] {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        outcomes
    })
}

#[test]
fn as_many_are_taken_as_there_is_room_for() {
    let server = Server::start();
    bound(&mut server.client(), MAX, "reject");
    let statuses = race(&server, 0, |client| send(client).status);
    let taken = statuses.iter().filter(|status| **status == 201).count() as u64;
    assert!(statuses.iter().all(|status| [201, 429].contains(status)), "{statuses:?}");
    assert_eq!((taken, waiting(&mut server.client())), (MAX, MAX));
}

#[test]
fn each_that_is_fetched_makes_room_for_one() {
    const FETCHES: usize = 20;
    let server = Server::start();
    bound(&mut server.client(), MAX, "reject");
    let taken: Vec<u64> =
        race(&server, FETCHES, |client| (0..30).map(|_| u64::from(send(client).status == 201)).sum());
    assert_eq!(taken.iter().sum::<u64>(), waiting(&mut server.client()) + FETCHES as u64);
    assert_eq!(server.client().count(QUEUE, "active"), FETCHES as u64);
}

#[test]
fn all_who_wait_get_in_one_after_the_other() {
    let server = Server::start();
    bound(&mut server.client(), MAX, "block");
    let statuses = race(&server, CLIENTS, |client| client.send(&patient("30")).status);
    assert_eq!(statuses, [201; CLIENTS]);
    assert_eq!(server.client().count(QUEUE, "active"), CLIENTS as u64);
}

#[test]
fn the_newest_stay() {
    const EACH: u64 = 4;
    let server = Server::start();
    bound(&mut server.client(), MAX, "drop_oldest");
    let statuses = race(&server, 0, |client| (0..EACH).map(|_| send(client).status).collect::<Vec<u16>>());
    assert!(statuses.iter().flatten().all(|status| *status == 201), "{statuses:?}");
    let mut client = server.client();
    assert_eq!(waiting(&mut client), MAX);
    assert_eq!(client.count(QUEUE, "discarded"), CLIENTS as u64 * EACH - MAX);
}
