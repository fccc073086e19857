//! Where an export is written to: a file that has its name only when it is whole, or standard output.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

const BUFFER_BYTES: usize = 1 << 18;
/// Jobs may hold secrets, and leases are some.
const MODE: u32 = 0o600;

/// See above.
#[derive(Debug)]
pub(super) struct OutputFile {
    /// Nothing for standard output.
    names: Option<Names>,
}

#[derive(Debug)]
struct Names {
    whole: PathBuf,
    partial: PathBuf,
}

impl OutputFile {
    /// A file that is there is left alone unless it may be written over.
    pub(super) fn new(path: &Path, force: bool) -> Result<OutputFile, Failure> {
        if path.as_os_str() == "-" {
            return Ok(OutputFile { names: None });
        }
        if !force && path.symlink_metadata().is_ok() {
            return Err(Failure::misuse(format!("{} is already there", path.display()))
                .hint("choose another name, or say --force to write over it"));
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        Ok(OutputFile { names: Some(Names { whole: path.into(), partial: partial.into() }) })
    }

    pub(super) fn is_standard_output(&self) -> bool {
        self.names.is_none()
    }

    /// What the lines are written to.
    pub(super) fn writer(&self) -> Result<Box<dyn Write>, Failure> {
        let Some(Names { partial, .. }) = &self.names else {
            return Ok(Box::new(BufWriter::with_capacity(BUFFER_BYTES, io::stdout())));
        };
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(MODE).open(partial);
        let file = file.map_err(|error| not_written(partial, &error))?;
        Ok(Box::new(BufWriter::with_capacity(BUFFER_BYTES, file)))
    }

    /// Gives the file its name, once every byte of it is on disk.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let Some(Names { whole, partial }) = &self.names else { return Ok(()) };
        let folder = match whole.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let named = File::open(partial)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(partial, whole))
            .and_then(|()| File::open(folder)?.sync_all());
        named.map_err(|error| not_written(whole, &error))
    }

    /// Removes what was written so far.
    pub(super) fn give_up(&self) {
        if let Some(Names { partial, .. }) = &self.names {
            // The failure that led here is the one to tell of.
            let _ = fs::remove_file(partial);
        }
    }
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::because(format!("could not write {}", path.display()), error)
}

impl fmt::Display for OutputFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.names {
            Some(Names { whole, .. }) => write!(f, "{}", whole.display()),
            None => f.write_str("standard output"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_name_when_it_is_whole_and_is_not_written_over() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("jobs.ndjson");
        let out = OutputFile::new(&path, false).unwrap();
        let mut writer = out.writer().unwrap();
        writer.write_all(b"{}\n").unwrap();
        writer.flush().unwrap();
        assert!(!path.exists());
        out.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"{}\n");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        let failure = OutputFile::new(&path, false).unwrap_err();
        assert!(failure.sentence().ends_with("jobs.ndjson is already there"), "{failure}");
        assert!(OutputFile::new(&path, true).is_ok());
    }

    #[test]
    fn what_is_given_up_leaves_the_old_file_alone() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("jobs.ndjson");
        fs::write(&path, "old").unwrap();
        let out = OutputFile::new(&path, true).unwrap();
        out.writer().unwrap().write_all(b"new").unwrap();
        out.give_up();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
