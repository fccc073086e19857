//! Exports and imports of folders: what is refused, and what goes on after it was cut short.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

#[path = "support/draft.rs"]
#[expect(dead_code, reason = "shared by several test files")]
mod draft;

use std::io;
use std::path::Path;
use std::sync::Arc;

use hapax_core::{Rules, Timestamp};
use hapax_store::portable::{
    Batch, Census, ExportId, ImportError, Item, Mark, Occasion, Reader, Seal, Target, export, import,
};
use hapax_store::{Action, Memo, MemoKey, Op, Remembered, Store};
use hapax_store_sqlite::{OpenError, Settings, SqliteSource, SqliteStore, SqliteTarget};

fn open(dir: &Path) -> Result<SqliteStore, OpenError> {
    SqliteStore::open_with(dir, Settings::new(Rules::default(), Arc::new(|_| ())))
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Some jobs, each with a remembered answer, and one of them with a worker.
fn fill(dir: &Path) {
    let store = open(dir).unwrap();
    for n in 1..=9 {
        let reply = Remembered { status: 201, body: Arc::from(*b"{}") };
        let render = Arc::new(move |_: &hapax_store::Answer| reply.clone());
        let key = MemoKey(format!("POST {n}").into());
        let memo = Some(Memo { key, fingerprint: [7; 32], render });
        let incoming = Box::new(draft::incoming(n, draft::spec()));
        let op = Op { now: draft::at(0), action: Action::Enqueue { incoming, memo } };
        assert!(wait(store.commit(vec![op])).unwrap()[0].is_ok());
    }
    wait(store.claim(draft::claim(draft::at(1), &["default"], 1, 5))).unwrap();
    wait(store.close()).unwrap();
}

fn exported(dir: &Path) -> (String, Seal) {
    let occasion = Occasion { id: ExportId([9; 16]), now: Timestamp::EPOCH, version: "0.0.0" };
    let mut source = SqliteSource::open(dir).unwrap();
    let (text, seal) = export(&mut source, occasion, Vec::new(), &mut |_, _| ()).unwrap();
    (String::from_utf8(text).unwrap(), seal)
}

fn imported(target: &mut dyn Target, text: &str) -> Result<Seal, ImportError> {
    let batch = Batch { lines: 4, ..Batch::default() };
    import(&mut Reader::begin(text.as_bytes())?, target, batch, &mut |_| ())
}

/// A target that stands still after so many transactions.
struct Failing {
    inner: SqliteTarget,
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
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    fill(&old);
    let (text, seal) = exported(&old);
    assert_eq!(seal.census, Census { queues: 1, jobs: 9, entries: 0, memos: 9 });
    let mut breaks = 0;
    loop {
        let dir = home.path().join(breaks.to_string());
        let mut failing = Failing { inner: SqliteTarget::open(&dir).unwrap(), left: breaks };
        if imported(&mut failing, &text).is_ok() {
            break;
        }
        drop(failing);
        if breaks > 0 {
            assert!(matches!(open(&dir), Err(OpenError::Unfinished(_))), "after {breaks}");
            assert!(matches!(SqliteSource::open(&dir), Err(OpenError::Unfinished(_))), "after {breaks}");
        }
        assert_eq!(imported(&mut SqliteTarget::open(&dir).unwrap(), &text).unwrap(), seal);
        assert_eq!(exported(&dir), (text.clone(), seal), "broken after {breaks}");
        wait(open(&dir).unwrap().close()).unwrap();
        breaks += 1;
    }
    assert_eq!(breaks, 7, "a beginning, five batches and an end");
}

#[test]
fn a_folder_that_holds_anything_is_refused_and_stays_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("data");
    fill(&dir);
    let (text, _) = exported(&dir);
    match SqliteTarget::open(&dir) {
        Err(OpenError::NotEmpty { held, .. }) => {
            assert_eq!(held, Census { queues: 1, jobs: 9, entries: 0, memos: 9 });
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(exported(&dir).0, text);
}

#[test]
fn a_folder_in_use_is_refused_to_both() {
    let home = tempfile::tempdir().unwrap();
    let server = open(home.path()).unwrap();
    assert!(matches!(SqliteSource::open(home.path()), Err(OpenError::InUse(_))));
    assert!(matches!(SqliteTarget::open(home.path()), Err(OpenError::InUse(_))));
    wait(server.close()).unwrap();
    let _importing = SqliteTarget::open(home.path()).unwrap();
    assert!(matches!(open(home.path()), Err(OpenError::InUse(_))));
    assert!(matches!(SqliteTarget::open(home.path()), Err(OpenError::InUse(_))));
}

#[test]
fn an_export_makes_no_folder() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("data");
    assert!(matches!(SqliteSource::open(&dir), Err(OpenError::Nothing(_))));
    assert!(!dir.exists());
}

#[test]
fn a_used_folder_without_jobs_takes_an_import() {
    let home = tempfile::tempdir().unwrap();
    let (old, new) = (home.path().join("old"), home.path().join("new"));
    fill(&old);
    wait(open(&new).unwrap().close()).unwrap();
    let (text, _) = exported(&old);
    imported(&mut SqliteTarget::open(&new).unwrap(), &text).unwrap();
    assert_eq!(exported(&new).0, text);
}

#[test]
fn an_id_that_two_jobs_have_is_noticed_and_so_is_a_name_of_two_memos() {
    let home = tempfile::tempdir().unwrap();
    let old = home.path().join("old");
    fill(&old);
    let (text, _) = exported(&old);
    let (one, two) = (draft::id(1).to_string(), draft::id(2).to_string());
    for (number, (from, to, expected)) in [
        (one.as_str(), two.as_str(), "the job"),
        ("\"name\":\"POST 3\"", "\"name\":\"POST 2\"", "it stands in the wrong place"),
    ]
    .into_iter()
    .enumerate()
    {
        let dir = home.path().join(number.to_string());
        let told = imported(&mut SqliteTarget::open(&dir).unwrap(), &resealed(&text.replace(from, to)));
        let told = told.unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
        assert!(matches!(open(&dir), Err(OpenError::Unfinished(_))));
    }
    let later = text.replace(
        "\"since\":1700000000000,\"name\":\"POST 9\"",
        "\"since\":1700000000001,\"name\":\"POST 2\"",
    );
    let dir = home.path().join("later");
    let error = imported(&mut SqliteTarget::open(&dir).unwrap(), &resealed(&later)).unwrap_err();
    assert_eq!(error.to_string(), "the memo POST 2 is there more than once");
}

/// The lines with a checksum that is right again.
fn resealed(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let end = lines.pop().unwrap();
    let told = match imported(&mut Nowhere, text) {
        Err(ImportError::Checksum { told, found }) => end.replace(&told, &found),
        _ => end.to_owned(),
    };
    lines.push(&told);
    lines.join("\n") + "\n"
}

/// A target that keeps nothing.
struct Nowhere;

impl Target for Nowhere {
    fn begun(&self) -> Option<Mark> {
        None
    }

    fn begin(&mut self, _: Mark) -> Result<(), ImportError> {
        Ok(())
    }

    fn store(&mut self, _: Vec<Item>, _: Mark) -> Result<(), ImportError> {
        Ok(())
    }

    fn finish(&mut self, _: Census) -> Result<(), ImportError> {
        Ok(())
    }
}
