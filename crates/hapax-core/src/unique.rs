//! Uniqueness: the policy, the key, the decision about an incoming job, the holder's ledger.

mod key;
mod ledger;
mod policy;
mod resolve;

pub(crate) use key::rekeyed;
pub use key::{Key, KeyError, Keyed, key_of};
pub use ledger::{Ledger, LedgerEntry, RECENT_KEPT};
pub use policy::{
    Anchor, Dimensions, Field, FieldSet, Holder, PolicyError, Replacement, Strategy, UniquePolicy,
};
pub use resolve::{Resolution, Takeover, resolve};
