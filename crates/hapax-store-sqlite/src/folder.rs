//! The folder: its lock, and a database file that is either whole or not there.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::{Fault, OpenError, pragma, schema};

const LOCK: &str = "hapax.lock";
const DATABASE: &str = "hapax.db";
const LOG: &str = "hapax.db-wal";
/// The file while it is being made. Whatever is found under this name was cut short.
const UNFINISHED: &str = "hapax.db.new";
const UNFINISHED_LEFTOVERS: [&str; 4] =
    [UNFINISHED, "hapax.db.new-wal", "hapax.db.new-shm", "hapax.db.new-journal"];

/// Jobs may hold secrets: the folder and its files are the owner's alone.
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// A folder that is ours as long as the lock is held.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    pub(crate) database: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) lock: File,
}

/// Makes the folder and the database, if they are not there, and locks the folder.
pub(crate) fn prepare(dir: &Path) -> Result<Folder, OpenError> {
    make_folder(dir)?;
    let folder = Folder {
        path: dir.into(),
        database: dir.join(DATABASE),
        log: dir.join(LOG),
        lock: take_lock(&dir.join(LOCK))?,
    };
    if holds_nothing(&folder.database)? {
        if !holds_nothing(&folder.log)? {
            return Err(OpenError::LogWithoutDatabase(folder.log));
        }
        sync_name(dir)?;
        folder.make_database()?;
    }
    Ok(folder)
}

/// Whether somebody made a database there.
pub(crate) fn has_database(dir: &Path) -> Result<bool, OpenError> {
    holds_nothing(&dir.join(DATABASE)).map(|is_nothing| !is_nothing)
}

impl Folder {
    /// Makes names durable: a file that is synced is lost all the same if its name is not.
    pub(crate) fn sync(&self) -> Result<(), OpenError> {
        sync_folder(&self.path)
    }

    /// Under another name first: a power cut leaves a whole database or none.
    fn make_database(&self) -> Result<(), OpenError> {
        for name in UNFINISHED_LEFTOVERS {
            let path = self.path.join(name);
            match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(OpenError::Io { doing: "remove", path, source });
                }
                _ => {}
            }
        }
        let path = self.path.join(UNFINISHED);
        let failed = |doing| {
            let path = path.clone();
            move |source| OpenError::Io { doing, path, source }
        };
        // Made by us and not by SQLite, for the mode; SQLite gives its log the mode of the database.
        let file = private_file(&path).map_err(failed("make"))?;
        drop(file);
        fill(&path).map_err(|source| OpenError::Fault { path: path.clone(), source })?;
        File::open(&path).and_then(|file| file.sync_all()).map_err(failed("sync"))?;
        fs::rename(&path, &self.database).map_err(failed("rename"))?;
        self.sync()
    }
}

fn fill(path: &Path) -> Result<(), Fault> {
    let db = Connection::open(path).map_err(Fault::of("open the new file"))?;
    pragma::new_file(&db).map_err(Fault::of("set a pragma"))?;
    schema::create(&db).map_err(Fault::of("make the tables"))?;
    // The last connection copies the log back and removes it.
    db.close().map_err(|(_, source)| Fault::Sqlite { doing: "close the new file", source })
}

/// Level by level: each new name is on disk before anything lies below it.
fn make_folder(dir: &Path) -> Result<(), OpenError> {
    let is_missing = |level: &&Path| !level.as_os_str().is_empty() && !level.is_dir();
    let missing: Vec<&Path> = dir.ancestors().take_while(is_missing).collect();
    for level in missing.into_iter().rev() {
        match DirBuilder::new().mode(FOLDER_MODE).create(level) {
            // Another process may have been faster.
            Err(source) if !level.is_dir() => {
                return Err(OpenError::Io { doing: "make", path: level.into(), source });
            }
            _ => sync_folder(&holder_of(level)?)?,
        }
    }
    Ok(())
}

/// Makes the folder's own name durable: somebody may have made it just before and not synced it. A parent that
/// we may not open, or that cannot be synced at all (a mount in a read-only system), is no reason to refuse: its
/// name is then the care of whoever made it. An error of the disk is.
fn sync_name(dir: &Path) -> Result<(), OpenError> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    match sync_folder(&holder_of(dir)?) {
        Err(OpenError::Io { source, .. })
            if matches!(
                source.kind(),
                InvalidInput | PermissionDenied | ReadOnlyFilesystem | Unsupported
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

/// The folder that holds the name of this one, which is there. The root holds itself.
fn holder_of(dir: &Path) -> Result<PathBuf, OpenError> {
    let failed = |source| OpenError::Io { doing: "look at", path: dir.into(), source };
    let whole = fs::canonicalize(dir).map_err(failed)?;
    Ok(whole.parent().map_or_else(|| whole.clone(), Path::to_path_buf))
}

fn take_lock(path: &Path) -> Result<File, OpenError> {
    let failed = |source| OpenError::Io { doing: "lock", path: path.into(), source };
    let lock = private_file(path).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(path.into())),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path)
}

/// Whether the file is not there, or has not a single byte.
fn holds_nothing(path: &Path) -> Result<bool, OpenError> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len() == 0),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(source) => Err(OpenError::Io { doing: "look at", path: path.into(), source }),
    }
}

fn sync_folder(path: &Path) -> Result<(), OpenError> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(|source| OpenError::Io { doing: "sync", path: path.into(), source })
}
