//! Everything that a server holds is carried to another store, by the built program, and goes on there.
#![expect(clippy::expect_used, reason = "this is test code: a panic is how it reports")]

mod carry;
mod directions;
mod interrupted;
mod page;
mod refused;
mod world;
