//! Exports and imports of schemas: who is shut out, what is refused, and what goes on after it was cut short.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

#[path = "support/draft.rs"]
mod draft;

use std::io;
use std::sync::Arc;
use std::thread;

use hapax_core::{LeaseToken, QueueName, Rules, State, Timestamp};
use hapax_pg_cluster::{Cluster, Database};
use hapax_store::portable::{
    Batch, Census, ExportId, ImportError, Item, Mark, Occasion, Reader, Seal, Target, export, import,
};
use hapax_store::suite::wait;
use hapax_store::{Action, Claim, Memo, MemoKey, Op, Remembered, Store, StoreError};
use hapax_store_postgres::{
    OpenError, PostgresSource, PostgresStore, PostgresTarget, SchemaName, Settings, migrate, plan,
};

fn open(database: &Database) -> Result<PostgresStore, OpenError> {
    PostgresStore::open(Settings::new(database.url().parse().unwrap(), Rules::default()))
}

fn source(database: &Database) -> Result<PostgresSource, OpenError> {
    PostgresSource::open(&database.url().parse().unwrap(), &SchemaName::default())
}

fn target(database: &Database) -> Result<PostgresTarget, OpenError> {
    PostgresTarget::open(&database.url().parse().unwrap(), &SchemaName::default(), Rules::default())
}

/// Some jobs, each with a remembered answer, and one of them with a worker.
fn fill(store: &PostgresStore) {
    let now = store.clock().now();
    for n in 1..=9 {
        let reply = Remembered { status: 201, body: Arc::from(*b"{}") };
        let render = Arc::new(move |_: &hapax_store::Answer| reply.clone());
        let memo = Some(Memo { key: MemoKey(format!("POST {n}").into()), fingerprint: [7; 32], render });
        let incoming = Box::new(draft::incoming(now, n, None));
        let op = Op { now, action: Action::Enqueue { incoming, memo } };
        assert!(wait(store.commit(vec![op])).unwrap()[0].is_ok());
    }
    assert_eq!(claim(store, 1).unwrap(), 1);
}

/// How many jobs a worker gets that wants so many.
fn claim(store: &PostgresStore, count: usize) -> Result<usize, StoreError> {
    let (now, queues) = (store.clock().now(), vec![QueueName::default_queue()]);
    let token = LeaseToken::new([1; 16]);
    let claim = Claim { now, queues, count, worker: None, token, visibility_timeout: None, tenant: None };
    wait(store.claim(claim)).map(|claimed| claimed.changes.len())
}

fn exported(database: &Database) -> (String, Seal) {
    let occasion = Occasion { id: ExportId([9; 16]), now: Timestamp::EPOCH, version: "0.0.0" };
    let mut source = source(database).unwrap();
    let (text, seal) = export(&mut source, occasion, Vec::new(), &mut |_, _| ()).unwrap();
    (String::from_utf8(text).unwrap(), seal)
}

fn imported(target: &mut dyn Target, text: &str) -> Result<Seal, ImportError> {
    let batch = Batch { lines: 4, ..Batch::default() };
    import(&mut Reader::begin(text.as_bytes())?, target, batch, &mut |_| ())
}

/// An export of a store that was filled.
fn some_export() -> (String, Seal) {
    let database = Cluster::shared().database();
    let store = open(&database).unwrap();
    fill(&store);
    wait(store.close()).unwrap();
    exported(&database)
}

/// A target that stands still after so many transactions.
struct Failing {
    inner: PostgresTarget,
    left: usize,
}

impl Failing {
    fn step(&mut self) -> Result<(), ImportError> {
        let gone = || ImportError::Store(Arc::new(io::Error::other("gone")));
        self.left = self.left.checked_sub(1).ok_or_else(gone)?;
        Ok(())
    }
}

impl Target for Failing {
    fn begun(&self) -> Option<Mark> {
        self.inner.begun()
    }

    fn begin(&mut self, mark: Mark) -> Result<(), ImportError> {
        self.step()?;
        self.inner.begin(mark)
    }

    fn store(&mut self, items: Vec<Item>, mark: Mark) -> Result<(), ImportError> {
        self.step()?;
        self.inner.store(items, mark)
    }

    fn finish(&mut self, census: Census) -> Result<(), ImportError> {
        self.step()?;
        self.inner.finish(census)
    }
}

#[test]
fn an_import_that_ends_between_any_two_transactions_is_refused_to_servers_and_goes_on() {
    let (text, seal) = some_export();
    assert_eq!(seal.census, Census { queues: 1, jobs: 9, entries: 0, memos: 9 });
    let mut breaks = 0;
    loop {
        let database = Cluster::shared().database();
        let mut failing = Failing { inner: target(&database).unwrap(), left: breaks };
        if imported(&mut failing, &text).is_ok() {
            break;
        }
        drop(failing);
        if breaks > 0 {
            assert!(matches!(open(&database), Err(OpenError::Unfinished(_))), "after {breaks}");
            assert!(matches!(source(&database), Err(OpenError::Unfinished(_))), "after {breaks}");
            let url = database.url().parse().unwrap();
            for steps in [plan(&url, &SchemaName::default()), migrate(&url, &SchemaName::default())] {
                assert!(matches!(steps, Err(OpenError::Unfinished(_))), "after {breaks}");
            }
        }
        assert_eq!(imported(&mut target(&database).unwrap(), &text).unwrap(), seal);
        assert_eq!(exported(&database), (text.clone(), seal), "broken after {breaks}");
        let store = open(&database).unwrap();
        assert_eq!(claim(&store, 100).unwrap(), 8);
        breaks += 1;
    }
    assert_eq!(breaks, 7, "a beginning, five batches and an end");
}

#[test]
fn a_server_that_runs_finds_nothing_until_the_import_is_finished_and_then_goes_on() {
    let (text, _) = some_export();
    let database = Cluster::shared().database();
    let server = open(&database).unwrap();
    assert_eq!(claim(&server, 1).unwrap(), 0);
    let mut failing = Failing { inner: target(&database).unwrap(), left: 4 };
    assert!(imported(&mut failing, &text).is_err());
    drop(failing);
    let now = server.clock().now();
    assert!(matches!(claim(&server, 1), Err(StoreError::Failed(_))));
    let enqueue = draft::enqueue(now, draft::incoming(now, 99, None));
    assert!(matches!(wait(server.commit(vec![enqueue.clone()])), Err(StoreError::Failed(_))));
    assert!(wait(server.advance(now, 10, hapax_core::Chance(0))).is_err());
    assert!(
        database.query("SELECT hapax.enqueue('{\"type\":\"a\",\"args\":[]}')").is_err(),
        "the second door"
    );
    imported(&mut target(&database).unwrap(), &text).unwrap();
    assert_eq!(claim(&server, 100).unwrap(), 8);
    assert!(wait(server.commit(vec![enqueue])).unwrap()[0].is_ok());
    let totals = wait(server.totals()).unwrap();
    assert_eq!((totals.counts.of(State::Active), totals.counts.of(State::Available)), (9, 1));
}

#[test]
fn new_jobs_stand_behind_all_that_were_imported() {
    let (text, _) = some_export();
    let database = Cluster::shared().database();
    imported(&mut target(&database).unwrap(), &text).unwrap();
    let store = open(&database).unwrap();
    let now = store.clock().now();
    assert!(
        wait(store.commit(vec![draft::enqueue(now, draft::incoming(now, 99, None))])).unwrap()[0].is_ok()
    );
    let order = "SELECT bool_and(j.seq > o.seq AND j.turn > o.turn) FROM hapax.jobs j, hapax.jobs o \
                 WHERE j.id <> o.id AND j.created_at = (SELECT max(created_at) FROM hapax.jobs)";
    assert_eq!(database.query(order).unwrap().trim(), "t");
}

#[test]
fn a_schema_that_holds_anything_is_refused_and_stays_as_it_is() {
    let database = Cluster::shared().database();
    let store = open(&database).unwrap();
    let pause = Op { now: store.clock().now(), action: Action::Pause(QueueName::default_queue()) };
    assert!(wait(store.commit(vec![pause])).unwrap()[0].is_ok());
    match target(&database) {
        Err(OpenError::NotEmpty { held, .. }) => {
            assert_eq!(held, Census { queues: 1, jobs: 0, entries: 0, memos: 0 });
        }
        other => panic!("{other:?}"),
    }
    assert!(wait(store.queue(QueueName::default_queue())).unwrap().unwrap().paused);
}

#[test]
fn what_a_server_stores_after_the_first_look_is_seen_before_anybody_is_shut_out() {
    let (text, _) = some_export();
    let database = Cluster::shared().database();
    let mut late = target(&database).unwrap();
    let store = open(&database).unwrap();
    fill(&store);
    let error = imported(&mut late, &text).unwrap_err();
    assert!(matches!(error, ImportError::Store(_)), "{error}");
    assert_eq!(claim(&store, 1).unwrap(), 1, "the server is not disturbed");
}

#[test]
fn of_two_imports_at_once_one_stops() {
    let (text, seal) = some_export();
    let database = Cluster::shared().database();
    let mut first = Failing { inner: target(&database).unwrap(), left: 2 };
    assert!(imported(&mut first, &text).is_err());
    let (mut one, mut other) = (target(&database).unwrap(), target(&database).unwrap());
    assert_eq!(imported(&mut one, &text).unwrap(), seal);
    assert!(imported(&mut other, &text).is_err());
    assert_eq!(exported(&database), (text, seal));
}

fn change(store: &PostgresStore) {
    assert_eq!(claim(store, 100).unwrap(), 8);
    let now = store.clock().now();
    let op = draft::enqueue(now, draft::incoming(now, 77, None));
    assert!(wait(store.commit(vec![op])).unwrap()[0].is_ok());
}

#[test]
fn an_export_is_one_moment_whatever_servers_do_meanwhile() {
    let database = Cluster::shared().database();
    let store = open(&database).unwrap();
    fill(&store);
    let (text, seal) = exported(&database);
    let mut source = source(&database).unwrap();
    let occasion = Occasion { id: ExportId([9; 16]), now: Timestamp::EPOCH, version: "0.0.0" };
    let mut taken = 0;
    let (again, same) = export(&mut source, occasion, Vec::new(), &mut |_, _| {
        taken += 1;
        if taken == 1 {
            // On another thread, because this one waits for the source.
            thread::scope(|scope| scope.spawn(|| change(&store)).join().unwrap());
        }
    })
    .unwrap();
    assert_eq!((String::from_utf8(again).unwrap(), same), (text, seal));
    assert_eq!(exported(&database).1.census.jobs, 10);
}

#[test]
fn what_is_not_there_is_not_exported_and_not_made() {
    let database = Cluster::shared().database();
    assert!(matches!(source(&database), Err(OpenError::Nothing(_))));
    assert_eq!(database.query("SELECT to_regnamespace('hapax') IS NULL").unwrap().trim(), "t");
}

#[test]
fn an_id_that_two_jobs_have_is_refused() {
    let (text, _) = some_export();
    let ids: Vec<&str> =
        text.lines().filter_map(|line| line.split("\"id\":\"").nth(1)?.get(..36)).skip(1).take(2).collect();
    let database = Cluster::shared().database();
    let error = imported(&mut target(&database).unwrap(), &text.replace(ids[0], ids[1])).unwrap_err();
    assert!(matches!(error, ImportError::Store(_)), "{error}");
    assert!(matches!(open(&database), Err(OpenError::Unfinished(_))));
}
