//! One test's own database.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;
use crate::psql::Psql;

/// Files are copied as they are, in a third of the time that it takes to log each of their pages. Versions before 15 know
/// no other way, and no word for it.
const BY_FILES: &str = " STRATEGY FILE_COPY";
const BY_FILES_SINCE: u32 = 15;

/// Dropped with this value, whoever is still connected.
#[derive(Debug)]
pub struct Database {
    psql: Psql,
    name: String,
    version: u32,
}

impl Database {
    /// A copy of the template, on a server of that major version.
    pub(crate) fn create(psql: &Psql, name: String, template: &str, version: u32) -> Result<Self, Error> {
        let by_files = if version >= BY_FILES_SINCE { BY_FILES } else { "" };
        psql.administer(&format!("CREATE DATABASE {name} TEMPLATE {template}{by_files}"))?;
        Ok(Self { psql: psql.clone(), name, version })
    }

    /// A database with the same contents. Whoever is connected to this one is thrown out of it first.
    pub fn copy(&self) -> Result<Self, Error> {
        static COPIES: AtomicU64 = AtomicU64::new(0);
        let name = format!("{}_copy_{}", self.name, COPIES.fetch_add(1, Ordering::Relaxed));
        self.psql.administer(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'",
            self.name
        ))?;
        Self::create(&self.psql, name, &self.name, self.version)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn url(&self) -> String {
        self.psql.url(&self.name)
    }

    /// The rows as text, one per line, columns apart by `|`.
    pub fn query(&self, sql: &str) -> Result<String, Error> {
        self.psql.query(&self.name, sql)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The server may be stopped or gone, and then the database is no burden.
        let _ = self.psql.administer(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}
