//! `GET /ojs/v1/unique/keys`: held keys, oldest first.

use std::collections::BTreeSet;

use e2e::clock::{self, SOON};
use e2e::{Answer, Client, Holder, INCOMPLETE, Job, Server, TERMINAL, job};
use serde_json::{Value, json};

fn alone(number: usize) -> Job {
    job("a.b").unique(json!({"key": format!("key-{number}")}))
}

/// One member of every entry, in order.
fn column(answer: &Answer, name: &str) -> Vec<Value> {
    let keys = answer.list("/keys");
    keys.iter().map(|entry| entry[name].clone()).collect()
}

/// The holders of every page.
#[track_caller]
fn all_pages(client: &mut Client, query: &str, mut between: impl FnMut(&mut Client)) -> Vec<Value> {
    let mut ids = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = client.held_keys(&format!("{query}{cursor}"));
        ids.extend(column(page.is(200), "job_id"));
        let next = page["pagination"]["next_cursor"].as_str();
        assert_eq!(page["pagination"]["has_more"], next.is_some(), "{}", page["pagination"]);
        let Some(next) = next else { return ids };
        cursor = format!("&cursor={}", e2e::keys::segment(next));
        between(client);
    }
}

#[test]
fn an_entry_says_who_holds_the_key_and_since_when() {
    let server = Server::start();
    let mut client = server.client();
    let holder = client.create(&job("feed.poll").on("feeds").on_conflict("ignore"));
    client.enqueue(&job("feed.poll").on_conflict("ignore")).is(200);
    let named = client.create(&job("mail.digest").job_key("digest:42"));
    let answer = client.held_keys("");
    assert_eq!(answer.is(200)["held"], 2);
    let entry = &answer["keys"][0];
    let stored = client.job(&holder);
    assert_eq!((&entry["job_id"], &entry["key"]), (&json!(holder), &stored["unique"]["uniqueness_key"]));
    for (member, value) in [("type", "feed.poll"), ("queue", "feeds"), ("state", "available")] {
        assert_eq!(entry[member], value, "{entry}");
    }
    assert_eq!(entry["created_at"], stored["created_at"]);
    assert!(entry["held_for_ms"].is_u64(), "{entry}");
    assert_eq!(entry["duplicates"]["count"], 1, "{entry}");
    assert_eq!(entry["duplicates"]["last_at"], stored["unique"]["duplicates"]["last_at"]);
    assert!(entry["job_key"].is_null(), "{entry}");
    let entry = &answer["keys"][1];
    assert_eq!((&entry["job_id"], &entry["job_key"]), (&json!(named), &json!("digest:42")), "{entry}");
    assert_eq!(entry["duplicates"]["count"], 0, "{entry}");
}

#[test]
fn the_oldest_stands_first_and_pages_meet_without_gap_or_overlap() {
    let server = Server::start();
    let mut client = server.client();
    let mut ids = Vec::new();
    for number in 0..10 {
        ids.push(json!(client.create(&alone(number))));
    }
    // All of these came at the same moment.
    let together: Vec<Job> = (10..60).map(alone).collect();
    let answer = client.batch(&together);
    ids.extend(answer.is(201).list("/jobs").iter().map(|job| job["id"].clone()));
    for limit in [1, 7, 50, 1000] {
        let found = all_pages(&mut client, &format!("limit={limit}"), |_| {});
        let distinct: BTreeSet<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!((found.len(), distinct.len()), (60, 60), "limit {limit}");
        assert_eq!(found[..10], ids[..10], "limit {limit}");
    }
    let first = client.held_keys("");
    assert_eq!(first.is(200)["pagination"]["limit"], 50);
    assert_eq!(first["keys"].as_array().map(Vec::len), Some(50));
    let created = column(&first, "created_at");
    assert!(created.is_sorted_by(|a, b| a.as_str() <= b.as_str()), "{created:?}");
}

#[test]
fn pages_stand_still_while_keys_come_and_go() {
    let server = Server::start();
    let mut client = server.client();
    let ids: Vec<String> = (0..20).map(|number| client.create(&alone(number))).collect();
    let mut next = 20;
    let found = all_pages(&mut client, "limit=3", |client| {
        // Those that were listed end, and others come.
        client.cancel(&ids[next - 20]).is(200);
        client.create(&alone(next));
        next += 1;
    });
    for id in &ids {
        assert_eq!(found.iter().filter(|found| **found == id.as_str()).count(), 1, "{id}");
    }
}

#[test]
fn the_list_can_be_narrowed() {
    let server = Server::start();
    let mut client = server.client();
    let make = |kind: &str, queue: &str| job(kind).on(queue).unique(json!({"keys": ["type", "queue"]}));
    let mut created = Vec::new();
    for (kind, queue) in [("a.b", "x"), ("a.b", "y"), ("a.c", "x"), ("a.c", "y")] {
        created.push(json!(client.create(&make(kind, queue))));
    }
    let mut narrowed = |query: &str| column(client.held_keys(query).is(200), "job_id");
    assert_eq!(narrowed("type=a.b"), created[..2]);
    assert_eq!(narrowed("queue=y"), [created[1].clone(), created[3].clone()]);
    assert_eq!(narrowed("type=a.c&queue=x"), created[2..3]);
    assert_eq!(narrowed("type=a.d"), created[..0]);
    assert_eq!(narrowed("queue=z&type=a.b"), created[..0]);
    assert_eq!(all_pages(&mut client, "type=a.b&limit=1", |_| {}), created[..2], "page by page, too");
}

#[test]
fn keys_that_are_held_for_long_can_be_found() {
    let server = Server::start();
    let mut client = server.client();
    let old = client.create(&alone(1));
    for query in ["older_than=PT1H", "older_than=3600"] {
        assert_eq!(client.held_keys(query).is(200)["keys"], json!([]), "{query}");
    }
    clock::until("it is old", SOON, || {
        let found = client.held_keys("older_than=PT0.3S");
        let entry = &found.is(200)["keys"][0];
        assert!(entry.is_null() || entry["held_for_ms"].as_u64() >= Some(300), "{entry}");
        entry["job_id"] == old.as_str()
    });
    client.create(&alone(2));
    assert_eq!(column(client.held_keys("older_than=PT0.3S").is(200), "job_id")[0], old.as_str());
    clock::until("both are held for longer than no time", SOON, || {
        client.held_keys("older_than=0").is(200).list("/keys").len() == 2
    });
}

#[test]
fn live_holders_of_every_state_are_listed_and_ended_ones_are_not() {
    let server = Server::start();
    let mut client = server.client();
    for state in INCOMPLETE {
        Holder::bring(&mut client, &job(&format!("live.{state}")).on_conflict("reject"), state, state);
    }
    for state in TERMINAL {
        Holder::bring(&mut client, &job(&format!("ended.{state}")).on_conflict("reject"), state, state);
    }
    client.create(&job("without.a.key"));
    let answer = client.held_keys("");
    assert_eq!(column(answer.is(200), "state"), INCOMPLETE.map(Value::from));
    assert_eq!(answer["held"], INCOMPLETE.len());
}

#[test]
fn the_list_survives_a_crash() {
    let mut server = Server::start();
    let mut client = server.client();
    for number in 0..5 {
        client.create(&alone(number));
    }
    let before = column(client.held_keys("").is(200), "key");
    server.crash_and_restart();
    assert_eq!(column(server.client().held_keys("").is(200), "key"), before);
}
