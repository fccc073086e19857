//! The clock on the wall.

use std::time::{SystemTime, UNIX_EPOCH};

use hapax_broker::Clock;
use hapax_core::Timestamp;
use hapax_store_postgres::DatabaseClock;

/// The clock of a database that servers share.
#[derive(Debug, Clone)]
pub(crate) struct SharedClock(pub(crate) DatabaseClock);

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

/// The system's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is where the program reads the clock")]
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        // A clock that stands before 1970 is wrong, and no job is older.
        since.map_or(Timestamp::EPOCH, |since| Timestamp::EPOCH + since)
    }
}
