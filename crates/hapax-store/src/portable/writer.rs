//! Writing lines.

use std::io::{self, Write};

use super::Header;
use super::census::{Census, Running, Seal};
use super::item::{Item, Line};
use super::object::Object;

/// Writes an export from its first line to its last.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    line: Object,
    running: Running,
}

impl<W: Write> Writer<W> {
    /// Writes the first line.
    pub fn begin(out: W, header: &Header) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, line: Object::default(), running: Running::default() };
        writer.line.begin();
        header.write(&mut writer.line);
        writeln!(writer.out, "{}", writer.line.end())?;
        Ok(writer)
    }

    /// Writes the next one.
    pub fn write(&mut self, item: &Item) -> io::Result<()> {
        self.line.begin();
        item.write(&mut self.line);
        let line = self.line.end();
        self.running.note(item, line);
        writeln!(self.out, "{line}")
    }

    /// What was written so far.
    pub fn census(&self) -> Census {
        self.running.census()
    }

    /// Writes the last line, and everything that still waited to be written.
    pub fn finish(mut self) -> io::Result<(W, Seal)> {
        let seal = self.running.seal();
        self.line.begin();
        Line::write_end(&mut self.line, &seal);
        writeln!(self.out, "{}", self.line.end())?;
        self.out.flush()?;
        Ok((self.out, seal))
    }
}
