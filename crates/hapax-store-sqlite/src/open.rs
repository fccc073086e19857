//! Opening: the folder, the file, the recovery of what a crash left, the indexes, the threads.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hapax_core::Rules;
use hapax_store::portable::Census;
use hapax_store::{CommitObserver, NoOutbox, Outbox};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::oneshot;

use crate::checkpoint::{self, Checkpointer};
use crate::folder::{self, Folder};
use crate::inbox::Inbox;
use crate::listening::Listening;
use crate::progress::Progress;
use crate::read::Readers;
use crate::rebuild::rebuild;
use crate::sight::Sight;
use crate::syncer::Syncer;
use crate::writer::{REQUESTS_WAITING_MAX, Threads, Writer};
use crate::{Durable, Fatal, Fault, SqliteStore, fatal, mark, pragma, schema};

/// How long the write-ahead log becomes before it is copied back, and how long its file is from the start.
const LOG_BYTES: u64 = 16 << 20;

/// How many reads of whole jobs run at a time.
const READERS: usize = 2;

/// Puts something between the engine and the file of its log; for tests.
pub type WatchLog = Arc<dyn Fn(File) -> Box<dyn Durable> + Send + Sync>;

/// How an engine is to be run.
#[derive(Clone)]
pub struct Settings {
    /// What the operator decides about jobs.
    pub rules: Rules,
    /// Who is told of every commit.
    pub observer: CommitObserver,
    /// What to do when the engine stops; ends the process unless told otherwise.
    pub fatal: Fatal,
    /// What syncs the log; the file itself unless told otherwise.
    pub watch_log: WatchLog,
    /// How long the write-ahead log becomes before it is copied back.
    pub log_bytes: u64,
    /// Who says what others are to be told of changes; nobody unless told otherwise.
    pub outbox: Arc<dyn Outbox>,
}

impl Settings {
    /// The usual ones.
    pub fn new(rules: Rules, observer: CommitObserver) -> Settings {
        Settings {
            rules,
            observer,
            fatal: fatal::exit_process(),
            watch_log: Arc::new(|log| Box::new(log)),
            log_bytes: LOG_BYTES,
            outbox: Arc::new(NoOutbox),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// Why a folder was not opened. Nothing in it was changed, but for the recovery after a crash.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("{} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// A later version of the program wrote it.
    #[error("{} has format {found}; this program knows formats up to {known}", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// Our newest.
        known: i64,
    },
    /// It is something else.
    #[error("{} is not a database of hapax", .0.display())]
    Foreign(PathBuf),
    /// A log that belongs to a database which is gone: a new database would swallow it.
    #[error("{} is the log of a database that is not there: put that back, or remove the log", .0.display())]
    LogWithoutDatabase(PathBuf),
    /// There is nothing that could be read.
    #[error("there is no store in {}", .0.display())]
    Nothing(PathBuf),
    /// Something is there, where only an empty store will do.
    #[error("{} is not empty: it holds {held}", .path.display())]
    NotEmpty {
        /// The file.
        path: PathBuf,
        /// What is there.
        held: Census,
    },
    /// An import was begun and not finished.
    #[error("an import into {} was begun and is not finished", .0.display())]
    Unfinished(PathBuf),
    /// The system refused.
    #[error("could not {doing} {}", .path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// SQLite refused, or a row is damaged.
    #[error("could not open {}", .path.display())]
    Fault {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: Fault,
    },
}

impl SqliteStore {
    /// Opens the store in that folder, which is made if it is not there. An error of the machine later on
    /// ends the process.
    pub fn open(dir: &Path, rules: Rules, observer: CommitObserver) -> Result<SqliteStore, OpenError> {
        SqliteStore::open_with(dir, Settings::new(rules, observer))
    }

    /// The same with every setting.
    pub fn open_with(dir: &Path, settings: Settings) -> Result<SqliteStore, OpenError> {
        let Settings { rules, observer, fatal, watch_log, log_bytes, outbox } = settings;
        let folder = folder::prepare(dir)?;
        let fault = |source| OpenError::Fault { path: folder.database.clone(), source };
        let db = connect(&folder.database).map_err(fault)?;
        check_format(&db, &folder)?;
        check_finished(&db, &folder)?;
        let set_up = |connection: &Connection, pragmas: fn(&Connection) -> rusqlite::Result<()>| {
            pragmas(connection).map_err(Fault::of("set a pragma")).map_err(fault)
        };
        set_up(&db, pragma::writer)?;
        // What recovery found in the log may be in the system's memory only. Copying it back syncs it, so
        // that nothing is shown which a power cut could still take away.
        checkpoint::empty_log(&db).map_err(fault)?;
        schema::complete(&db).map_err(Fault::of("add a table")).map_err(fault)?;
        let (index, last) = rebuild(&db, &rules).map_err(fault)?;
        schema::count_start(&db).map_err(Fault::of("write the first row")).map_err(fault)?;
        let log = open_log(&folder, log_bytes)?;

        let progress = Arc::new(Progress::new(fatal));
        let connections = (0..=READERS).map(|_| connect(&folder.database));
        let mut connections = connections.collect::<Result<Vec<_>, _>>().map_err(fault)?;
        connections.iter().try_for_each(|connection| set_up(connection, pragma::reader))?;
        let own = connections.remove(0);
        set_up(&own, pragma::checkpointer)?;
        let start = || -> io::Result<SqliteStore> {
            let inbox = Arc::new(Inbox::new(REQUESTS_WAITING_MAX));
            let readers = Readers::start(connections, &progress)?;
            let sight = Sight {
                inbox: Arc::clone(&inbox),
                reads: readers.inbox(),
                visible: index.visible(),
                progress: Arc::clone(&progress),
            };
            let writers = Arc::clone(&inbox);
            let look_again = move || writers.nudge();
            let syncer = Syncer::start(watch_log(log), Arc::clone(&progress), observer, look_again)?;
            let checkpointer = Checkpointer::start(own, log_bytes, Arc::clone(&progress))?;
            let (closed, hears) = oneshot::channel();
            let listening = Arc::new(Listening::default());
            let told = Arc::clone(&listening);
            let threads =
                Threads { inbox, progress, syncer, checkpointer, readers, listening, lock: folder.lock };
            let writer = Some(Writer { db, rules, index, last, outbox, threads }.start(closed)?);
            Ok(SqliteStore { sight, listening: told, closed: Mutex::new(Some(hears)), writer })
        };
        start().map_err(|source| OpenError::Io { doing: "start the threads for", path: dir.into(), source })
    }
}

/// Each connection stays with one thread at a time, so SQLite need not lock it.
pub(crate) fn connect(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(Fault::of("open the file"))
}

/// Looks before anything is written.
pub(crate) fn check_format(db: &Connection, folder: &Folder) -> Result<(), OpenError> {
    let path = || folder.database.clone();
    let number = |sql| db.query_row(sql, [], |row| row.get::<_, i64>(0));
    // A disk, a lock or a right that is in the way says nothing about whose file it is.
    let unreadable = |source: rusqlite::Error| match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::Foreign(path()),
        _ => OpenError::Fault { path: path(), source: Fault::Sqlite { doing: "read its format", source } },
    };
    if number("PRAGMA application_id").map_err(unreadable)? != schema::APPLICATION_ID {
        return Err(OpenError::Foreign(path()));
    }
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'about'";
    if number(tables).map_err(unreadable)? == 0 {
        return Err(OpenError::Foreign(path()));
    }
    let found = number("SELECT value FROM about WHERE name = 'format'").map_err(unreadable)?;
    if found > schema::FORMAT {
        return Err(OpenError::Newer { path: path(), found, known: schema::FORMAT });
    }
    Ok(())
}

/// Half of what another store held is not to be served.
pub(crate) fn check_finished(db: &Connection, folder: &Folder) -> Result<(), OpenError> {
    let path = || folder.database.clone();
    match mark::read(db) {
        Ok(None) => Ok(()),
        Ok(Some(_)) => Err(OpenError::Unfinished(path())),
        Err(source) => Err(OpenError::Fault { path: path(), source }),
    }
}

/// A handle of our own on the log, for the syncer. It stays the right file: the log is only ever made new
/// when the last connection goes. (Closing it is harmless too; closing one on the database or its `-shm`
/// would drop the locks that SQLite holds in this process.)
fn open_log(folder: &Folder, bytes: u64) -> Result<File, OpenError> {
    let failed = |source| OpenError::Io { doing: "prepare the log", path: folder.log.clone(), source };
    let log = OpenOptions::new().read(true).write(true).open(&folder.log).map_err(failed)?;
    grow(&log, bytes).map_err(failed)?;
    folder.sync()?;
    Ok(log)
}

/// Zeros behind the end of the log. Frames of zeros lack the log's salt, so recovery stops before them.
fn grow(log: &File, bytes: u64) -> io::Result<()> {
    let zeros = vec![0; 1 << 20];
    let mut length = log.metadata()?.len();
    while length < bytes {
        let part = usize::try_from(bytes - length).unwrap_or(usize::MAX).min(zeros.len());
        log.write_all_at(&zeros[..part], length)?;
        length += part as u64;
    }
    log.sync_all()
}
