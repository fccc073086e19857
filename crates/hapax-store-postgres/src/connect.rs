//! Connections.

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use tokio_postgres::NoTls;

use crate::{Fault, Settings};

/// A pool that opens connections when they are wanted.
pub(crate) fn pool(settings: &Settings) -> Result<Pool, Fault> {
    let mut database = settings.database.config().clone();
    if database.get_application_name().is_none() {
        database.application_name("hapax");
    }
    let manager =
        Manager::from_config(database, NoTls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
    let pool = Pool::builder(manager).max_size(settings.connections).build();
    pool.map_err(|error| Fault::Unreachable(Box::new(error)))
}

/// A connection of the pool.
pub(crate) async fn connection(pool: &Pool) -> Result<Object, Fault> {
    pool.get().await.map_err(|error| Fault::Unreachable(Box::new(error)))
}

/// Closes the connection: nobody may be given one in the middle of a transaction. The database undoes it.
pub(crate) fn discard(client: Object) {
    drop(Object::take(client));
}
