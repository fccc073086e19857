//! The book itself: a comparison that accepts a bad server is worse than none.

use e2e::Delivery;
use serde_json::{Value, json};

use super::book::Book;
use super::case::{Case, Form};
use super::record::CalledOff;

const NAME: &str = "one";

fn book(form: Form, ill: Option<usize>) -> Book {
    let book = Book::default();
    book.intend(&Case { name: NAME.to_owned(), form, ill });
    book
}

fn delivery(step: usize, fence: u64, parent_results: &Value) -> Delivery {
    let args = json!([{"workflow": NAME, "step": step}]);
    let job = json!({"args": args, "workflow_id": "w", "parent_results": parent_results});
    Delivery { id: format!("job-{step}"), lease: String::new(), fence, job }
}

fn well(book: &Book, step: usize) {
    book.reports(NAME, step);
    book.ended(NAME, step);
}

#[test]
#[should_panic(expected = "acknowledged twice")]
fn a_step_that_ends_twice_is_found() {
    let book = book(Form::Chain, None);
    well(&book, 0);
    well(&book, 0);
}

#[test]
#[should_panic(expected = "had ended and was delivered")]
fn a_step_that_comes_back_is_found() {
    let book = book(Form::Chain, None);
    book.delivered(&delivery(0, 1, &Value::Null), book.moment());
    well(&book, 0);
    book.delivered(&delivery(0, 2, &Value::Null), book.moment());
}

#[test]
#[should_panic(expected = "came before the end of step 2")]
fn a_join_that_waits_for_one_branch_is_found() {
    let book = book(Form::Fork, None);
    well(&book, 0);
    well(&book, 1);
    book.delivered(&delivery(3, 1, &Value::Null), book.moment());
}

#[test]
#[should_panic(expected = "is skipped, and was delivered")]
fn a_callback_that_is_not_due_is_found() {
    let book = book(Form::Batch, Some(1));
    (0..3).for_each(|step| well(&book, step));
    book.delivered(&delivery(4, 1, &Value::Null), book.moment());
}

#[test]
#[should_panic(expected = "became two jobs")]
fn a_callback_that_comes_twice_is_found() {
    let book = book(Form::Batch, None);
    (0..3).for_each(|step| well(&book, step));
    let results: Value = (0..3)
        .map(|step| Case { name: NAME.to_owned(), form: Form::Batch, ill: None }.result(step))
        .collect();
    book.delivered(&delivery(3, 1, &results), book.moment());
    let again = Delivery { id: "another".to_owned(), ..delivery(3, 1, &results) };
    book.delivered(&again, book.moment());
}

#[test]
#[should_panic(expected = "was called off, and step 1 began")]
fn a_step_that_begins_after_the_end_is_found() {
    let book = book(Form::Chain, None);
    well(&book, 0);
    book.called_off(NAME, CalledOff::At(book.moment()));
    let results = json!([{"workflow": NAME, "step": 0}]);
    book.delivered(&delivery(1, 1, &results), book.moment());
}

#[test]
#[should_panic(expected = "was acknowledged")]
fn an_end_that_the_server_forgot_is_found() {
    let book = book(Form::Chain, None);
    well(&book, 0);
    let shown = json!({"steps": [{"state": "pending"}]});
    book.workflows()[NAME].agrees_with(&shown);
}
