//! What keeps the jobs, of all that was said about it.

use std::path::PathBuf;

use hapax_store_postgres::Settings;

use super::StoreConfig;
use crate::cli::StoreKind;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::value::{Database, Schema};

const DATA: &str = "./hapax-data";
/// Fewer could not run the lanes and one who reads; more would leave other servers none.
const CONNECTIONS: std::ops::RangeInclusive<usize> = 6..=1000;

/// What was said about a database.
pub(super) struct Asked {
    pub(super) database_url: Option<Database>,
    pub(super) listen_url: Option<Database>,
    pub(super) database_schema: Option<Schema>,
    pub(super) database_connections: Option<usize>,
}

/// A database wins over a folder. What contradicts it is refused, but for the environment's `DATABASE_URL`, which may
/// be meant for others.
pub(super) fn keeper(
    kind: Option<StoreKind>,
    data: Option<PathBuf>,
    asked: Asked,
    environment: &Environment,
) -> Result<StoreConfig, Failure> {
    let Asked { database_url, listen_url, database_schema, database_connections } = asked;
    let database = match (database_url, &environment.database_url) {
        (Some(url), _) if kind.is_none() => Some(url.0),
        (Some(_), _) => {
            return Err(Failure::new("store and database-url are both given, and say different things")
                .hint("leave out --store: a database URL is enough"));
        }
        (None, Some(url)) if kind.is_none() => Some(url.reveal().parse().map_err(|error| {
            Failure::because("DATABASE_URL cannot be used", &error)
                .hint("give --database-url, or --store embedded to do without a database")
        })?),
        (None, _) => None,
    };
    let Some(database) = database else {
        let extras = [
            ("listen-url", listen_url.is_some()),
            ("database-schema", database_schema.is_some()),
            ("database-connections", database_connections.is_some()),
        ];
        if let Some((name, _)) = extras.into_iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::new(format!("{name} is given, but no database"))
                .hint("give --database-url, or leave it out"));
        }
        return match (kind.unwrap_or(StoreKind::Embedded), data) {
            (StoreKind::Embedded, data) => {
                Ok(StoreConfig::Embedded { data: data.unwrap_or_else(|| DATA.into()) })
            }
            (StoreKind::Memory, None) => Ok(StoreConfig::Memory),
            (StoreKind::Memory, Some(data)) => Err(Failure::new(format!(
                "data is {}, but the memory store keeps nothing in a folder",
                data.display()
            ))
            .hint("leave out --data (HAPAX_DATA), or --store memory to keep jobs in that folder")),
        };
    };
    let connections = database_connections.unwrap_or(Settings::CONNECTIONS);
    if !CONNECTIONS.contains(&connections) {
        let (least, most) = (CONNECTIONS.start(), CONNECTIONS.end());
        return Err(Failure::new(format!(
            "database-connections is {connections}; it must be at least {least} and at most {most}"
        )));
    }
    let listen = listen_url.map(|url| url.0);
    let schema = database_schema.map(|schema| schema.0).unwrap_or_default();
    Ok(StoreConfig::Postgres { database, listen, schema, connections })
}
