//! From a store to lines.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use hapax_core::Timestamp;

use super::census::{Census, Seal};
use super::{ExportId, Header, Item, Writer};

/// A store that is read from end to end as it was at one moment.
pub trait Source {
    /// What kind of store it is.
    fn engine(&self) -> &'static str;

    /// How many things it holds.
    fn census(&mut self) -> Result<Census, ExportError>;

    /// Shows all of them: queues by name, jobs by `seq`, entries by register and name, memos by `since` and name, names by their bytes.
    fn show(&mut self, take: &mut dyn FnMut(Item) -> Result<(), ExportError>) -> Result<(), ExportError>;
}

/// Why an export was not made.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store could not be read.
    #[error("the store could not be read")]
    Store(#[source] Arc<dyn Error + Send + Sync>),
    /// The lines could not be written.
    #[error("the export could not be written")]
    Write(#[source] io::Error),
}

/// What an export is told about itself.
#[derive(Debug, Clone, Copy)]
pub struct Occasion {
    /// Its name, drawn at random.
    pub id: ExportId,
    /// The time.
    pub now: Timestamp,
    /// The version of the program.
    pub version: &'static str,
}

/// Writes everything that the store holds; tells `watch` after each line what was written, and of how many.
pub fn export<W: Write>(
    source: &mut dyn Source,
    occasion: Occasion,
    out: W,
    watch: &mut dyn FnMut(Census, Census),
) -> Result<(W, Seal), ExportError> {
    let Occasion { id, now, version } = occasion;
    let all = source.census()?;
    let from = source.engine().into();
    let header = Header { id, exported_at: now, from, version: version.into(), census: all };
    let mut writer = Writer::begin(out, &header).map_err(ExportError::Write)?;
    source.show(&mut |item| {
        writer.write(&item).map_err(ExportError::Write)?;
        watch(writer.census(), all);
        Ok(())
    })?;
    writer.finish().map_err(ExportError::Write)
}
