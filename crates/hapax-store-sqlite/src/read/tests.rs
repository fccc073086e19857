//! A read that fails leaves nothing behind, and one that comes too late says so.

use hapax_core::unique::{Anchor, Key, Strategy};
use hapax_core::{Event, Spec, StateSet};
use hapax_store::{HeldQuery, HolderQuery};

use super::*;
use crate::schema;
use crate::tables::tests::{empty, open};
use crate::{draft, index};

#[test]
fn a_failed_read_does_not_hold_on_to_its_moment() {
    let db = Connection::open_in_memory().unwrap();
    schema::create(&db).unwrap();
    let mut view = View { db: &db, loader: Loader::new(&db).unwrap() };
    let fault = || Fault::Missing { table: "jobs", seq: 1 };
    assert!(matches!(view.at_one_moment(|_| Err::<(), _>(fault())), Err(Fault::Missing { .. })));
    assert!(db.is_autocommit());
    // As after a COMMIT that failed: the next BEGIN fails too, and says so.
    db.execute_batch("BEGIN").unwrap();
    assert!(matches!(view.at_one_moment(|_| Ok(())), Err(Fault::Sqlite { .. })));
    assert!(db.is_autocommit());
    assert!(matches!(view.at_one_moment(|loader| loader.load(1)), Ok(None)));
    assert!(db.is_autocommit());
}

#[test]
fn holders_that_went_on_since_the_look_at_the_index_are_noticed() {
    let db = empty();
    let mut tables = open(&db);
    let policy = draft::policy(StateSet::INCOMPLETE, Strategy::Replace, None, Anchor::CreatedAt);
    let unique = |n| draft::unique(n, "a", Spec { unique: Some(policy.clone().into()), ..draft::spec() });
    tables.apply(draft::enqueue(draft::at(0), unique(1))).unwrap().unwrap();
    tables.seal().unwrap();
    let watch = policy.watch();
    let query = HolderQuery { key: Key::of_text("a"), covered_by: Some((watch, draft::at(9))), limit: 0 };
    let (visible, held) = (tables.index.visible(), HeldQuery { limit: 9, ..HeldQuery::default() });
    let look = || (index::read(&visible).wanted(&query), index::read(&visible).held(&held));
    let mut view = View { db: &db, loader: Loader::new(&db).unwrap() };
    let mut ids = |(wanted, part)| {
        let Found { holders, is_of_one_moment } = view.holders(&query, &wanted).unwrap();
        let page = view.held_keys(&held, &part).unwrap();
        let id = |job: &Job| job.id;
        let ids: Vec<JobId> = holders.jobs.iter().map(id).collect();
        (ids, page.jobs.iter().map(id).collect::<Vec<_>>(), is_of_one_moment)
    };
    let first = look();
    tables.apply(draft::enqueue(draft::at(1), unique(2))).unwrap().unwrap();
    tables.seal().unwrap();
    let second = look();
    assert_eq!(ids(first), (vec![], vec![], false));
    assert_eq!(ids(second), (vec![draft::id(2)], vec![draft::id(2)], true));

    // The index knows of a change before the tables do.
    tables.apply(draft::step(draft::at(2), draft::id(2), Event::Cancel)).unwrap().unwrap();
    tables.apply(draft::enqueue(draft::at(2), unique(3))).unwrap().unwrap();
    assert_eq!(ids(look()), (vec![], vec![], false));
}
