//! Migrations by hand: for operators whose servers may not change the schema.

use tokio::runtime;

use crate::schema::Step;
use crate::{DatabaseUrl, OpenError, SchemaName, connect, schema};

/// The steps that a migration of this schema would take.
pub fn plan(database: &DatabaseUrl, name: &SchemaName) -> Result<Vec<Step>, OpenError> {
    runtime()?.block_on(async {
        let mut link = connect::open(database, None).await?;
        schema::plan(link.client_mut(), name).await
    })
}

/// Takes these steps, all or none.
pub fn migrate(database: &DatabaseUrl, name: &SchemaName) -> Result<Vec<Step>, OpenError> {
    runtime()?.block_on(async {
        let mut link = connect::open(database, None).await?;
        schema::migrate(link.client_mut(), name).await
    })
}

pub(crate) fn runtime() -> Result<runtime::Runtime, OpenError> {
    runtime::Builder::new_current_thread().enable_all().build().map_err(OpenError::Threads)
}
