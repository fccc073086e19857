//! Servers and their database die while workflows are worked off: each step runs to its end once, each callback that is
//! due comes once, and every workflow ends as its jobs did.
//!
//! Workers write down what they are about to report, report it, and write down the answer. A report without an answer
//! may have arrived.

mod book;
mod case;
mod check;
mod load;
mod record;
mod teeth;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use e2e::clock::{self, SOON};
use e2e::fleet::{Fleet, all_become, effort};
use e2e::{Random, Server};

use book::Book;
use load::Worker;

const CRASHES: usize = 10;
const STOPS: usize = 2;
const WORKERS: usize = 8;
/// A fault comes after a number of answers between these, so that faults fall everywhere.
const ANSWERS_MIN: usize = 60;
const ANSWERS_MAX: usize = 500;
/// So many answers have to come after a database is back.
const ANSWERS_AFTER: usize = 100;

#[test]
fn a_server_that_is_killed_carries_its_workflows_on() {
    let mut random = Random::seeded();
    let mut server = Server::start();
    let book = Book::default();
    let mut workers = workers(&mut random);
    for _ in 0..effort("HAPAX_WORKFLOW_CRASHES", CRASHES) {
        let answers = ANSWERS_MIN + random.below(ANSWERS_MAX - ANSWERS_MIN);
        let addresses = [server.address()];
        under_load(&book, &mut workers, &addresses, answers, || server.kill());
        server.start_again();
        check::resend(&mut server.client(), &book);
        check::compare(&mut server.client(), &book);
    }
    check::drain(&[server.address()], &book);
    server.crash_and_restart();
    check::everything(&mut server.client(), &book);
    book.counters.print();
    book.counters.every_sometimes_happened();
    book.counters.some_had_no_answer();
}

#[test]
fn a_database_that_stops_at_once_carries_its_workflows_on() {
    let mut random = Random::seeded();
    let fleet = Fleet::durable();
    let book = Book::default();
    let mut workers = workers(&mut random);
    let addresses: Vec<SocketAddr> = fleet.servers().iter().map(Server::address).collect();
    for _ in 0..effort("HAPAX_WORKFLOW_STOPS", STOPS) {
        let answers = ANSWERS_MIN + random.below(ANSWERS_MAX - ANSWERS_MIN);
        under_load(&book, &mut workers, &addresses, answers, || {
            fleet.cluster.stop_immediately().unwrap_or_else(|error| panic!("{error}"));
            all_become(fleet.servers(), "not ready", false);
            fleet.cluster.restart().unwrap_or_else(|error| panic!("{error}"));
            all_become(fleet.servers(), "ready", true);
            go_on(&book, ANSWERS_AFTER);
        });
        check::resend(&mut fleet.client(0), &book);
        check::compare(&mut fleet.client(1), &book);
    }
    check::drain(&addresses, &book);
    check::everything(&mut fleet.client(2), &book);
    book.counters.print();
    book.counters.every_sometimes_happened();
    assert_eq!(fleet.deadlocks(), 0);
}

fn workers(random: &mut Random) -> Vec<Worker> {
    (0..WORKERS).map(|number| Worker::new(number, random.bits())).collect()
}

/// Lets every worker work until so many answers have come, and then does something bad in the midst of it.
fn under_load(
    book: &Book,
    workers: &mut [Worker],
    addresses: &[SocketAddr],
    answers: usize,
    fault: impl FnOnce(),
) {
    let is_enough = AtomicBool::new(false);
    thread::scope(|scope| {
        for (worker, address) in workers.iter_mut().zip(addresses.iter().cycle()) {
            scope.spawn(|| worker.work(*address, book, &is_enough));
        }
        // Whatever goes wrong here, the workers must be let go.
        let _enough = Enough(&is_enough);
        go_on(book, answers);
        fault();
    });
}

struct Enough<'a>(&'a AtomicBool);

impl Drop for Enough<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Waits for so many more answers.
#[track_caller]
fn go_on(book: &Book, answers: usize) {
    let answered = || book.counters.answered.load(Ordering::Relaxed);
    let target = answered() + answers;
    clock::until("work goes on", SOON, || answered() >= target);
}
