//! A server in a folder of its own, and the databases in it.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::binaries::Binaries;
use crate::database::Database;
use crate::error::Error;
use crate::guard::Guard;
use crate::options::Options;
use crate::owner::Owner;
use crate::psql::Psql;
use crate::session::Session;

/// What databases are made from until a test says otherwise: nobody connects to it.
const BARE: &str = "template0";
const PREPARED: &str = "prepared";

/// Stopped and removed when it is dropped, and when the process ends without dropping it.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    options: Options,
    guard: Guard,
    psql: Psql,
    databases: AtomicU64,
    is_prepared: OnceLock<()>,
}

impl Cluster {
    /// The one cluster of this process, started by whoever asks first. Whoever stops it stops it for every test.
    #[track_caller]
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Result<Cluster, Error>> = OnceLock::new();
        match SHARED.get_or_init(|| Self::start(&Options::default())) {
            Ok(cluster) => cluster,
            Err(error) => error.fail(),
        }
    }

    /// A cluster of one's own, for tests that stop it or need settings of their own.
    pub fn start(options: &Options) -> Result<Self, Error> {
        let cluster = Self::prepare(options)?;
        cluster.guard.init()?;
        cluster.configure().map_err(Error::io("write the server's settings"))?;
        cluster.guard.start()?;
        Ok(cluster)
    }

    /// Another cluster, with the settings of this one, that follows it and can take its place.
    pub fn standby(&self) -> Result<Self, Error> {
        let standby = Self::prepare(&self.options)?;
        standby.follow(self)?;
        Ok(standby)
    }

    /// Makes this one a copy of another that follows it. What was here is gone.
    pub fn follow(&self, primary: &Self) -> Result<(), Error> {
        self.guard.copy(&primary.folder)?;
        self.configure().map_err(Error::io("write the server's settings"))?;
        self.guard.start()
    }

    /// Ends the following of another; from then on this one takes writes.
    pub fn promote(&self) -> Result<(), Error> {
        self.psql.administer("SELECT pg_promote()")
    }

    fn prepare(options: &Options) -> Result<Self, Error> {
        let binaries = Binaries::find()?;
        // The name of a socket has hardly a hundred bytes, most of which may be spent already.
        let folder = tempfile::Builder::new().prefix("pg").tempdir();
        let folder = folder.map_err(Error::io("make a folder for the server"))?;
        let owner = Owner::of(folder.path())?;
        let guard = Guard::spawn(folder.path(), &binaries, owner, &options.environment)?;
        let folder = folder.keep();
        let psql = Psql::new(&binaries, &folder);
        let (databases, is_prepared) = (AtomicU64::new(0), OnceLock::new());
        Ok(Self { folder, options: options.clone(), guard, psql, databases, is_prepared })
    }

    /// Where a client finds the database of that name, by way of the socket in the folder.
    pub fn url(&self, database: &str) -> String {
        self.psql.url(database)
    }

    /// The rows as text, one per line, columns apart by `|`.
    pub fn query(&self, database: &str, sql: &str) -> Result<String, Error> {
        self.psql.query(database, sql)
    }

    /// A connection for statements that belong together, such as those of a transaction.
    pub fn session(&self, database: &str) -> Result<Session, Error> {
        Session::open(&self.psql, database)
    }

    /// A fresh database: empty, or as [`Cluster::template`] made its model.
    #[track_caller]
    pub fn database(&self) -> Database {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let template = if self.is_prepared.get().is_some() { PREPARED } else { BARE };
        // Threads need not take turns: PostgreSQL lets many copy one template, as long as nobody is connected to it.
        Database::create(&self.psql, name, template, self.version()).unwrap_or_else(|error| error.fail())
    }

    /// The major version, as the server's folder says; an unreadable one is as old as can be.
    fn version(&self) -> u32 {
        let written = fs::read_to_string(self.data_dir().join("PG_VERSION"));
        written.ok().and_then(|version| version.trim().parse().ok()).unwrap_or_default()
    }

    /// Lets `make` prepare, through the URL it is given, what every later database is a copy of. The first call
    /// does it, while others wait; later calls do nothing.
    #[track_caller]
    pub fn template(&self, make: impl FnOnce(&str)) {
        self.is_prepared.get_or_init(|| {
            let administer = |sql: &str| self.psql.administer(sql).unwrap_or_else(|error| error.fail());
            // There from an attempt that panicked, perhaps.
            administer(&format!("DROP DATABASE IF EXISTS {PREPARED} WITH (FORCE)"));
            administer(&format!("CREATE DATABASE {PREPARED} TEMPLATE {BARE}"));
            make(&self.url(PREPARED));
            // It cannot be copied while a connection of `make` lingers.
            administer(&format!("ALTER DATABASE {PREPARED} ALLOW_CONNECTIONS false"));
            administer(&format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{PREPARED}'"
            ));
        });
    }

    /// Ends the server without letting it write out what it has in memory, as `pg_ctl -m immediate` does.
    pub fn stop_immediately(&self) -> Result<(), Error> {
        self.guard.stop()
    }

    /// Ends the server and all its children by SIGKILL.
    pub fn kill(&self) -> Result<(), Error> {
        self.guard.kill()
    }

    /// Starts the server again and returns when it takes connections. One that still runs is stopped first, at once.
    pub fn restart(&self) -> Result<(), Error> {
        self.guard.start()
    }

    pub fn data_dir(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub fn log(&self) -> &Path {
        self.guard.log()
    }

    /// The postmaster's, unless it was stopped or killed.
    pub fn pid(&self) -> Option<u32> {
        self.guard.server()
    }

    /// In the copy of another cluster, this comes after the lines of that one and wins over them.
    fn configure(&self) -> std::io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(self.data_dir().join("postgresql.conf"))?;
        file.write_all(self.options.lines(&self.folder).as_bytes())
    }
}
