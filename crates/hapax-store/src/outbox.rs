//! The outbox: what others are to be told of a change is stored in the very commit of the change.
//!
//! An engine asks after every call what is to be told, and writes it down as entries before it commits. So no crash can
//! come between a change and the word of it, and nobody is told of a change that was undone.

use std::fmt::Debug;

use hapax_core::Timestamp;

use crate::{Advance, Answer, Change, EntryKey, Written};

/// What a store has done, and is about to commit.
#[derive(Debug, Clone, Copy)]
pub enum Happened<'a> {
    /// It carried out an operation.
    Answered(&'a Answer),
    /// It gave jobs to a worker.
    Claimed(&'a [Change]),
    /// It let time pass.
    Advanced(&'a Advance),
}

/// An entry that is to be stored: its name is used once.
pub type Letter = (EntryKey, Written);

/// Who says what others are to be told.
pub trait Outbox: Send + Sync + Debug {
    /// Whether there is anybody who may have to be told. It must be quick: it is asked at every call.
    fn is_open(&self) -> bool;

    /// What is to be told of this. Called inside the atomic section of an engine, perhaps for something that is undone
    /// and done again: then what it said before is thrown away.
    fn letters(&self, happened: Happened<'_>, now: Timestamp) -> Vec<Letter>;
}

/// Nobody is told of anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoOutbox;

impl Outbox for NoOutbox {
    fn is_open(&self) -> bool {
        false
    }

    fn letters(&self, _happened: Happened<'_>, _now: Timestamp) -> Vec<Letter> {
        Vec::new()
    }
}
