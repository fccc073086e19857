//! Carries webhooks to their endpoints over HTTP, and nowhere else; and posts what the operator's own endpoints are to
//! have in the same way.
//!
//! Whoever may subscribe chooses where this server sends requests, so it is careful where it goes: a name is resolved
//! once, every address that comes of it must be allowed, and the very address that was looked at is connected to.
//! Redirects are not followed, proxies of the environment are not used, and of an answer nothing is kept but its head.
#![warn(missing_docs)]

mod carrier;
mod encryption;
mod post;
mod resolver;
mod response;
mod trouble;

pub use carrier::HttpCarrier;
pub use post::Post;
pub use resolver::{NeighbourResolver, Resolved, Resolver, SystemResolver};
