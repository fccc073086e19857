//! Servers and their database die under load: nothing acknowledged is lost, nothing finished comes back.
//!
//! Clients write down what they ask and what is answered. What may or may not have happened they ask for again, under the
//! same key. After every fault the book is compared with the servers.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use e2e::clock::{self, SOON};
use e2e::fleet::{Fleet, SERVERS, all_become, effort};
use e2e::{Random, Server};

use crate::book::Book;
use crate::check;
use crate::load::Customer;

const STOPS: usize = 8;
const KILLS: usize = 12;
const CUSTOMERS: usize = 8 * SERVERS;
/// A fault comes after a number of answers between these, so that faults fall everywhere.
const ANSWERS_MIN: usize = 50;
const ANSWERS_MAX: usize = 400;
/// So many answers have to come after a fault.
const ANSWERS_AFTER: usize = 100;
/// Jobs that are compared after each fault; at the end all are.
const SAMPLE: usize = 150;

#[test]
fn a_database_that_stops_at_once_loses_nothing_and_the_servers_wait_for_it() {
    let stops = effort("HAPAX_FLEET_STOPS", STOPS);
    let mut fleet = Fleet::durable();
    under_faults(&mut fleet, stops, |fleet, _| {
        fleet.cluster.stop_immediately().unwrap_or_else(|error| panic!("{error}"));
        all_become(fleet.servers(), "not ready", false);
        fleet.cluster.restart().unwrap_or_else(|error| panic!("{error}"));
        all_become(fleet.servers(), "ready", true);
    });
    for number in 0..SERVERS {
        assert_eq!(fleet.server_mut(number).exit_status(), None, "a server ended with its database");
    }
}

#[test]
fn a_server_that_is_killed_loses_nothing_and_the_others_go_on() {
    let kills = effort("HAPAX_FLEET_KILLS", KILLS);
    let mut fleet = Fleet::durable();
    under_faults(&mut fleet, kills, |fleet, number| fleet.server_mut(number).kill());
}

/// So many times: lets every customer work, does something bad in the midst of it, sees that work goes on, and compares.
pub(crate) fn under_faults(fleet: &mut Fleet, times: usize, mut fault: impl FnMut(&mut Fleet, usize)) {
    let mut random = Random::seeded();
    let book = Book::default();
    let mut customers: Vec<Customer> =
        (0..CUSTOMERS).map(|number| Customer::new(number, random.bits())).collect();
    for number in 0..times {
        let answers = ANSWERS_MIN + random.below(ANSWERS_MAX - ANSWERS_MIN);
        let is_enough = AtomicBool::new(false);
        let addresses: Vec<SocketAddr> = fleet.servers().iter().map(Server::address).collect();
        thread::scope(|scope| {
            for (customer, address) in customers.iter_mut().zip(addresses.iter().cycle()) {
                scope.spawn(|| customer.work(*address, &book, &is_enough));
            }
            // Whatever goes wrong here, the customers must be let go.
            let _enough = Enough(&is_enough);
            go_on(&book, answers);
            fault(fleet, number);
            go_on(&book, ANSWERS_AFTER);
        });
        revive(fleet);
        check::after_fault(fleet, &book, &mut random, SAMPLE);
    }
    check::drain(fleet, &book);
    check::everything(fleet, &book);
    assert_eq!(fleet.deadlocks(), 0);
    eprintln!("{times} faults");
    book.counters.print();
    book.counters.every_sometimes_happened();
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

/// Starts those again that were killed.
fn revive(fleet: &mut Fleet) {
    for number in 0..SERVERS {
        let server = fleet.server_mut(number);
        if server.exit_status().is_some() {
            server.start_again();
        }
    }
}
