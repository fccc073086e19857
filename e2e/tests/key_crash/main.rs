//! Kill -9 under a load of every strategy, many times: every held key has its holder, and every ledger counts
//! what was answered. A request without an answer may have added one.

mod book;
mod check;
mod load;
mod strategy;

use std::sync::atomic::Ordering;
use std::thread;

use e2e::clock::{self, SOON};
use e2e::{Random, Server, crashes};

use book::Book;

const CLIENTS: usize = 8;
/// A cycle ends after a number of answers between these, so that kills fall everywhere.
const ANSWERS_MIN: usize = 50;
const ANSWERS_MAX: usize = 600;

#[test]
fn crashes_leave_no_key_without_its_holder_and_no_ledger_with_a_wrong_count() {
    let mut random = Random::seeded();
    let mut server = Server::start();
    let book = Book::default();
    let mut seeds: Vec<Random> = (0..CLIENTS).map(|_| Random::new(random.bits())).collect();
    for _ in 0..crashes() {
        let answers = ANSWERS_MIN + random.below(ANSWERS_MAX - ANSWERS_MIN);
        let target = book.answered.load(Ordering::Relaxed) + answers;
        let address = server.address();
        thread::scope(|scope| {
            for seed in &mut seeds {
                scope.spawn(|| load::work(seed, address, &book));
            }
            clock::until("the load goes on", SOON, || book.answered.load(Ordering::Relaxed) >= target);
            server.kill();
        });
        server.start_again();
        check::recent_ledgers(&mut server.client(), &book);
        check::held_keys(&mut server.client());
        check::one_runs_one_waits(&mut server.client());
    }
    check::all_ledgers(&mut server.client(), &book);
    book.every_outcome_was_seen();
}
