//! Why a job is a duplicate, who holds its key, and taking the key away.

mod answers;
mod comparison;
mod free;
mod list;
mod matrix;
mod random_walk;
mod release;
mod show;

/// A key that nobody carries.
const NOBODYS: &str = "be66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d95";

/// Texts that are no keys.
const NO_KEYS: [&str; 7] = [
    "x",
    "be66",
    "BE66720BD0F961A37AB755101A985CA3F8563BD89ED8D412C41FA5791F3E4D95",
    "be66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d9",
    "be66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d950",
    "ge66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d95",
    "%20e66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d9",
];
