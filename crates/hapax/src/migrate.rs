//! `hapax migrate`: the tables in a database are brought up to date.

use hapax_store_postgres::{DatabaseUrl, OpenError, SchemaName, Step, migrate, plan};

use crate::cli::Migrate;
use crate::failure::Failure;
use crate::output::{self, plural};

/// Does it, or says what it would do.
pub(crate) fn run(asked: Migrate) -> Result<(), Failure> {
    let Migrate { database_url, database_schema, dry_run, show_sql } = asked;
    let (database, schema) = (database_url.0, database_schema.map(|schema| schema.0).unwrap_or_default());
    let steps = if dry_run || show_sql { plan(&database, &schema) } else { migrate(&database, &schema) };
    let steps = steps.map_err(|error| refused(&database, &error))?;
    if show_sql {
        return output::print(&steps.iter().map(|step| step.sql.as_str()).collect::<Vec<_>>().join("\n"));
    }
    output::print(&said(&steps, schema.as_str(), &database, dry_run))
}

fn said(steps: &[Step], schema: &str, database: &DatabaseUrl, dry_run: bool) -> String {
    let Some(last) = steps.last() else {
        return format!("The schema {schema} in {database} is up to date.\n");
    };
    let verb = if dry_run { "would be taken" } else { "taken" };
    let count = plural(steps.len() as u64, "step");
    let lines: Vec<String> = steps.iter().map(|step| format!("  {} {}", step.version, step.name)).collect();
    let lines = lines.join("\n");
    format!("{count} {verb} in {database}, schema {schema}, to version {}:\n{lines}\n", last.version)
}

/// Why the database cannot be used, and what to do about it.
pub(crate) fn refused(database: &DatabaseUrl, error: &OpenError) -> Failure {
    let hint = match error {
        OpenError::Newer { .. } => "run the version of hapax that migrated it, or a later one",
        OpenError::Nothing(_) => "see that --database-url and --database-schema name the right one",
        OpenError::Older { .. } => "bring it up to date with `hapax migrate`",
        OpenError::NotEmpty { .. } => {
            "an import needs a store without jobs: choose another schema with --database-schema"
        }
        OpenError::Unfinished(schema) => {
            let hint = "run the same `hapax import` again with the same export, and it goes on where it was";
            let hint = format!("{hint}; {}", way_out(schema));
            return Failure::because(format!("could not use {database}"), error).hint(hint);
        }
        OpenError::Database(_) => {
            "see that the database is up, that the URL is right, and that its user may create a schema; else let \
             somebody who may run `hapax migrate`"
        }
        OpenError::Threads(_) => "the machine has no room for another thread",
    };
    Failure::because(format!("could not use {database}"), error).hint(hint)
}

/// How an import that was begun is given up.
pub(crate) fn way_out(schema: &SchemaName) -> String {
    format!("to give the import up, let PostgreSQL do `DROP SCHEMA {}_importing CASCADE`", schema.as_str())
}
