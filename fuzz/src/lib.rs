//! What is fuzzed, as plain functions: libFuzzer runs them from `fuzz_targets/`, `cargo test` from `tests/`.
#![forbid(unsafe_code)]

pub mod canonical;
pub mod json_reader;
pub mod mutator;
pub mod schedule;
pub mod texts;
pub mod unique_key;

/// Takes any bytes; panics when something is wrong.
pub type Target = fn(&[u8]);

/// Every target under the name of its binary and of its folder of seeds.
pub const TARGETS: &[(&str, Target)] = &[
    ("canonical", canonical::run),
    ("json_reader", json_reader::run),
    ("schedule", schedule::run),
    ("texts", texts::run),
    ("unique_key", unique_key::run),
];
