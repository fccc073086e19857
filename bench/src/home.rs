//! Where a server keeps its jobs while it is measured: a folder or a database of its own.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::Result;
use hapax_pg_cluster::{Cluster, Database};
use tempfile::TempDir;

#[derive(Debug)]
pub(crate) enum Home {
    Folder(TempDir),
    /// With a folder for the server's log.
    Database(Database, TempDir),
}

impl Home {
    /// An empty one: in the cluster if there is one, else under the directory.
    pub(crate) fn empty(directory: &Path, cluster: Option<&Cluster>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("home-").tempdir_in(directory)?;
        Ok(match cluster {
            Some(cluster) => Self::Database(cluster.database(), folder),
            None => Self::Folder(folder),
        })
    }

    /// One with the same contents. Nobody may be at work on this one.
    pub(crate) fn copy(&self, directory: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("home-").tempdir_in(directory)?;
        match self {
            Self::Folder(original) => {
                copy_files(original.path(), folder.path())?;
                Ok(Self::Folder(folder))
            }
            Self::Database(original, _) => Ok(Self::Database(original.copy()?, folder)),
        }
    }

    /// Tells a server to live here.
    pub(crate) fn furnish(&self, command: &mut Command) {
        match self {
            Self::Folder(folder) => command.arg("--data").arg(folder.path()),
            Self::Database(database, _) => command.arg("--database-url").arg(database.url()),
        };
    }

    pub(crate) fn log(&self) -> std::path::PathBuf {
        let (Self::Folder(folder) | Self::Database(_, folder)) = self;
        folder.path().with_extension("log")
    }
}

/// A cluster that keeps what it says, with the memory that a small server of its own would get.
pub(crate) fn cluster() -> Result<Arc<Cluster>> {
    let settings = ["shared_buffers = 1GB", "max_wal_size = 8GB"].map(str::to_owned).to_vec();
    Ok(Arc::new(Cluster::start(&hapax_pg_cluster::Options {
        durable: true,
        settings,
        environment: Vec::new(),
    })?))
}

/// Copies a directory of files, synced: dirty pages would be written back during the next measurement.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_files(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
            File::open(&target)?.sync_all()?;
        }
    }
    Ok(())
}
