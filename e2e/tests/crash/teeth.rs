//! The book itself: a comparison that accepts a bad server is worse than none.

use e2e::Delivery;
use serde_json::{Value, json};

use crate::book::Book;
use crate::record::Record;

const ID: &str = "01912345-6789-7abc-8def-0123456789ab";

fn shown(state: &str, attempt: u64) -> Value {
    json!({"id": ID, "state": state, "attempt": attempt})
}

fn delivery(fence: u64) -> Delivery {
    Delivery { id: ID.to_owned(), lease: String::new(), fence, job: shown("active", fence) }
}

fn accepted() -> Book {
    let book = Book::default();
    book.accepted(ID);
    book
}

#[test]
#[should_panic(expected = "is lost")]
fn an_accepted_job_that_is_gone_is_found() {
    accepted().is_absent(ID);
}

#[test]
#[should_panic(expected = "was refused and exists")]
fn a_refused_job_that_exists_is_found() {
    let book = Book::default();
    book.jobs().insert(ID.to_owned(), Record::new(None));
    book.is_absent(ID);
    book.exists(ID, &shown("available", 0));
}

#[test]
#[should_panic(expected = "was completed")]
fn a_finished_job_that_waits_again_is_found() {
    let book = accepted();
    book.ended(ID, "completed");
    book.exists(ID, &shown("available", 1));
}

#[test]
#[should_panic(expected = "and then delivered")]
fn a_finished_job_that_is_delivered_is_found() {
    let book = accepted();
    book.ended(ID, "cancelled");
    book.delivered(&delivery(1), book.moment());
}

#[test]
#[should_panic(expected = "and then cancelled")]
fn a_job_that_ends_twice_is_found() {
    let book = accepted();
    book.ended(ID, "completed");
    book.ended(ID, "cancelled");
}

#[test]
#[should_panic(expected = "nobody asked for the end")]
fn a_job_that_ended_by_itself_is_found() {
    accepted().exists(ID, &shown("cancelled", 0));
}

#[test]
#[should_panic(expected = "the fence went from 2 to 1")]
fn a_fence_that_goes_back_is_found() {
    let book = accepted();
    book.delivered(&delivery(2), book.moment());
    book.delivered(&delivery(1), book.moment());
}

#[test]
#[should_panic(expected = "twice with the fence 1")]
fn a_fence_that_is_given_twice_is_found() {
    let book = accepted();
    book.delivered(&delivery(1), book.moment());
    book.delivered(&delivery(1), book.moment());
}

#[test]
#[should_panic(expected = "was delivered with the fence 3")]
fn a_delivery_that_was_forgotten_is_found() {
    let book = accepted();
    book.delivered(&delivery(3), book.moment());
    book.exists(ID, &shown("available", 2));
}

#[test]
fn what_may_have_happened_is_accepted_once() {
    let book = accepted();
    book.may_have_ended(ID, "completed");
    book.exists(ID, &shown("active", 1));
    book.exists(ID, &shown("completed", 1));
    book.exists(ID, &shown("completed", 1));
}
