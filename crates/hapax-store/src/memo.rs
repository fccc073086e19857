//! Idempotent requests: the answer to a request, remembered in the commit that carried it out.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::Answer;

/// How long an answer is remembered.
pub const MEMO_KEPT: Duration = Duration::from_hours(24);

/// The name under which an answer is remembered: the operation and the client's `Idempotency-Key`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoKey(pub Box<str>);

/// A wish to have the answer remembered.
///
/// An operation with a memo first looks for an answer under the key that is younger than [`MEMO_KEPT`]. If
/// there is one for an equal fingerprint, that is the answer and nothing is done; for another fingerprint
/// the operation is refused. Else it is carried out, and what `render` makes of its answer, refusals
/// included, is stored in the same commit.
#[derive(Clone)]
pub struct Memo {
    /// The name.
    pub key: MemoKey,
    /// Tells requests apart that use the same name: a hash of the request.
    pub fingerprint: [u8; 32],
    /// The reply that the client gets for the answer.
    pub render: Arc<dyn Fn(&Answer) -> Remembered + Send + Sync>,
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").field("key", &self.key).finish_non_exhaustive()
    }
}

/// A reply as the client got it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Arc<[u8]>,
}
