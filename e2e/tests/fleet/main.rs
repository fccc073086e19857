//! Three servers on one PostgreSQL database: what holds for one server holds for all of them together, whoever dies.
//!
//! `HAPAX_FLEET_ROUNDS`, `HAPAX_FLEET_JOBS`, `HAPAX_FLEET_STOPS`, `HAPAX_FLEET_KILLS` and `HAPAX_FLEET_PROMOTIONS` make
//! a soak of it.

mod book;
mod check;
mod claims;
mod clocks;
mod counters;
mod failover;
mod faults;
mod limits;
mod load;
mod locks;
mod order;
mod races;
mod record;
mod word;
