//! The suite that every engine must pass.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

use std::sync::Arc;

use hapax_core::Rules;
use hapax_pg_cluster::{Cluster, Database};
use hapax_store::suite::{Effort, Harness, wait};
use hapax_store::{Store, store_suite};
use hapax_store_postgres::{PostgresStore, SchemaName, Settings, migrate};

struct Postgres {
    database: Database,
}

impl Harness for Postgres {
    fn open(&self, rules: Rules) -> Arc<dyn Store> {
        let settings = Settings::new(self.database.url().parse().unwrap(), rules);
        Arc::new(PostgresStore::open(settings).unwrap())
    }

    fn reopen(&self, store: Arc<dyn Store>, rules: Rules) -> Arc<dyn Store> {
        wait(store.close()).unwrap();
        self.open(rules)
    }

    fn effort(&self) -> Effort {
        // Each step is a few round trips.
        Effort { cases: 30, rounds: 20, ..Effort::default() }.from_environment()
    }
}

/// A database with the tables in it: each test has its own copy.
fn database() -> Database {
    let cluster = Cluster::shared();
    cluster.template(|url| drop(migrate(&url.parse().unwrap(), &SchemaName::default()).unwrap()));
    cluster.database()
}

store_suite!(Postgres { database: database() });
