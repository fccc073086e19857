//! Uniqueness: the policy, the key, the decision about an incoming job, the holder's ledger.

mod explain;
mod job_key;
mod key;
mod ledger;
mod payload;
mod policy;
mod release;
mod replacement;
mod resolve;
mod rule;
mod takeover;
mod uniqueness;
mod watch;

pub use explain::{Explanation, Freeing, Seen, Standing, explain, freeing};
pub use job_key::{JobKey, JobKeyMode};
pub(crate) use key::rekeyed;
pub use key::{Key, KeyError, Keyed, key_of};
pub use ledger::{Ledger, LedgerEntry, RECENT_KEPT};
pub use policy::{Debounce, Dimensions, PolicyError, Strategy, UniquePolicy, WhileActive};
pub use release::{Release, Releaser};
pub(crate) use release::{released, supersede};
pub use replacement::{Field, FieldSet, Replacement};
pub use resolve::{Decision, Resolution, Takeover, resolve};
pub use rule::Rule;
pub(crate) use takeover::take_over;
pub use uniqueness::Uniqueness;
pub use watch::{Anchor, Holder, Watch};
