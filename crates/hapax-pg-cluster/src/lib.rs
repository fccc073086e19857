//! Throw-away PostgreSQL servers and databases for tests.
//!
//! A cluster lives in a temporary folder, is reached through a socket in it, and ends with the process that
//! started it, however that ends.
//!
//! ```
//! use hapax_pg_cluster::Cluster;
//!
//! let database = Cluster::shared().database();
//! assert_eq!(database.query("SELECT 1 + 1").unwrap(), "2");
//! ```

mod binaries;
mod cluster;
mod database;
mod error;
mod guard;
mod options;
mod owner;
mod psql;
mod session;

pub use cluster::Cluster;
pub use database::Database;
pub use error::Error;
pub use options::Options;
pub use session::Session;
