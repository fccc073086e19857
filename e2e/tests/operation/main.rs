//! Running the server: keys, signals, folders, and what it shows of itself.

mod api_keys;
mod command_line;
mod folder;
mod memory_store;
mod shutdown;
mod surfaces;
