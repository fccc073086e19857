//! Everything that a server holds is carried to another store, by the built program, and goes on there.

mod carry;
mod directions;
mod interrupted;
mod page;
mod refused;
mod world;
