//! Jobs: create, look at, call off, let go.

pub(crate) mod activate;
pub(crate) mod batch;
pub(crate) mod bulk;
pub(crate) mod cancel;
pub(crate) mod checkpoint;
pub(crate) mod create;
pub(crate) mod events;
pub(crate) mod history;
pub(crate) mod progress;
pub(crate) mod result;
pub(crate) mod show;

pub(crate) mod deed;
pub(super) mod memo;
pub(super) mod reading;
pub(crate) mod update;
pub(crate) mod watch;
