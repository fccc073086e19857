//! Keys: why a job would be a duplicate, who holds a key, which are held, and taking one away.

pub(crate) mod explain;
pub(crate) mod list;
pub(crate) mod locks;
pub(crate) mod release;
pub(crate) mod show;
