//! Jobs: create, look at, call off, let go.

pub(crate) mod activate;
pub(crate) mod batch;
pub(crate) mod bulk;
pub(crate) mod cancel;
pub(crate) mod create;
pub(crate) mod show;

mod memo;
mod reading;
