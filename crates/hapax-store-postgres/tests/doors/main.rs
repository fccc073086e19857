//! Two doors, one meaning: what the SQL functions do is compared with what the HTTP binding does.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

mod draw;
mod isolation;
mod keys;
mod lines;
mod named;
mod post;
mod random;
mod rig;
mod roles;
mod said;
mod shares;
mod wake;
mod zeros;
