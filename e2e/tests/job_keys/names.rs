//! What may be a name, and whose name it is.

use e2e::{Server, job};
use serde_json::json;

use crate::digest;

const NAME_CHARS_MAX: usize = 512;

const ODD: [&str; 23] = [
    "a/b",
    "a%2Fb",
    "100 %",
    "%",
    "%zz",
    "..",
    ".",
    "a?b=c&d",
    "#",
    "+",
    "a b",
    " ",
    "\\",
    "\"",
    "{\"job_key\":1}",
    "line\nbreak",
    "tab\t",
    "ключ",
    "日本語",
    "\u{1f600}",
    "\u{200b}",
    "null",
    "nul\u{0}",
];

#[test]
fn any_text_is_a_name() {
    let server = Server::start();
    let mut client = server.client();
    for name in ODD {
        let answer = client.enqueue(&digest(name, json!(1)));
        assert_eq!(answer.is(201)["outcome"], "created", "{name:?}");
        assert_eq!(answer["job"]["job_key"], name);
        assert_eq!(client.enqueue(&digest(name, json!(2))).is(200).id(), answer.id(), "{name:?}");
    }
    for name in ODD {
        let answer = client.remove_job_key(name);
        assert_eq!(answer.is(200)["job_key"], name);
        assert_eq!(answer["removed"].as_array().map(Vec::len), Some(1), "{name:?}");
        client.remove_job_key(name).is_refusal(404, "not_found");
    }
}

#[test]
fn names_count_in_characters() {
    let server = Server::start();
    let mut client = server.client();
    for letter in ["x", "é", "\u{1f600}"] {
        let longest = letter.repeat(NAME_CHARS_MAX);
        client.create(&digest(&longest, json!(1)));
        client.remove_job_key(&longest).is(200);
        let longer = letter.repeat(NAME_CHARS_MAX + 1);
        let answer = client.enqueue(&digest(&longer, json!(1)));
        answer.is_refusal(400, "invalid_request");
        assert!(answer.message().contains("job_key"), "{}", answer.body);
        client.remove_job_key(&longer).is_refusal(400, "invalid_request");
    }
    client.enqueue(&digest("", json!(1))).is_refusal(400, "invalid_request");
}

#[test]
fn a_name_is_the_same_for_every_type_and_queue() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("mail.send").on("mail").job_key("name"));
    let answer = client.enqueue(&job("sms.send").on("sms").job_key("name"));
    assert_eq!(answer.is(200).id(), id);
    assert_eq!((&answer["job"]["type"], &answer["job"]["queue"]), (&json!("sms.send"), &json!("sms")));
    assert!(client.fetch("mail", 1).is_empty());
    assert_eq!(client.fetch_one("sms").id, id);
}

#[test]
fn names_differ_in_case_and_in_every_space() {
    let server = Server::start();
    let mut client = server.client();
    for name in ["name", "Name", "name ", " name", "nam\u{435}"] {
        client.create(&digest(name, json!(1)));
    }
}

#[test]
fn two_spellings_of_one_letter_are_one_name() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&digest("caf\u{e9}", json!(1)));
    assert_eq!(client.enqueue(&digest("cafe\u{301}", json!(2))).is(200).id(), id);
    client.remove_job_key("caf\u{e9}").is(200);
}

#[test]
fn a_job_without_a_name_is_nobodys_duplicate() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("mail.digest"));
    client.create(&digest("name", json!(1)));
    client.create(&job("mail.digest"));
    client.create(&job("mail.digest").with("job_key", json!(null)));
    assert_eq!(client.count("default", "available"), 4);
}
