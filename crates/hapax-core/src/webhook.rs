//! Webhooks: who is told of which events, where, how it is proven to come from here, and what becomes of a delivery
//! that did not arrive.

mod address;
mod circuit;
mod delivery;
mod endpoint;
mod id;
mod signature;
mod subscription;
mod verdict;

pub use address::is_public;
pub use circuit::{Circuit, FAILURES_IN_A_ROW_MAX, PROBE_FIRST, PROBE_LAST};
pub use delivery::{Attempt, Delivery, RETRY_DELAYS, Step};
pub use endpoint::{Endpoint, EndpointError, Host, Reach, URL_BYTES_MAX};
pub use id::{DeliveryId, Sequence, SubscriptionId};
pub use signature::{Secret, SecretError, hmac_sha256};
pub use subscription::{Pattern, PatternError, ROTATION_OVERLAP, Subscription};
pub use verdict::{RETRY_AFTER_MAX, Response, Verdict};
