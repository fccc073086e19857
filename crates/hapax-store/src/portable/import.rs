//! From lines to a store that was empty, batch by batch, so that it can go on where it was cut short.

use std::error::Error;
use std::io::{self, BufRead};
use std::sync::Arc;

use super::census::{Census, Seal};
use super::reader::{Next, Reader};
use super::{ExportId, Item, LineFault};

/// An empty store that takes over what another one held. Until it is finished no server may use it.
pub trait Target {
    /// How far an import got that was begun and not finished, by this or by an earlier process.
    fn begun(&self) -> Option<Mark>;

    /// Notes that an import begins: from here on the store is unfinished.
    fn begin(&mut self, mark: Mark) -> Result<(), ImportError>;

    /// Stores what follows, and how far that is, in one transaction.
    fn store(&mut self, items: Vec<Item>, mark: Mark) -> Result<(), ImportError>;

    /// Looks over the whole, and lets servers in.
    fn finish(&mut self, census: Census) -> Result<(), ImportError>;
}

/// How far an import got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Which export it reads.
    pub export: ExportId,
    /// How many lines are stored, without the first.
    pub lines: u64,
    /// The first 64 bits of the checksum over these lines.
    pub digest: i64,
}

/// How much is stored in one transaction.
#[derive(Debug, Clone, Copy)]
pub struct Batch {
    /// Most lines.
    pub lines: usize,
    /// From so many bytes on there is no other line.
    pub bytes: usize,
}

impl Default for Batch {
    /// A sync and a round trip for each thousand are not felt, and neither are some megabytes.
    fn default() -> Batch {
        Batch { lines: 1000, bytes: 8 << 20 }
    }
}

/// Why an import was not finished.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The lines could not be read.
    #[error("the export could not be read")]
    Read(#[source] io::Error),
    /// It is something else.
    #[error("it does not begin like an export of hapax, with {{\"hapax_export\":1")]
    Foreign,
    /// A later version wrote it.
    #[error("the export has format {found}; this program knows formats up to {known}")]
    Newer {
        /// Its format.
        found: u32,
        /// Our newest.
        known: u32,
    },
    /// A line cannot be taken.
    #[error("line {number} cannot be imported: {fault}")]
    Line {
        /// Its number; the first is 1.
        number: u64,
        /// What is wrong with it.
        fault: LineFault,
    },
    /// The last line is not the end.
    #[error("the export is cut off after line {lines}: its last line, of the kind \"end\", is missing")]
    Cut {
        /// How many lines there are.
        lines: u64,
    },
    /// The last line is not whole.
    #[error("the export is cut off within line {number}, or that line is damaged: {fault}")]
    CutLine {
        /// Its number.
        number: u64,
        /// What is wrong with it.
        fault: LineFault,
    },
    /// There are more or fewer lines than the last one says.
    #[error("the last line tells of {told}, but there are {found}")]
    Census {
        /// What the last line says.
        told: Census,
        /// What was read.
        found: Census,
    },
    /// Some line is not as it was written.
    #[error(
        "the export was changed since it was made: its last line has the checksum {told}, its lines have {found}"
    )]
    Checksum {
        /// What the last line says.
        told: String,
        /// That of what was read.
        found: String,
    },
    /// The store waits for the rest of another export.
    #[error("the store waits for the rest of the export {begun}, and this is {found}")]
    OtherExport {
        /// Which one was begun.
        begun: ExportId,
        /// Which one was given.
        found: ExportId,
    },
    /// What was imported before is not what the lines say by now.
    #[error("the first {lines} lines are not the ones that were imported before")]
    Changed {
        /// How many were imported.
        lines: u64,
    },
    /// Two jobs or two memos have one name.
    #[error("the {what} {name} is there more than once")]
    Twice {
        /// Which kind of thing.
        what: &'static str,
        /// Its name.
        name: Box<str>,
    },
    /// What the store holds in the end is not what the lines told of.
    #[error("the lines told of {told}, but the store holds {found}: a name must have been there twice")]
    Stored {
        /// What was read.
        told: Census,
        /// What is there.
        found: Census,
    },
    /// Another process imports into the same store.
    #[error("another import into this store is at work")]
    AtWork,
    /// The store could not do it.
    #[error("the store could not take it over")]
    Store(#[source] Arc<dyn Error + Send + Sync>),
}

/// Stores everything that the lines say; tells `watch` after each batch how much that is by now.
pub fn import<R: BufRead>(
    reader: &mut Reader<R>,
    target: &mut dyn Target,
    batch: Batch,
    watch: &mut dyn FnMut(Census),
) -> Result<Seal, ImportError> {
    match target.begun() {
        None => target.begin(reader.mark())?,
        Some(mark) => catch_up(reader, mark, batch, watch)?,
    }
    watch(reader.census());
    loop {
        let (items, sealed) = collect(reader, batch)?;
        if !items.is_empty() {
            target.store(items, reader.mark())?;
            watch(reader.census());
        }
        if let Some(seal) = sealed {
            target.finish(seal.census)?;
            return Ok(seal);
        }
    }
}

/// Reads again what is stored already: the checksum goes over all lines.
fn catch_up<R: BufRead>(
    reader: &mut Reader<R>,
    mark: Mark,
    batch: Batch,
    watch: &mut dyn FnMut(Census),
) -> Result<(), ImportError> {
    let found = reader.header().id;
    if mark.export != found {
        return Err(ImportError::OtherExport { begun: mark.export, found });
    }
    for line in 1..=mark.lines {
        if line.is_multiple_of(batch.lines as u64) {
            watch(reader.census());
        }
        if let Next::End(_) = reader.next()? {
            return Err(ImportError::Changed { lines: mark.lines });
        }
    }
    if reader.mark() == mark { Ok(()) } else { Err(ImportError::Changed { lines: mark.lines }) }
}

/// The next items, and what the last line says if they are the last.
fn collect<R: BufRead>(
    reader: &mut Reader<R>,
    batch: Batch,
) -> Result<(Vec<Item>, Option<Seal>), ImportError> {
    let (mut items, mut bytes) = (Vec::new(), 0);
    while items.len() < batch.lines && bytes < batch.bytes {
        match reader.next()? {
            Next::Item(item, length) => {
                items.push(item);
                bytes += length;
            }
            Next::End(seal) => return Ok((items, Some(seal))),
        }
    }
    Ok((items, None))
}
