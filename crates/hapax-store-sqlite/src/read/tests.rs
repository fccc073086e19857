//! A read that fails leaves nothing behind.

use super::*;
use crate::schema;

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
