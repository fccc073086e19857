//! Who is told of jobs for which a rate limit may leave room again.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use hapax_store::Listener;

use crate::index::Lines;

/// Shared by the store, to which listeners come, and the writer, who calls them.
#[derive(Default)]
pub(crate) struct Listening(Mutex<Option<Listener>>);

impl Listening {
    pub(crate) fn set(&self, listener: Listener) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
    }

    /// Tells of what happened in the lines. Whoever looks then asks the writer, who has done it.
    pub(crate) fn call(&self, lines: &mut Lines) {
        let calls = lines.take_calls();
        if calls.is_empty() {
            return;
        }
        let listener = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (queue, jobs) in calls {
            if let Some(listener) = &listener {
                listener(&queue, jobs);
            }
        }
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listening")
    }
}
