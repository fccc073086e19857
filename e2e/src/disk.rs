//! The disk that a power cut could leave behind, built from the system calls of a server.
//!
//! A write is on disk when a sync of its file, begun after the write ended, has ended; a name is there when
//! a sync of the folder has. Everything else may be there wholly, in part, or not at all.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::Random;
use crate::trace::{Call, Trace};

/// What becomes of writes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Luck {
    /// None of them arrived.
    None,
    /// All of them arrived.
    All,
    /// Some of them arrived.
    Some,
    /// Some sectors of them arrived.
    Torn,
}

/// Every kind of luck.
pub const LUCKS: [Luck; 4] = [Luck::None, Luck::All, Luck::Some, Luck::Torn];

const SECTOR: usize = 512;
/// Blocks of nothing but zeros are not written: the log is mostly that.
const BLOCK: usize = 64 * 1024;

/// Everything that was done to the files of a folder, in order.
#[derive(Debug)]
pub struct Disk {
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    begun: usize,
    /// The line by which it was on disk for certain.
    durable: usize,
    what: What,
}

#[derive(Debug)]
enum What {
    Create { name: String, file: usize },
    Rename { from: String, to: String },
    Remove { name: String },
    Write { file: usize, offset: usize, bytes: Vec<u8> },
    Cut { file: usize, length: usize },
}

impl Disk {
    /// Follows the files below a folder through a trace.
    pub fn follow(trace: &Trace, folder: &str) -> Disk {
        let mut names = Names { folder, files: BTreeMap::new(), made: 0 };
        let mut calls: Vec<&Call> = trace.calls().iter().filter(|call| call.result >= Some(0)).collect();
        calls.sort_by_key(|call| call.begun);
        let step = |call: &Call| {
            let what = names.effect(call)?;
            let synced = match &what {
                What::Create { .. } | What::Rename { .. } | What::Remove { .. } => folder,
                What::Write { .. } | What::Cut { .. } => call.file(),
            };
            let durable = trace.synced(synced, call.ended).unwrap_or(usize::MAX);
            Some(Step { begun: call.begun, durable, what })
        };
        Disk { steps: calls.into_iter().filter_map(step).collect() }
    }

    /// The files as a power cut just before a line of the trace could leave them.
    pub fn image(&self, line: usize, luck: Luck, random: &mut Random) -> BTreeMap<String, Vec<u8>> {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let mut files: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        for step in self.steps.iter().take_while(|step| step.begun < line) {
            let is_durable = step.durable < line;
            let arrives = match luck {
                _ if is_durable => true,
                Luck::None => false,
                Luck::All => true,
                Luck::Some | Luck::Torn => random.below(2) == 0,
            };
            match &step.what {
                What::Write { file, offset, bytes } if luck == Luck::Torn && !is_durable => {
                    let contents = files.entry(*file).or_default();
                    for (number, sector) in bytes.chunks(SECTOR).enumerate() {
                        if random.below(2) == 0 {
                            put(contents, offset + number * SECTOR, sector);
                        }
                    }
                }
                _ if !arrives => {}
                What::Write { file, offset, bytes } => put(files.entry(*file).or_default(), *offset, bytes),
                What::Cut { file, length } => files.entry(*file).or_default().resize(*length, 0),
                What::Create { name, file } => {
                    names.insert(name, *file);
                }
                What::Rename { from, to } => {
                    if let Some(file) = names.remove(from.as_str()) {
                        names.insert(to, file);
                    }
                }
                What::Remove { name } => {
                    names.remove(name.as_str());
                }
            }
        }
        let contents =
            |(name, file): (&str, usize)| (name.to_owned(), files.remove(&file).unwrap_or_default());
        names.into_iter().map(contents).collect()
    }

    /// How many files were written to after a line.
    pub fn files_written(&self, after: usize) -> usize {
        let later = self.steps.iter().filter(|step| step.begun > after);
        let written = later.filter_map(|step| match &step.what {
            What::Write { file, .. } => Some(*file),
            What::Create { .. } | What::Rename { .. } | What::Remove { .. } | What::Cut { .. } => None,
        });
        written.collect::<BTreeSet<usize>>().len()
    }

    /// How many things were done.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }
}

/// Which file has which name at the moment.
struct Names<'f> {
    folder: &'f str,
    files: BTreeMap<String, usize>,
    made: usize,
}

impl Names<'_> {
    /// What a call does to the files of the folder, if anything.
    fn effect(&mut self, call: &Call) -> Option<What> {
        match call.name.as_str() {
            "openat" if call.text.contains("O_CREAT") => self.create(self.inside(&call.string(0))?),
            "rename" | "renameat" | "renameat2" => {
                let (from, to) = (self.inside(&call.string(0))?, self.inside(&call.string(1))?);
                if let Some(file) = self.files.remove(&from) {
                    self.files.insert(to.clone(), file);
                }
                Some(What::Rename { from, to })
            }
            "unlink" | "unlinkat" => {
                let name = self.inside(&call.string(0))?;
                self.files.remove(&name);
                Some(What::Remove { name })
            }
            "pwrite64" => {
                let file = self.file(call)?;
                let mut bytes = call.string(0);
                // Strace cuts long writes short. Only zeros are written in so large pieces: to make room.
                bytes.resize(usize::try_from(call.result?).ok()?, 0);
                Some(What::Write { file, offset: call.last_argument(), bytes })
            }
            "ftruncate" => Some(What::Cut { file: self.file(call)?, length: call.last_argument() }),
            _ => None,
        }
    }

    fn create(&mut self, name: String) -> Option<What> {
        if self.files.contains_key(&name) {
            return None;
        }
        self.made += 1;
        self.files.insert(name.clone(), self.made);
        Some(What::Create { name, file: self.made })
    }

    /// The file that the call is about.
    fn file(&self, call: &Call) -> Option<usize> {
        self.files.get(&self.inside(call.file().as_bytes())?).copied()
    }

    /// The name inside the folder. What is in shared memory is made anew by whoever opens the store.
    fn inside(&self, path: &[u8]) -> Option<String> {
        let name =
            String::from_utf8_lossy(path).strip_prefix(self.folder)?.trim_start_matches('/').to_owned();
        (!name.is_empty() && !name.ends_with("-shm")).then_some(name)
    }
}

/// Writes an image into a folder.
pub fn lay_out(image: &BTreeMap<String, Vec<u8>>, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, contents) in image {
        let file = File::create(folder.join(name))?;
        file.set_len(contents.len() as u64)?;
        for (number, block) in contents.chunks(BLOCK).enumerate() {
            if block.iter().any(|byte| *byte != 0) {
                file.write_all_at(block, (number * BLOCK) as u64)?;
            }
        }
    }
    Ok(())
}

fn put(contents: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if contents.len() < offset + bytes.len() {
        contents.resize(offset + bytes.len(), 0);
    }
    contents[offset..offset + bytes.len()].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 7] = [
        r#"1 openat(AT_FDCWD</>, "/d/a", O_RDWR|O_CREAT, 0600) = 3</d/a>"#,
        "1 fsync(4</d>) = 0",
        r#"1 pwrite64(3</d/a>, "on\0e\12", 5, 0) = 5"#,
        "1 fdatasync(3</d/a>) = 0",
        r#"1 pwrite64(3</d/a>, "two", 3, 5 <unfinished ...>"#,
        "1 <... pwrite64 resumed>)   = 3",
        r#"1 openat(AT_FDCWD</>, "/d/b", O_RDWR|O_CREAT, 0600) = 5</d/b>"#,
    ];

    fn image(line: usize, luck: Luck) -> BTreeMap<String, Vec<u8>> {
        let trace = Trace::parse(&LINES.join("\n"), "/d");
        Disk::follow(&trace, "/d").image(line, luck, &mut Random::new(1))
    }

    #[test]
    fn what_was_synced_is_there_and_the_rest_may_be() {
        assert_eq!(image(7, Luck::None), BTreeMap::from([("a".to_owned(), b"on\0e\n".to_vec())]));
        assert_eq!(image(7, Luck::All)["a"], b"on\0e\ntwo");
        assert!(image(7, Luck::All).contains_key("b"));
    }

    #[test]
    fn a_sync_that_has_not_ended_promises_nothing() {
        assert_eq!(image(3, Luck::None)["a"], b"");
        assert_eq!(image(4, Luck::None)["a"], b"on\0e\n");
        assert!(image(1, Luck::None).is_empty());
    }
}
