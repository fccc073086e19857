//! The comparison with a server that has just come back.

use std::collections::BTreeMap;

use e2e::{Client, INCOMPLETE};
use serde_json::Value;

use crate::book::Book;
use crate::strategy::{LATEST, Target};

/// No holder that was named since the last crash forgot a duplicate that was answered.
pub(crate) fn recent_ledgers(client: &mut Client, book: &Book) {
    for page in book.pages().values_mut() {
        for id in std::mem::take(&mut page.touched) {
            excess(client, &id, page.turned_away[&id], page.unknown);
        }
    }
}

/// The same for every holder there ever was; and all holders of a key together counted no more than were sent.
pub(crate) fn all_ledgers(client: &mut Client, book: &Book) {
    for (target, page) in book.pages().iter() {
        let counted =
            page.turned_away.iter().map(|(id, answered)| excess(client, id, *answered, page.unknown));
        let unanswered: u64 = counted.sum();
        assert!(unanswered <= page.unknown, "{target:?}: {unanswered} of {} too many", page.unknown);
    }
}

/// How many more the holder counts than were answered.
fn excess(client: &mut Client, id: &str, answered: u64, unknown: u64) -> u64 {
    let job = client.job(id);
    let count = job["unique"]["duplicates"]["count"].as_u64().unwrap_or(0);
    assert!(count >= answered, "{answered} were answered by {job}");
    assert!(count - answered <= unknown, "{answered} were answered, {unknown} were not, by {job}");
    count - answered
}

/// Every key in the list has a living holder that carries it, and no job stands there twice.
pub(crate) fn held_keys(client: &mut Client) {
    let mut seen: BTreeMap<String, Value> = BTreeMap::new();
    let mut path = "/ojs/v1/unique/keys?limit=7".to_owned();
    loop {
        let page = client.get(&path);
        for entry in page.is(200).list("/keys") {
            let id = entry["job_id"].as_str().unwrap_or_default().to_owned();
            assert!(seen.insert(id, entry.clone()).is_none(), "twice in the list: {entry}");
        }
        let Some(cursor) = page["pagination"]["next_cursor"].as_str() else { break };
        path = format!("/ojs/v1/unique/keys?limit=7&cursor={cursor}");
    }
    for (id, entry) in seen {
        let job = client.job(&id);
        // A job may have gone on since the list was read, but not without its key.
        assert_eq!(job["unique"]["uniqueness_key"], entry["key"], "{entry}: {job}");
        let key = entry["key"].as_str().unwrap_or_default();
        let holders = client.get(&format!("/ojs/v1/unique/keys/{key}"));
        let named = |holder: &Value| holder["job_id"] == *id;
        assert!(holders.is(200).list("/holders").iter().any(named), "{}", holders.body);
    }
}

/// Beside a running job waits one successor at most.
pub(crate) fn one_runs_one_waits(client: &mut Client) {
    for target in Target::all_of(LATEST) {
        let explained = client.post("/ojs/v1/unique/explain", &target.job(0).json());
        let holders = explained.is(200).list("/holders");
        let living = |state: &str| INCOMPLETE.contains(&state);
        let states: Vec<&str> = holders.iter().filter_map(|holder| holder["state"].as_str()).collect();
        let living = states.iter().filter(|state| living(state)).count();
        assert!(living <= 2, "{target:?}: {states:?}");
    }
}
