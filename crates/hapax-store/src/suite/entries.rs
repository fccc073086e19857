//! Entries: changed by a function inside the commit, kept, listed by name.

use std::sync::Arc;

use hapax_core::Refusal;

use super::bench::{Bench, HOUR, MINUTE};
use super::race::race;
use super::wait;
use crate::{Action, Done, Edit, Entry, EntryKey, EntryPage, EntryQuery, JointEdit, Register, Written};

fn key(name: &str) -> EntryKey {
    EntryKey::new(Register::Schema, name)
}

fn written(body: &str) -> Written {
    Written { body: body.into(), due_at: None }
}

fn edit(bench: &Bench, key: &EntryKey, edit: Edit) -> Result<Option<Entry>, Refusal> {
    match bench.act(Action::Edit { key: key.clone(), edit })? {
        Done::Edited { entry, .. } => Ok(entry),
        other => panic!("an edit was answered by {other:?}"),
    }
}

fn put(bench: &Bench, key: &EntryKey, body: &str) {
    let to_be = written(body);
    let entry = Entry { key: key.clone(), written: to_be.clone() };
    assert_eq!(edit(bench, key, Edit::new(move |_| Ok(Some(to_be.clone())))), Ok(Some(entry)));
}

fn get(bench: &Bench, key: &EntryKey) -> Option<Written> {
    wait(bench.store().entry(key.clone())).unwrap().map(|entry| entry.written)
}

fn page(bench: &Bench, prefix: &str, after: Option<&str>, limit: usize) -> (Vec<String>, bool, u64) {
    let query =
        EntryQuery { register: Register::Schema, prefix: prefix.into(), after: after.map(Arc::from), limit };
    let EntryPage { entries, has_more, total } = wait(bench.store().entries(query)).unwrap();
    (entries.iter().map(|entry| entry.key.name.to_string()).collect(), has_more, total)
}

pub(super) fn an_entry_says_what_was_written_until_it_is_removed(bench: &mut Bench) {
    let key = key("email.send/1");
    assert_eq!(get(bench, &key), None);
    put(bench, &key, r#"{"a":1}"#);
    put(bench, &key, r#"{"a":2, "ü":"\n"}"#);
    bench.reopen();
    assert_eq!(get(bench, &key), Some(written(r#"{"a":2, "ü":"\n"}"#)), "as written");
    assert_eq!(get(bench, &EntryKey::new(Register::Pool, "email.send/1")), None, "in another register");
    assert_eq!(edit(bench, &key, Edit::new(|_| Ok(None))), Ok(None));
    assert_eq!(get(bench, &key), None);
    bench.reopen();
    assert_eq!(get(bench, &key), None);
}

pub(super) fn an_edit_sees_what_is_there_and_may_refuse(bench: &mut Bench) {
    let key = key("k");
    let unless_there = |key: &EntryKey| {
        let taken = key.taken();
        Edit::new(move |before| before.map_or(Ok(Some(written("1"))), |_| Err(taken.clone())))
    };
    assert!(edit(bench, &key, unless_there(&key)).is_ok());
    assert_eq!(edit(bench, &key, unless_there(&key)), Err(key.taken()));
    let longer = Edit::new(|before| Ok(before.map(|old| written(&format!("{}0", old.body)))));
    edit(bench, &key, longer.clone()).unwrap();
    edit(bench, &key, longer).unwrap();
    assert_eq!(get(bench, &key), Some(written("100")));
}

pub(super) fn edits_of_many_are_done_one_after_the_other(bench: &mut Bench) {
    let rounds = 10;
    let answers = race(bench, rounds, |racer, round| {
        let key = key(&format!("counter-{round}"));
        let count = |old: Option<&Written>| old.map_or(0, |old| old.body.parse::<u32>().unwrap()) + 1;
        racer
            .act(Action::Edit { key, edit: Edit::new(move |old| Ok(Some(written(&count(old).to_string())))) })
    });
    let racers = answers[0].len();
    for round in 0..rounds {
        let counted = get(bench, &key(&format!("counter-{round}")));
        assert_eq!(counted, Some(written(&racers.to_string())), "none was lost");
    }
}

/// Takes what the first says to the second; refused if the first is not there.
fn taken_over(from: &EntryKey, to: &EntryKey) -> Action {
    let missing = from.missing();
    let edit = JointEdit::new(move |[from, _]| match from {
        Some(from) => Ok([None, Some(from.clone())]),
        None => Err(missing.clone()),
    });
    Action::EditTogether { keys: vec![from.clone(), to.clone()], edit }
}

pub(super) fn entries_that_are_edited_together_change_all_or_none(bench: &mut Bench) {
    let (from, to) = (key("from"), key("to"));
    put(bench, &from, "1");
    let there = Some(Entry { key: to.clone(), written: written("1") });
    assert_eq!(bench.act(taken_over(&from, &to)), Ok(Done::EditedTogether(vec![None, there])));
    put(bench, &to, "2");
    assert_eq!(bench.act(taken_over(&from, &to)), Err(from.missing()));
    bench.reopen();
    assert_eq!((get(bench, &from), get(bench, &to)), (None, Some(written("2"))));
}

pub(super) fn of_many_who_take_an_entry_elsewhere_one_does(bench: &mut Bench) {
    let rounds = 10;
    let from = |round: usize| key(&format!("from-{round}"));
    let to = |round: usize, number: usize| key(&format!("to-{round}-{number}"));
    (0..rounds).for_each(|round| put(bench, &from(round), "1"));
    let answers = race(bench, rounds, |racer, round| {
        racer.act(taken_over(&from(round), &to(round, racer.number))).is_ok()
    });
    for (round, answers) in answers.iter().enumerate() {
        assert_eq!(answers.iter().filter(|is_done| **is_done).count(), 1, "of round {round}");
        assert_eq!(page(bench, &format!("to-{round}-"), None, 99).2, 1, "nothing is there twice");
    }
}

pub(super) fn entries_are_listed_by_the_bytes_of_their_names(bench: &mut Bench) {
    for name in ["b/2", "b/10", "a", "b/1", "ä", "B/1", "b%1", "b_"] {
        put(bench, &key(name), "{}");
    }
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let all = names(&["B/1", "a", "b%1", "b/1", "b/10", "b/2", "b_", "ä"]);
    assert_eq!(page(bench, "", None, 99), (all.clone(), false, 8));
    assert_eq!(page(bench, "", None, 3), (all[..3].to_vec(), true, 8));
    assert_eq!(page(bench, "", Some(&all[2]), 5), (all[3..].to_vec(), false, 8));
    assert_eq!(page(bench, "b/", None, 2), (names(&["b/1", "b/10"]), true, 3));
    assert_eq!(page(bench, "b/", Some("b/10"), 2), (names(&["b/2"]), false, 3));
    assert_eq!(page(bench, "b/", Some("a"), 9), (names(&["b/1", "b/10", "b/2"]), false, 3));
    assert_eq!(page(bench, "c", None, 9), (vec![], false, 0));
    assert_eq!(page(bench, "b/", Some("z"), 9), (vec![], false, 3));
}

pub(super) fn an_entry_to_which_nothing_can_happen_is_due_once(bench: &mut Bench) {
    let at = bench.now + MINUTE;
    let due = Edit::new(move |_| Ok(Some(Written { body: "{}".into(), due_at: Some(at) })));
    edit(bench, &key("k"), due).unwrap();
    assert_eq!(bench.advance().next_due, Some(at));
    bench.reopen();
    assert_eq!(bench.advance().next_due, Some(at), "after the store was opened again");
    bench.pass(HOUR);
    let _ = bench.advance();
    assert_eq!(bench.advance().next_due, None);
    assert_eq!(get(bench, &key("k")), Some(written("{}")));
}

pub(super) fn a_reset_forgets_entries(bench: &mut Bench) {
    put(bench, &key("k"), "{}");
    wait(bench.store().reset()).unwrap();
    assert_eq!((get(bench, &key("k")), page(bench, "", None, 9).2), (None, 0));
}
