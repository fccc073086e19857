//! Opening: whose folder it is, and what a crash, another version or damage leaves there.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

#[path = "support/draft.rs"]
#[expect(dead_code, reason = "shared by several test files")]
mod draft;

use std::error::Error as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use hapax_core::unique::{Anchor, Strategy};
use hapax_core::{Incoming, Rules, Spec, StateSet};
use hapax_store::{Done, Op, Store};
use hapax_store_sqlite::{OpenError, Settings, SqliteStore};
use tempfile::TempDir;

fn open(dir: &Path) -> Result<SqliteStore, OpenError> {
    let settings = Settings::new(Rules::default(), Arc::new(|_| ()));
    SqliteStore::open_with(dir, Settings { log_bytes: 1 << 16, ..settings })
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn fill(dir: &Path, ops: Vec<Op>) {
    let store = open(dir).unwrap();
    wait(store.commit(ops)).unwrap();
    wait(store.close()).unwrap();
}

fn sql(dir: &Path, sql: &str) {
    rusqlite::Connection::open(dir.join("hapax.db")).unwrap().execute_batch(sql).unwrap();
}

fn one_job() -> Vec<Op> {
    vec![draft::enqueue(draft::at(0), draft::incoming(1, draft::spec()))]
}

#[test]
fn a_folder_in_use_is_refused() {
    let folder = folder();
    let _first = open(folder.path()).unwrap();
    match open(folder.path()) {
        Err(OpenError::InUse(path)) => assert!(path.starts_with(folder.path())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_closed_store_leaves_the_folder_to_the_next() {
    let folder = folder();
    let store = open(folder.path()).unwrap();
    wait(store.close()).unwrap();
    let _second = open(folder.path()).unwrap();
    assert!(wait(store.totals()).is_err());
    assert!(wait(store.get(draft::id(1))).is_err());
    assert!(wait(store.commit(one_job())).is_err());
    assert!(wait(store.close()).is_err());
}

#[test]
fn a_clean_close_leaves_one_file_of_data() {
    let folder = folder();
    fill(folder.path(), one_job());
    assert!(!folder.path().join("hapax.db-wal").exists());
}

#[test]
fn a_newer_format_is_refused_by_its_number() {
    let folder = folder();
    fill(folder.path(), one_job());
    sql(folder.path(), "UPDATE about SET value = 7 WHERE name = 'format'");
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, OpenError::Newer { found: 7, known: 4, .. }), "{error:?}");
    assert!(error.to_string().ends_with("has format 7; this program knows formats up to 4"));
}

fn number(dir: &Path, name: &str) -> i64 {
    let db = rusqlite::Connection::open(dir.join("hapax.db")).unwrap();
    db.query_row("SELECT value FROM about WHERE name = ?1", [name], |row| row.get(0)).unwrap()
}

#[test]
fn a_file_of_format_1_opens_with_its_jobs_and_is_of_the_newest_then() {
    let folder = folder();
    let policy = draft::policy(StateSet::ALL, Strategy::Ignore, Some(60_000), Anchor::FinishedAt);
    let unique = |n| draft::unique(n, "a", Spec { unique: Some(policy.clone().into()), ..draft::spec() });
    let pending = Incoming { pending: true, ..draft::incoming(3, draft::spec()) };
    let enqueue = |incoming| draft::enqueue(draft::at(0), incoming);
    fill(folder.path(), vec![enqueue(unique(1)), enqueue(unique(2)), enqueue(pending)]);
    let jobs = |store: &SqliteStore| [1, 3].map(|n| wait(store.get(draft::id(n))).unwrap().unwrap());
    let store = open(folder.path()).unwrap();
    let written = jobs(&store);
    assert_eq!(written[0].ledger.count(), 1);
    wait(store.close()).unwrap();
    assert_eq!((number(folder.path(), "format"), number(folder.path(), "opened")), (4, 2));

    // But for the ledger, rows of these jobs look the same in all formats.
    let at = written[0].ledger.recent()[0].at.millis();
    let ledger = format!(r#"{{"count":1,"recent":[{{"at":{at},"outcome":"existing"}}]}}"#);
    sql(folder.path(), &format!("UPDATE status SET ledger = '{ledger}' WHERE ledger IS NOT NULL"));
    sql(folder.path(), "UPDATE about SET value = 1 WHERE name = 'format'; DROP TABLE entries");
    let store = open(folder.path()).unwrap();
    assert_eq!(jobs(&store), written);
    let answers = wait(store.commit(vec![enqueue(unique(4))])).unwrap();
    assert!(matches!(&answers[0], Ok(Done::Enqueued(admission)) if admission.job.id == draft::id(1)));
    wait(store.close()).unwrap();
    assert_eq!((number(folder.path(), "format"), number(folder.path(), "opened")), (4, 3));
}

#[test]
fn a_file_that_does_not_open_keeps_its_format() {
    let folder = folder();
    fill(folder.path(), one_job());
    sql(folder.path(), "UPDATE about SET value = 1 WHERE name = 'format'; DELETE FROM status");
    assert!(open(folder.path()).is_err());
    assert_eq!(number(folder.path(), "format"), 1);
}

#[test]
fn another_database_is_refused_and_left_alone() {
    for content in [&b"not a database at all, but longer than nothing"[..], b"x"] {
        let folder = folder();
        std::fs::write(folder.path().join("hapax.db"), content).unwrap();
        assert!(matches!(open(folder.path()), Err(OpenError::Foreign(_))));
        assert_eq!(std::fs::read(folder.path().join("hapax.db")).unwrap(), content);
    }
    let folder = folder();
    sql(folder.path(), "CREATE TABLE jobs (seq INTEGER PRIMARY KEY)");
    assert!(matches!(open(folder.path()), Err(OpenError::Foreign(_))));
}

#[test]
fn a_creation_that_was_cut_short_starts_over() {
    for leftovers in
        [&["hapax.db.new"][..], &["hapax.db.new", "hapax.db.new-wal", "hapax.lock"], &["hapax.lock"]]
    {
        let folder = folder();
        for name in leftovers {
            std::fs::write(folder.path().join(name), "half of something").unwrap();
        }
        fill(folder.path(), one_job());
        assert!(wait(open(folder.path()).unwrap().get(draft::id(1))).unwrap().is_some());
        assert!(!folder.path().join("hapax.db.new").exists());
    }
    let folder = folder();
    std::fs::write(folder.path().join("hapax.db"), "").unwrap();
    fill(folder.path(), one_job());
}

#[test]
fn a_log_without_its_database_is_not_swallowed() {
    let folder = folder();
    std::fs::write(folder.path().join("hapax.db-wal"), "somebody's jobs").unwrap();
    assert!(matches!(open(folder.path()), Err(OpenError::LogWithoutDatabase(_))));
}

#[test]
fn the_folder_and_its_files_are_the_owners_alone() {
    let outer = folder();
    let dir = outer.path().join("a/b");
    let store = open(&dir).unwrap();
    wait(store.commit(one_job())).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&outer.path().join("a")), mode(&dir)), (0o700, 0o700));
    for name in ["hapax.db", "hapax.db-wal", "hapax.db-shm", "hapax.lock"] {
        assert_eq!(mode(&dir.join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_damaged_row_is_named() {
    for (damage, named) in [
        ("UPDATE status SET state = 'lost'", "status.state of row 1 is damaged: it is no state"),
        ("UPDATE jobs SET id = x'00'", "jobs.id of row 1 is damaged: it is of the wrong length"),
        ("UPDATE jobs SET options = '{\"oops\":1}'", "jobs.options of row 1 is damaged: it is not its JSON"),
        ("UPDATE jobs SET queue = 'Not A Queue'", "jobs.queue of row 1 is damaged: it is no queue name"),
        ("UPDATE status SET state = 'active'", "status.token of row 1 is damaged: it is missing"),
        (
            "UPDATE status SET state = 'pending', detail = 'x'",
            "status.detail of row 1 is damaged: it is no job id",
        ),
        ("UPDATE status SET fence = -1", "status.fence of row 1 is damaged: it is out of range"),
        ("DELETE FROM status", "row 1 of jobs has no counterpart in status"),
        ("DELETE FROM jobs", "row 1 of status has no counterpart in jobs"),
        ("DELETE FROM queues", "row 1 of jobs has no counterpart in queues"),
    ] {
        let folder = folder();
        fill(folder.path(), one_job());
        sql(folder.path(), damage);
        let error = open(folder.path()).unwrap_err();
        assert_eq!(error.source().unwrap().to_string(), named);
    }
}

#[test]
fn damage_that_only_a_read_finds_fails_that_read() {
    let folder = folder();
    fill(folder.path(), one_job());
    sql(folder.path(), "UPDATE status SET errors = '{'");
    let store = open(folder.path()).unwrap();
    let error = wait(store.get(draft::id(1))).unwrap_err();
    let fault = error.source().unwrap().to_string();
    assert_eq!(fault, "status.errors of row 1 is damaged: it is not its JSON");
}

#[test]
fn a_file_whose_format_cannot_be_read_is_not_called_foreign() {
    let folder = folder();
    fill(folder.path(), one_job());
    sql(folder.path(), "DELETE FROM about WHERE name = 'format'");
    let without_a_row = open(folder.path()).unwrap_err();
    // The first page says that it is ours; the tables behind it are gone.
    let file = std::fs::OpenOptions::new().write(true).open(folder.path().join("hapax.db")).unwrap();
    file.set_len(8192).unwrap();
    drop(file);
    let cut_off = open(folder.path()).unwrap_err();
    for error in [without_a_row, cut_off] {
        let OpenError::Fault { source, .. } = &error else { panic!("{error:?}") };
        assert_eq!(source.to_string(), "SQLite could not read its format");
        assert!(source.source().is_some());
    }
}

#[test]
fn a_file_where_a_folder_should_be_is_named() {
    let outer = folder();
    let file = outer.path().join("a");
    std::fs::write(&file, "").unwrap();
    match open(&file.join("b/c")) {
        Err(OpenError::Io { doing: "make", path, .. }) => assert_eq!(path, file),
        other => panic!("{other:?}"),
    }
}
