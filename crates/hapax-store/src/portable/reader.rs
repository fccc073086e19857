//! Reading lines, none of which is believed.

use std::io::{BufRead, Read as _};
use std::str;

use super::census::{Census, Running, Seal};
use super::header::Unusable;
use super::item::{Item, Line};
use super::order::Order;
use super::{FORMAT, Header, ImportError, LineFault, Mark};

/// Longest line. A job with the largest arguments, metadata and result that a server takes is shorter.
pub const LINE_BYTES_MAX: usize = 1 << 30;

/// Longest first line: what is no export need not be read to its end.
const HEADER_BYTES_MAX: usize = 1 << 16;

/// Reads an export from its first line to its last.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    header: Header,
    line: Vec<u8>,
    /// The number of the line that was read last; the first is 1.
    number: u64,
    running: Running,
    order: Order,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Next {
    /// Something that a store held, in a line of so many bytes.
    Item(Item, usize),
    /// The last line, which agrees with all others.
    End(Seal),
}

impl<R: BufRead> Reader<R> {
    /// Reads the first line.
    pub fn begin(mut input: R) -> Result<Reader<R>, ImportError> {
        let mut line = Vec::new();
        match read_line(&mut input, &mut line, HEADER_BYTES_MAX) {
            Err(Unread::TooLong) => return Err(ImportError::Foreign),
            read => read.map_err(|error| error.at(1))?,
        };
        // Whatever has no text is something else.
        let header = str::from_utf8(&line).map_or(Err(Unusable::Foreign), Header::read);
        let header = header.map_err(|unusable| match unusable {
            Unusable::Foreign => ImportError::Foreign,
            Unusable::Newer(found) => ImportError::Newer { found, known: FORMAT },
            Unusable::Fault(fault) => ImportError::Line { number: 1, fault },
        })?;
        Ok(Reader { input, header, line, number: 1, running: Running::default(), order: Order::default() })
    }

    /// What the first line says.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What was read so far.
    pub(super) fn census(&self) -> Census {
        self.running.census()
    }

    /// How far it was read.
    pub(super) fn mark(&self) -> Mark {
        let Seal { census, sha256 } = self.running.seal();
        let digest = sha256.first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes));
        Mark { export: self.header.id, lines: census.total(), digest }
    }

    pub(super) fn next(&mut self) -> Result<Next, ImportError> {
        self.number += 1;
        let number = self.number;
        let at = |fault: LineFault| ImportError::Line { number, fault };
        if !read_line(&mut self.input, &mut self.line, LINE_BYTES_MAX).map_err(|error| error.at(number))? {
            return Err(ImportError::Cut { lines: number - 1 });
        }
        let text = str::from_utf8(&self.line).map_err(|error| {
            at(hapax_core::json::JsonError::InvalidUtf8 { offset: error.valid_up_to() }.into())
        })?;
        match Line::read(text) {
            Ok(Line::Item(item)) => {
                self.order.check(&item).map_err(at)?;
                self.running.note(&item, text);
                Ok(Next::Item(item, text.len()))
            }
            Ok(Line::End(told)) => self.end(told),
            // A last line that is cut off is no JSON either.
            Err(fault) if self.is_last()? => Err(ImportError::CutLine { number, fault }),
            Err(fault) => Err(at(fault)),
        }
    }

    /// Whether the line that was read last has no line break behind it.
    fn is_last(&mut self) -> Result<bool, ImportError> {
        self.input.fill_buf().map(<[u8]>::is_empty).map_err(ImportError::Read)
    }

    fn end(&mut self, told: Seal) -> Result<Next, ImportError> {
        let found = self.running.seal();
        if told.census != found.census {
            return Err(ImportError::Census { told: told.census, found: found.census });
        }
        if told != found {
            return Err(ImportError::Checksum { told: told.checksum(), found: found.checksum() });
        }
        if !self.is_last()? {
            let fault = LineFault::Place("nothing may follow the end");
            return Err(ImportError::Line { number: self.number + 1, fault });
        }
        Ok(Next::End(told))
    }
}

/// A line that could not be read.
enum Unread {
    Io(std::io::Error),
    TooLong,
}

impl Unread {
    fn at(self, number: u64) -> ImportError {
        match self {
            Unread::Io(error) => ImportError::Read(error),
            Unread::TooLong => ImportError::Line { number, fault: LineFault::TooLong(LINE_BYTES_MAX) },
        }
    }
}

/// Reads the next line, of at most so many bytes, without its line break. Whether there was one.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>, most: usize) -> Result<bool, Unread> {
    line.clear();
    let mut input = input.take(most as u64 + 1);
    let read = input.read_until(b'\n', line).map_err(Unread::Io)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if read > most {
        return Err(Unread::TooLong);
    }
    Ok(read > 0)
}
