//! A store that is a list, and breaks when it is told to.

use std::io;
use std::sync::Arc;

use hapax_core::Timestamp;

use crate::portable::{
    Batch, Census, ExportError, ExportId, ImportError, Item, Mark, Occasion, Reader, Seal, Source, Target,
    export, import,
};

/// The list.
#[derive(Debug, Default)]
pub(super) struct Vessel {
    pub(super) items: Vec<Item>,
    pub(super) mark: Option<Mark>,
    pub(super) finished: bool,
    /// After so many transactions there is no other.
    pub(super) breaks_after: Option<usize>,
}

impl Source for Vessel {
    fn engine(&self) -> &'static str {
        "list"
    }

    fn census(&mut self) -> Result<Census, ExportError> {
        Ok(Census::default())
    }

    fn show(&mut self, take: &mut dyn FnMut(Item) -> Result<(), ExportError>) -> Result<(), ExportError> {
        self.items.iter().cloned().try_for_each(take)
    }
}

impl Vessel {
    fn work(&mut self) -> Result<(), ImportError> {
        match &mut self.breaks_after {
            Some(0) => Err(ImportError::Store(Arc::new(io::Error::other("it broke")))),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl Target for Vessel {
    fn begun(&self) -> Option<Mark> {
        self.mark
    }

    fn begin(&mut self, mark: Mark) -> Result<(), ImportError> {
        self.work()?;
        self.mark = Some(mark);
        Ok(())
    }

    fn store(&mut self, items: Vec<Item>, mark: Mark) -> Result<(), ImportError> {
        self.work()?;
        self.items.extend(items);
        self.mark = Some(mark);
        Ok(())
    }

    fn finish(&mut self, _: Census) -> Result<(), ImportError> {
        self.work()?;
        self.finished = true;
        Ok(())
    }
}

/// The lines of these things.
pub(super) fn written(items: &[Item]) -> String {
    let occasion = Occasion { id: ExportId([7; 16]), now: Timestamp::EPOCH, version: "0.0.0" };
    let mut source = Vessel { items: items.to_vec(), ..Vessel::default() };
    let (out, _) = export(&mut source, occasion, Vec::new(), &mut |_, _| ()).unwrap();
    String::from_utf8(out).unwrap()
}

/// Imports the lines in transactions of so many.
pub(super) fn read_into(vessel: &mut Vessel, text: &str, lines: usize) -> Result<Seal, ImportError> {
    let batch = Batch { lines, ..Batch::default() };
    import(&mut Reader::begin(text.as_bytes())?, vessel, batch, &mut |_| ())
}

/// The same things; one that is not is shown alone.
#[track_caller]
pub(super) fn assert_same(found: &[Item], expected: &[Item]) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}
