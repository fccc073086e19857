//! Kill -9 under mixed load, many times: nothing acknowledged is lost, nothing finished comes back.
//!
//! Clients write down what they are about to ask, ask, and write down the answer. A request without an answer
//! is unknown: it may have happened. After every crash the book is compared with the server.

mod book;
mod check;
mod counters;
mod load;
mod order;
mod record;
mod teeth;

use std::sync::atomic::Ordering;
use std::thread;

use e2e::clock::{self, SOON};
use e2e::{Random, Server, crashes, database_lives_on};

use book::Book;
use load::Customer;

const CLIENTS: usize = 8;
/// A cycle ends after a number of answers between these, so that kills fall everywhere.
const ANSWERS_MIN: usize = 60;
const ANSWERS_MAX: usize = 900;
/// Jobs that are compared after each crash; at the end all are.
const SAMPLE: usize = 150;

#[test]
fn crashes_lose_nothing_and_bring_nothing_back() {
    let mut random = Random::seeded();
    let mut server = Server::start();
    let book = Book::default();
    let mut customers: Vec<Customer> =
        (0..CLIENTS).map(|number| Customer::new(number, random.bits())).collect();
    for _ in 0..crashes() {
        let answers = ANSWERS_MIN + random.below(ANSWERS_MAX - ANSWERS_MIN);
        under_load(&mut server, &book, &mut customers, answers);
        server.start_again();
        check::resend(&mut server.client(), &book);
        check::sample(&mut server.client(), &book, &mut random, SAMPLE);
        check::keys(&mut server.client(), &book, &mut random);
        check::updates(&mut server.client(), &customers);
    }
    check::drain(&mut server.client(), &book);
    server.crash_and_restart();
    check::everything(&server, &book);
    book.counters.print();
    // A database undoes what a dead client has begun as soon as it finds nobody to answer to. That it had just committed,
    // and the answer was not sent yet, is too rare to be waited for.
    let rare: &[&str] = if database_lives_on() { &["unknown_had_happened"] } else { &[] };
    book.counters.every_sometimes_happened_but(rare);
}

/// Lets every customer work until so many answers have come, then kills the server in the midst of it.
fn under_load(server: &mut Server, book: &Book, customers: &mut [Customer], answers: usize) {
    let target = book.counters.answered.load(Ordering::Relaxed) + answers;
    let address = server.address();
    thread::scope(|scope| {
        for customer in customers {
            scope.spawn(|| customer.work(address, book));
        }
        clock::until("the load goes on", SOON, || book.counters.answered.load(Ordering::Relaxed) >= target);
        server.kill();
    });
}
