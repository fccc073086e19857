//! The tables, and the steps that lead to them.

use hapax_core::{Retention, Rules};
use hapax_store::record::millis;
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use crate::settings::SchemaName;
use crate::{Fault, OpenError, mark};

/// A step. Steps are never changed once they were released; others follow.
struct Migration {
    version: i32,
    name: &'static str,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "tables", sql: include_str!("sql/0001-tables.sql") },
    Migration {
        version: 2,
        name: "functions",
        sql: concat!(
            include_str!("sql/0002/1-form.sql"),
            include_str!("sql/0002/2-key.sql"),
            include_str!("sql/0002/3-read.sql"),
            include_str!("sql/0002/4-shown.sql"),
            include_str!("sql/0002/5-life.sql"),
            include_str!("sql/0002/6-doors.sql"),
        ),
    },
    Migration {
        version: 3,
        name: "store_new",
        sql: concat!(include_str!("sql/0003-store_new.sql"), include_str!("sql/0003-share.sql")),
    },
];

/// The newest version that this program knows.
pub(crate) const VERSION: i32 = 3;

/// Whatever is done here is done by one server at a time: a lock on this number (`hapax` in ASCII) is held meanwhile.
const LOCK: i64 = 0x0068_6170_6178;

/// Brings the schema to the newest version. Many servers may start at once: one does it, the others wait. A schema that is
/// there and up to date is only looked at, for which no right to change it is needed.
pub(crate) async fn migrate(client: &mut Client, schema: &SchemaName) -> Result<Vec<Step>, OpenError> {
    let failed = Fault::of("migrate the schema");
    let transaction = client.transaction().await.map_err(&failed)?;
    let steps = migrate_in(&transaction, schema).await?;
    transaction.commit().await.map_err(&failed)?;
    Ok(steps)
}

/// The same within a transaction. Its lock is held until that ends.
pub(crate) async fn migrate_in(
    transaction: &tokio_postgres::Transaction<'_>,
    schema: &SchemaName,
) -> Result<Vec<Step>, OpenError> {
    let failed = Fault::of("migrate the schema");
    transaction.query_one("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await.map_err(&failed)?;
    let steps = steps_from(known_version(transaction, schema).await?, schema);
    for step in &steps {
        transaction.batch_execute(&step.sql).await.map_err(&failed)?;
    }
    Ok(steps)
}

/// What a migration would do.
pub(crate) async fn plan(client: &mut Client, schema: &SchemaName) -> Result<Vec<Step>, OpenError> {
    let transaction = client.transaction().await.map_err(Fault::of("look for the schema"))?;
    Ok(steps_from(known_version(&transaction, schema).await?, schema))
}

pub(crate) async fn known_version(
    transaction: &tokio_postgres::Transaction<'_>,
    schema: &SchemaName,
) -> Result<i32, OpenError> {
    // The schema is there under another name, and must not be made a second time.
    if mark::is_there(transaction, &schema.importing()).await? {
        return Err(OpenError::Unfinished(schema.clone()));
    }
    match version(transaction, schema).await? {
        found if found > VERSION => Err(OpenError::Newer { schema: schema.clone(), found, known: VERSION }),
        found => Ok(found),
    }
}

/// A step of a migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The version to which it leads.
    pub version: i32,
    /// What it is about.
    pub name: &'static str,
    /// What it does.
    pub sql: String,
}

/// The steps from one version to the newest.
fn steps_from(found: i32, schema: &SchemaName) -> Vec<Step> {
    let wanted = MIGRATIONS.iter().filter(|migration| migration.version > found);
    let step = |Migration { version, name, sql }: &Migration| {
        let create = if *version == 1 { create(schema) } else { String::new() };
        let note = format!("INSERT INTO hapax.migrations (version, name) VALUES ({version}, '{name}');\n");
        let sql = format!("{create}{}", schema.statement(&format!("{sql}\n{note}")));
        Step { version: *version, name, sql }
    };
    wanted.map(step).collect()
}

/// Tells the SQL functions the operator's settings. With several servers the one that started last is heard.
pub(crate) async fn write_rules(client: &Client, sql: &str, rules: &Rules) -> Result<(), Fault> {
    let Rules { visibility_timeout, retention, joined_bytes_max } = rules;
    let Retention { completed, cancelled, discarded } = retention;
    let [completed, cancelled, discarded, visibility] =
        [completed, cancelled, discarded, visibility_timeout].map(|span| millis(*span));
    let joined = i64::try_from(*joined_bytes_max).unwrap_or(i64::MAX);
    let params: [&(dyn ToSql + Sync); 5] = [&completed, &cancelled, &discarded, &visibility, &joined];
    client.execute(sql, &params).await.map(drop).map_err(Fault::of("write down the rules"))
}

/// The version of the schema; 0 if it is not there.
async fn version(transaction: &tokio_postgres::Transaction<'_>, schema: &SchemaName) -> Result<i32, Fault> {
    let failed = Fault::of("look for the schema");
    let table = format!("{}.migrations", schema.as_str());
    let there: bool = transaction
        .query_one("SELECT to_regclass($1::text) IS NOT NULL", &[&table])
        .await
        .and_then(|row| row.try_get(0))
        .map_err(&failed)?;
    if !there {
        return Ok(0);
    }
    let newest = format!("SELECT coalesce(max(version), 0) FROM {table}");
    transaction.query_one(&newest, &[]).await.and_then(|row| row.try_get(0)).map_err(&failed)
}

fn create(schema: &SchemaName) -> String {
    let name = schema.as_str();
    format!(
        "CREATE SCHEMA IF NOT EXISTS {name};\n\
         CREATE TABLE {name}.migrations (version integer PRIMARY KEY, name text NOT NULL, \
         applied_at timestamptz NOT NULL DEFAULT now());\n"
    )
}
