//! The stores inside of the server: the data folder, and memory.

mod folder;
mod memory_store;
