//! The indexes after random operations are those that a scan of the tables builds.

mod deeds;

use std::time::Duration;

use hapax_core::{Chance, Event, Retention};
use hapax_store::{Action, Memo, MemoKey, Op, Remembered};
use proptest::prelude::*;

use self::deeds::{JOBS, carry_out, deeds};
use super::*;
use crate::draft;
use crate::index::read;
use crate::rebuild::rebuild;

fn rules() -> Rules {
    let retention = Retention { completed: Duration::from_secs(3), ..Retention::default() };
    Rules { visibility_timeout: Duration::from_secs(1), retention, ..Rules::default() }
}

pub(crate) fn empty() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    schema::create(&db).unwrap();
    db
}

pub(crate) fn open(db: &Connection) -> Tables<'_> {
    let (index, last) = rebuild(db, &rules()).unwrap();
    Tables::new(db, rules(), index, last, Arc::new(hapax_store::NoOutbox)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn the_rebuilt_index_is_the_live_one(deeds in prop::collection::vec(deeds(), 1..80)) {
        let db = empty();
        let mut tables = open(&db);
        let mut clock = 0;
        for deed in deeds {
            carry_out(&mut tables, deed, &mut clock);
        }
        tables.seal().unwrap();
        let Tables { index, last, .. } = tables;
        let rebuilt = open(&db);
        let (live, scanned) = (index.visible(), rebuilt.index.visible());
        prop_assert!(*read(&live) == *read(&scanned), "{:?}\n{:?}", live, scanned);
        prop_assert_eq!(&index.lines, &rebuilt.index.lines);
        prop_assert_eq!(&index.timers, &rebuilt.index.timers);
        prop_assert_eq!(&index.successors, &rebuilt.index.successors);
        prop_assert_eq!(&index.memos, &rebuilt.index.memos);
        prop_assert!(rebuilt.last.turn <= last.turn);
    }

    #[test]
    fn a_job_that_is_loaded_is_the_job_that_was_stored(deeds in prop::collection::vec(deeds(), 1..60)) {
        let db = empty();
        let mut tables = open(&db);
        let mut clock = 0;
        for deed in deeds {
            carry_out(&mut tables, deed, &mut clock);
        }
        let known: Vec<_> = (0..JOBS).filter_map(|n| tables.find(draft::id(n)).unwrap()).collect();
        tables.seal().unwrap();
        for stored in known {
            let loaded = Loader::new(&db).unwrap().load(stored.seq).unwrap();
            prop_assert_eq!(Some(&*stored), loaded.as_ref());
        }
    }
}

#[test]
fn one_advance_forgets_all_answers_that_are_too_old() {
    let db = empty();
    let mut tables = open(&db);
    let enqueue = |n: u64, now: Timestamp| {
        let incoming = Box::new(draft::incoming(n, draft::spec()));
        let render = Arc::new(|_: &_| Remembered { status: 200, body: Arc::from(*b"{}") });
        let memo = Memo { key: MemoKey(n.to_string().into()), fingerprint: [0; 32], render };
        Op { now, action: Action::Enqueue { incoming, memo: Some(memo) } }
    };
    for n in 0..3000 {
        tables.apply(enqueue(n, draft::at(0))).unwrap().unwrap();
    }
    tables.apply(enqueue(3000, draft::at(1))).unwrap().unwrap();
    tables.seal().unwrap();
    tables.advance(draft::at(0) + hapax_store::MEMO_KEPT, 0, Chance(0)).unwrap();
    tables.seal().unwrap();
    let left = db.query_row("SELECT group_concat(name) FROM memos", [], |row| row.get::<_, String>(0));
    assert_eq!(left.unwrap(), "3000");
}

#[test]
fn an_ended_job_is_not_kept_in_memory_for_having_been_read() {
    let db = empty();
    let mut tables = open(&db);
    for n in 1..3 {
        tables.apply(draft::enqueue(draft::at(0), draft::incoming(n, draft::spec()))).unwrap().unwrap();
    }
    tables.apply(draft::step(draft::at(0), draft::id(2), Event::Cancel)).unwrap().unwrap();
    tables.seal().unwrap();
    tables.rows.cache.clear();
    for (n, kept) in [(1, true), (2, false)] {
        let seq = tables.find(draft::id(n)).unwrap().unwrap().seq;
        assert_eq!(tables.rows.cache.get(seq).is_some(), kept, "job {n}");
    }
}
