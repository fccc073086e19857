//! What the official SDKs send, and what of the answers they read.
//!
//! The SDKs are not part of this repository. They were run against the server, unmodified, and what went over the wire
//! stands here in our words: one file for each of them, a case for each call. A reader that is strict in the SDK is strict
//! here: a number in the place of a text is a failure.

mod go;
mod javascript;
mod python;
mod reading;
mod rust;
mod sdk;
