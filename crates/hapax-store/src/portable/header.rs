//! The first line: what this is and where it comes from.

use std::fmt;

use hapax_core::Timestamp;

use super::census::Census;
use super::members::{Members, wrong};
use super::object::Object;
use super::{LineFault, hex};

/// The version of the lines that this program writes and reads.
pub const FORMAT: u32 = 1;
/// The member by which the first line is known.
const NAME: &str = "hapax_export";

/// The name of one export, drawn at random: an import that was cut short goes on with this one alone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ExportId(pub [u8; 16]);

impl fmt::Display for ExportId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::write(&self.0))
    }
}

impl fmt::Debug for ExportId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The name of this export.
    pub id: ExportId,
    /// When it was made.
    pub exported_at: Timestamp,
    /// What kept the jobs.
    pub from: Box<str>,
    /// Which version of the program wrote it.
    pub version: Box<str>,
    /// How many lines to expect. For the eyes of those who wait: the last line is what counts.
    pub census: Census,
}

/// A first line that cannot be followed.
#[derive(Debug)]
pub(super) enum Unusable {
    /// It begins something else.
    Foreign,
    /// It begins lines of a later version.
    Newer(u32),
    Fault(LineFault),
}

impl From<LineFault> for Unusable {
    fn from(fault: LineFault) -> Unusable {
        Unusable::Fault(fault)
    }
}

impl Header {
    pub(super) fn write(&self, line: &mut Object) {
        let Header { id, exported_at, from, version, census } = self;
        line.number(NAME, FORMAT);
        line.text("id", &id.to_string());
        line.text("exported_at", &exported_at.to_string());
        line.text("from", from);
        line.text("version", version);
        census.write(line);
    }

    pub(super) fn read(line: &str) -> Result<Header, Unusable> {
        let mut members = Members::of(line).map_err(|_| Unusable::Foreign)?;
        match members.number(NAME)? {
            None => return Err(Unusable::Foreign),
            Some(FORMAT) => {}
            Some(other) if other > FORMAT => return Err(Unusable::Newer(other)),
            Some(_) => return Err(wrong(NAME, "a format that was ever written").into()),
        }
        let id = members.bytes("id", "32 hexadecimal digits")?.ok_or(LineFault::Missing("id"))?;
        let time = |text: &str| Timestamp::parse(text).ok();
        let header = Header {
            id: ExportId(id),
            exported_at: members.needed_parsed("exported_at", "a time as RFC 3339 has it", time)?,
            from: members.needed_text("from")?.into(),
            version: members.needed_text("version")?.into(),
            census: Census::read(&mut members)?,
        };
        members.end()?;
        Ok(header)
    }
}
