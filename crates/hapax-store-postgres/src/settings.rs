//! What a server has to know to use a database.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use hapax_core::Rules;
use hapax_store::{CommitObserver, NoOutbox, Outbox};

use crate::DatabaseUrl;

/// How to use a database.
#[derive(Clone)]
pub struct Settings {
    /// Where it is.
    pub database: DatabaseUrl,
    /// Where it is for whoever listens, if a pooler stands in the other way: notifications need a connection of their own.
    pub listen: Option<DatabaseUrl>,
    /// Where in it the tables are.
    pub schema: SchemaName,
    /// How many connections this server opens at most.
    pub connections: usize,
    /// The operator's settings.
    pub rules: Rules,
    /// Who is told of every commit.
    pub observer: CommitObserver,
    /// Who says what others are to be told of changes.
    pub outbox: Arc<dyn Outbox>,
}

impl Settings {
    /// Most connections, unless said otherwise: five groups of commits and claims, four who wait for locks, and some who read.
    pub const CONNECTIONS: usize = 16;

    /// The usual settings for that database.
    pub fn new(database: DatabaseUrl, rules: Rules) -> Settings {
        Settings {
            database,
            listen: None,
            schema: SchemaName::default(),
            connections: Settings::CONNECTIONS,
            rules,
            observer: Arc::new(|_| ()),
            outbox: Arc::new(NoOutbox),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { database, listen, schema, connections, rules, observer: _, outbox: _ } = self;
        let mut shown = f.debug_struct("Settings");
        shown.field("database", database).field("listen", listen);
        shown.field("schema", schema).field("connections", connections).field("rules", rules);
        shown.finish_non_exhaustive()
    }
}

/// The name of a schema: letters, digits and underscores, in lower case, so that it needs no quotes anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaName(Box<str>);

/// A text that names no schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" cannot name the schema: 1 to 40 lower-case letters, digits and underscores, a letter first")]
pub struct SchemaNameError(Box<str>);

impl SchemaName {
    /// Longer ones would leave no room for the names of what is in it.
    const LENGTH_MAX: usize = 40;

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the schema is called while an import fills it: whoever looks for it under its own name finds nothing.
    pub(crate) fn importing(&self) -> SchemaName {
        SchemaName(format!("{}_importing", self.0).into())
    }

    /// A statement of ours, which is written for the usual schema, for this one.
    pub(crate) fn statement(&self, sql: &str) -> String {
        sql.replace("hapax.", &format!("{}.", self.0))
    }
}

impl Default for SchemaName {
    fn default() -> SchemaName {
        SchemaName("hapax".into())
    }
}

impl FromStr for SchemaName {
    type Err = SchemaNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.len() <= SchemaName::LENGTH_MAX
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        // Names that begin so belong to the database itself.
        if fits && !text.starts_with("pg_") {
            Ok(SchemaName(text.into()))
        } else {
            Err(SchemaNameError(text.chars().take(64).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_named_so_that_it_needs_no_quotes() {
        for name in ["hapax", "jobs_2", "a"] {
            assert_eq!(name.parse::<SchemaName>().unwrap().as_str(), name);
        }
        for name in ["", "2a", "Jobs", "a-b", "a.b", "a\"b", "pg_jobs", &"a".repeat(41)] {
            assert!(name.parse::<SchemaName>().is_err(), "{name}");
        }
    }

    #[test]
    fn statements_are_turned_to_the_schema() {
        let name: SchemaName = "mine".parse().unwrap();
        assert_eq!(
            name.statement("SELECT 1 FROM hapax.jobs, hapax.memos"),
            "SELECT 1 FROM mine.jobs, mine.memos"
        );
    }
}
