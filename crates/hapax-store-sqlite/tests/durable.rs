//! Nothing is answered or shown before it is on disk, and nothing after the disk has failed.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

#[path = "support/draft.rs"]
#[expect(dead_code, reason = "shared by several test files")]
mod draft;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hapax_core::Rules;
use hapax_store::{CommitFacts, Op, Store, StoreError};
use hapax_store_sqlite::{Durable, Settings, SqliteStore};

/// A log whose syncs the test lets through one by one, or makes fail.
struct Gate {
    log: File,
    begun: Sender<()>,
    let_go: Receiver<io::Result<()>>,
}

impl Durable for Gate {
    fn sync(&self) -> io::Result<()> {
        // A test that does not listen any more has seen what it wanted.
        let _: Result<_, _> = self.begun.send(());
        self.let_go.recv().unwrap_or(Ok(()))?;
        self.log.sync_data()
    }
}

struct Bench {
    store: SqliteStore,
    /// Hears of each sync as it begins.
    begun: Receiver<()>,
    let_go: Sender<io::Result<()>>,
    stopped: Arc<AtomicBool>,
    groups: Arc<Mutex<Vec<CommitFacts>>>,
}

fn bench(dir: &Path) -> Bench {
    let (begun_at, begun) = channel();
    let (let_go, waits) = channel();
    let gate = Mutex::new(Some((begun_at, waits)));
    let stopped = Arc::new(AtomicBool::new(false));
    let groups = Arc::new(Mutex::new(Vec::new()));
    let (stop, seen) = (Arc::clone(&stopped), Arc::clone(&groups));
    let settings = Settings::new(Rules::default(), Arc::new(move |facts| seen.lock().unwrap().push(facts)));
    let store = SqliteStore::open_with(
        dir,
        Settings {
            log_bytes: 1 << 16,
            fatal: Arc::new(move |_| stop.store(true, Ordering::SeqCst)),
            watch_log: Arc::new(move |log| {
                let (begun, let_go) = gate.lock().unwrap().take().unwrap();
                Box::new(Gate { log, begun, let_go })
            }),
            ..settings
        },
    );
    Bench { store: store.unwrap(), begun, let_go, stopped, groups }
}

fn job(n: u64) -> Vec<Op> {
    vec![draft::enqueue(draft::at(0), draft::incoming(n, draft::spec()))]
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

const A_WHILE: Duration = Duration::from_millis(50);

#[expect(
    clippy::disallowed_methods,
    reason = "nothing tells that a request waits: it can only be given time"
)]
fn pass_a_while() {
    std::thread::sleep(A_WHILE);
}

#[test]
fn answers_and_reads_wait_for_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let Bench { store, begun, let_go, .. } = bench(folder.path());
    let runtime = runtime();
    let mut commit = runtime.spawn(store.commit(job(1)));
    begun.recv().unwrap();
    // Committed and visible to SQLite, but not on disk.
    let mut get = runtime.spawn(store.get(draft::id(1)));
    let mut totals = runtime.spawn(store.totals());
    runtime.block_on(async {
        assert!(tokio::time::timeout(A_WHILE, &mut commit).await.is_err());
        assert!(tokio::time::timeout(A_WHILE, &mut get).await.is_err());
        assert!(tokio::time::timeout(A_WHILE, &mut totals).await.is_err());
        let_go.send(Ok(())).unwrap();
        assert!(commit.await.unwrap().unwrap()[0].is_ok());
        assert!(get.await.unwrap().unwrap().is_some());
        totals.await.unwrap().unwrap();
    });
    drop(let_go);
}

#[test]
fn a_failed_sync_answers_nobody_and_stops_everything() {
    let folder = tempfile::tempdir().unwrap();
    let Bench { store, begun, let_go, stopped, groups } = bench(folder.path());
    let runtime = runtime();
    let first = runtime.spawn(store.commit(job(1)));
    begun.recv().unwrap();
    let second = runtime.spawn(store.commit(job(2)));
    let get = runtime.spawn(store.get(draft::id(1)));
    pass_a_while();
    let_go.send(Err(io::Error::other("the disk is gone"))).unwrap();
    runtime.block_on(async {
        assert!(matches!(first.await.unwrap(), Err(StoreError::Unknown(_))));
        assert!(second.await.unwrap().is_err());
        assert!(get.await.unwrap().is_err());
        assert!(store.commit(job(3)).await.is_err());
        assert!(store.totals().await.is_err());
        assert!(store.close().await.is_err());
    });
    assert!(stopped.load(Ordering::SeqCst));
    assert!(groups.lock().unwrap().is_empty());
    drop(let_go);
}

#[test]
fn groups_that_come_while_the_disk_works_share_one_sync() {
    let folder = tempfile::tempdir().unwrap();
    let Bench { store, begun, let_go, groups, .. } = bench(folder.path());
    let runtime = runtime();
    let first = runtime.spawn(store.commit(job(0)));
    begun.recv().unwrap();
    let rest: Vec<_> = (1..50).map(|n| runtime.spawn(store.commit(job(n)))).collect();
    // Enough for all of them to be waiting; fewer groups than this allows would only be better.
    pass_a_while();
    (0..60).for_each(|_| let_go.send(Ok(())).unwrap());
    runtime.block_on(async {
        first.await.unwrap().unwrap();
        for commit in rest {
            commit.await.unwrap().unwrap();
        }
        store.close().await.unwrap();
    });
    let syncs = begun.try_iter().count();
    assert!(syncs <= 10, "{syncs} syncs");
    assert_eq!(groups.lock().unwrap().iter().map(|facts| facts.operations).sum::<usize>(), 50);
    drop(let_go);
}

#[test]
fn a_group_that_changes_nothing_costs_no_sync() {
    let folder = tempfile::tempdir().unwrap();
    let Bench { store, begun, let_go, .. } = bench(folder.path());
    let runtime = runtime();
    runtime.block_on(async {
        assert_eq!(store.claim(draft::claim(draft::at(0), &["default"], 5, 1)).await.unwrap().changes, []);
        assert!(store.commit(vec![draft::ack(draft::at(0), draft::id(9))]).await.unwrap()[0].is_err());
    });
    assert_eq!(begun.try_iter().count(), 0);
    drop(let_go);
}

/// Many callers, a log that is small enough to be copied back all the time, and reads between.
#[test]
fn checkpoints_disturb_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::new(Rules::default(), Arc::new(|_| ()));
    let settings = Settings { log_bytes: 200 << 10, ..settings };
    let store = Arc::new(SqliteStore::open_with(folder.path(), settings.clone()).unwrap());
    let runtime = runtime();
    let missing = Arc::new(AtomicUsize::new(0));
    let caller = |caller: u64| {
        let (store, missing) = (Arc::clone(&store), Arc::clone(&missing));
        async move {
            for n in 0..150 {
                let n = caller * 1000 + n;
                store.commit(job(n)).await.unwrap();
                missing.fetch_add(
                    usize::from(store.get(draft::id(n)).await.unwrap().is_none()),
                    Ordering::SeqCst,
                );
            }
        }
    };
    let callers: Vec<_> = (0..8).map(|n| runtime.spawn(caller(n))).collect();
    runtime.block_on(async {
        for caller in callers {
            caller.await.unwrap();
        }
        store.close().await.unwrap();
    });
    assert_eq!(missing.load(Ordering::SeqCst), 0);
    let store = SqliteStore::open_with(folder.path(), settings).unwrap();
    let totals = runtime.block_on(store.totals()).unwrap();
    assert_eq!(totals.counts.of(hapax_core::State::Available), 1200);
}
