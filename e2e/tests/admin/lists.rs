//! Finding jobs.

use e2e::{Client, Server, job};
use serde_json::json;

use crate::ids;

/// All jobs that fit, part by part.
fn walk(client: &mut Client, query: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let answer = client.get(&format!("/ojs/v1/admin/jobs?per_page=3&{query}{cursor}"));
        found.extend(ids(answer.is(200)));
        match answer["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

#[test]
fn jobs_are_found_by_what_they_are_also_after_a_restart() {
    let mut server = Server::start();
    let mut client = server.client();
    let jobs: Vec<_> =
        (0..10).map(|n| job(if n % 2 == 0 { "mail.send" } else { "mail.check" }).on("mail")).collect();
    client.batch(&jobs).is(201);
    let other = client.create(&job("report"));
    let taken = client.fetch("mail", 3);
    client.ack(&taken[0]).is(200);
    server.crash_and_restart();
    let mut client = server.client();
    assert_eq!(walk(&mut client, "queue=mail").len(), 10);
    assert_eq!(walk(&mut client, "type=mail.*&order=asc").len(), 10);
    assert_eq!(walk(&mut client, "type=mail.check").len(), 5);
    assert_eq!(walk(&mut client, "type=report"), [other]);
    assert_eq!(walk(&mut client, "state=completed"), [taken[0].id.clone()]);
    assert_eq!(walk(&mut client, "state=active,completed").len(), 3);
    assert_eq!(walk(&mut client, "since=PT1H").len(), 11);
    assert_eq!(walk(&mut client, "until=PT1H").len(), 0);
    let mut all = walk(&mut client, "");
    let newest_first = all.clone();
    all.sort();
    all.reverse();
    assert_eq!(all, newest_first);
    all.dedup();
    assert_eq!(all.len(), 11);
}

#[test]
fn a_priority_changes_who_is_next() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("first"));
    let second = client.create(&job("second"));
    let request = e2e::Request::new("PATCH", &format!("/ojs/v1/jobs/{second}"));
    let request = request.header("Content-Type", "application/json").body(json!({"priority": 7}).to_string());
    let answer = client.send(&request);
    assert_eq!((&answer.is(200)["priority"], &answer["previous_priority"]), (&json!(7), &json!(0)));
    let taken = client.fetch("default", 1);
    assert_eq!(taken[0].id, second);
    client.send(&request).is_refusal(409, "conflict");
}
