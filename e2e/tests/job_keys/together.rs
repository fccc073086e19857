//! Many clients with one name at the same moment.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use e2e::{Answer, Client, Delivery, Server, together};
use serde_json::{Value, json};

use crate::{MODES, RENEWING, digest};

const CLIENTS: usize = 20;
const EACH: usize = 25;

fn numbers(payload: &Value) -> Vec<u64> {
    payload.as_array().map(Vec::as_slice).unwrap_or_default().iter().filter_map(Value::as_u64).collect()
}

/// Everyone sends its own number under one name.
fn send_at_once(server: &Server, mode: &str) -> Vec<Answer> {
    together(CLIENTS, |number| {
        server.client().enqueue(&digest("name", json!([number])).with("job_key_mode", mode))
    })
}

#[test]
fn everyone_gets_the_job_and_one_created_it() {
    for mode in MODES {
        let server = Server::start();
        let answers = send_at_once(&server, mode);
        let ids: BTreeSet<String> = answers.iter().map(Answer::id).collect();
        assert_eq!(ids.len(), 1, "{mode}");
        let created = answers.iter().filter(|answer| answer.status == 201).count();
        let turned_away = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!((created, turned_away), (1, CLIENTS - 1), "{mode}");
        let ledger = &server.client().job(&answers[0].id())["unique"]["duplicates"];
        assert_eq!(ledger["count"], CLIENTS - 1, "{mode}");
    }
}

#[test]
fn the_joined_array_has_each_item_once() {
    for mode in RENEWING {
        let server = Server::start();
        let id = send_at_once(&server, mode)[0].id();
        let mut items = numbers(&server.client().job(&id)["args"][0]);
        items.sort_unstable();
        assert_eq!(items, (0..CLIENTS as u64).collect::<Vec<_>>(), "{mode}");
    }
}

/// Fetches and finishes jobs until the producers are done and nothing is left; returns what it was given.
fn work(client: &mut Client, producing: &AtomicUsize) -> Vec<u64> {
    let mut items = Vec::new();
    loop {
        let is_last_look = producing.load(Ordering::SeqCst) == 0;
        let found: Vec<Delivery> = client.fetch("default", 1);
        if found.is_empty() && is_last_look {
            return items;
        }
        for delivery in found {
            items.extend(numbers(&delivery.job["args"][0]));
            client.ack(&delivery).is(200);
        }
    }
}

#[test]
fn while_a_worker_takes_them_no_item_is_lost_and_none_comes_twice() {
    for mode in RENEWING {
        let server = Server::start();
        let producing = AtomicUsize::new(CLIENTS);
        let worked = together(CLIENTS + 2, |number| {
            let mut client = server.client();
            if number >= CLIENTS {
                return work(&mut client, &producing);
            }
            for round in 0..EACH {
                let item = digest("name", json!([number * EACH + round])).with("job_key_mode", mode);
                let answer = client.enqueue(&item);
                assert!(matches!(answer.status, 200 | 201), "{}", answer.body);
            }
            producing.fetch_sub(1, Ordering::SeqCst);
            Vec::new()
        });
        let mut items = worked.concat();
        items.sort_unstable();
        assert_eq!(items, (0..(CLIENTS * EACH) as u64).collect::<Vec<_>>(), "{mode}");
    }
}

#[test]
fn of_many_that_remove_one_name_one_does() {
    let server = Server::start();
    for round in 0..20 {
        let id = server.client().create(&digest("name", json!([round])));
        let answers = together(CLIENTS, |_| server.client().remove_job_key("name"));
        let removed: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 200).collect();
        assert_eq!(removed.len(), 1, "round {round}");
        assert_eq!(removed[0]["removed"], json!([id]));
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            answer.is_refusal(404, "not_found");
        }
    }
}
