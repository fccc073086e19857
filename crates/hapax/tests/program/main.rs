//! The built program, from outside: what it prints, and with which code it ends.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "whatever goes wrong here fails the test")]

mod operator;
#[cfg(feature = "otlp")]
mod otlp;
mod serve;
mod server;
