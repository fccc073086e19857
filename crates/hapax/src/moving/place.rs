//! The store that a command is about.

use std::fmt;

use clap::Parser as _;
use hapax_core::Rules;
use hapax_store::portable::{Source, Target};
use hapax_store_postgres::{PostgresSource, PostgresTarget};
use hapax_store_sqlite::{SqliteSource, SqliteTarget};

use crate::cli::{Cli, Command, Place, Serve};
use crate::config::{Config, StoreConfig};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::{migrate, serve};

/// A store, and the rules of its servers.
#[derive(Debug)]
pub(super) struct Kept {
    store: StoreConfig,
    rules: Rules,
}

impl Kept {
    /// The one that the flags name; else that of a server with the same environment and file.
    pub(super) fn find(place: Place) -> Result<Kept, Failure> {
        let (store, rules) = Config::kept(place, served()?, &Environment::read()?)?;
        if store == StoreConfig::Memory {
            return Err(Failure::misuse("a store in memory is gone when its server stops")
                .hint("name a folder with --data, or a database with --database-url"));
        }
        Ok(Kept { store, rules })
    }

    pub(super) fn source(&self) -> Result<Box<dyn Source>, Failure> {
        match &self.store {
            StoreConfig::Postgres { database, schema, .. } => {
                let source = PostgresSource::open(database, schema);
                Ok(Box::new(source.map_err(|error| migrate::refused(database, &error))?))
            }
            StoreConfig::Embedded { data } => {
                Ok(Box::new(SqliteSource::open(data).map_err(|error| serve::not_opened(&error))?))
            }
            StoreConfig::Memory => Err(Failure::misuse("a store in memory cannot be exported")),
        }
    }

    pub(super) fn target(&self) -> Result<Box<dyn Target>, Failure> {
        match &self.store {
            StoreConfig::Postgres { database, schema, .. } => {
                let target = PostgresTarget::open(database, schema, self.rules.clone());
                Ok(Box::new(target.map_err(|error| migrate::refused(database, &error))?))
            }
            StoreConfig::Embedded { data } => {
                Ok(Box::new(SqliteTarget::open(data).map_err(|error| serve::not_opened(&error))?))
            }
            StoreConfig::Memory => Err(Failure::misuse("a store in memory cannot be filled")),
        }
    }

    /// How an import that was begun is given up.
    pub(super) fn way_out(&self) -> String {
        match &self.store {
            StoreConfig::Postgres { schema, .. } => migrate::way_out(schema),
            StoreConfig::Embedded { data } => format!("to give the import up, delete {}", data.display()),
            StoreConfig::Memory => String::new(),
        }
    }
}

/// What `hapax serve` would be told by the environment.
fn served() -> Result<Serve, Failure> {
    let parsed = Cli::try_parse_from(["hapax", "serve"]).map_err(|error| {
        Failure::misuse(format!("the environment cannot be followed: {}", error.to_string().trim()))
    })?;
    match parsed.command {
        Command::Serve(serve) => Ok(*serve),
        other => Err(Failure::new(format!("`serve` was taken for {other:?}"))),
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.store {
            StoreConfig::Embedded { data } => write!(f, "{}", data.display()),
            StoreConfig::Memory => f.write_str("memory"),
            StoreConfig::Postgres { database, schema, .. } => {
                write!(f, "{database}, schema {}", schema.as_str())
            }
        }
    }
}
