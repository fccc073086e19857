//! Unique jobs over HTTP: what is a duplicate, and what becomes of it.

mod batches;
mod combinations;
mod counters;
mod debounce;
mod echo;
mod in_place;
mod keys;
mod ledger;
mod policies;
mod queue_latest;
mod reentry;
mod refusals;
mod scenarios;
mod strategies;
mod successors;
