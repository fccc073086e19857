//! Running the server: keys, signals, and what it shows of itself.

mod api_keys;
mod command_line;
mod shutdown;
mod surfaces;
