//! The disk ceiling: the same job bytes, appended to one file and synced once per group.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::clock::{self, Window};
use crate::histogram::Histogram;
use crate::job::JOB_BYTES;

/// Written once beforehand: a sync that also has to extend the file costs twice as much.
const FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Enough syncs for a steady median.
const PROBE_SYNCS: usize = 200;

#[derive(Debug)]
pub(crate) struct Append {
    file: File,
    offset: u64,
}

impl Append {
    pub(crate) fn create(directory: &Path, name: &str) -> Result<Self> {
        let file = File::options().create_new(true).write(true).open(directory.join(name))?;
        file.write_all_at(&vec![0; usize::try_from(FILE_BYTES)?], 0)?;
        file.sync_all()?;
        Ok(Self { file, offset: 0 })
    }

    /// Jobs per second in groups of `group`, for about `length`.
    pub(crate) fn jobs_per_second(&mut self, group: usize, length: Duration) -> Result<f64> {
        let bytes = vec![b'x'; group * JOB_BYTES];
        let window = Window::opening(Duration::ZERO, length);
        let mut jobs = 0.0;
        let mut ended = window.from;
        while ended < window.until {
            self.append(&bytes)?;
            ended = clock::now();
            jobs += f64::from(u32::try_from(group)?);
        }
        Ok(jobs / (ended - window.from).as_secs_f64())
    }

    /// The median time of one append of one job with its sync, in microseconds.
    pub(crate) fn sync_us(&mut self) -> Result<f64> {
        let bytes = [b'x'; JOB_BYTES];
        let mut times = Histogram::new();
        for _ in 0..PROBE_SYNCS {
            let started = clock::now();
            self.append(&bytes)?;
            times.record(clock::now() - started);
        }
        Ok(times.percentile_us(50))
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.offset + bytes.len() as u64 > FILE_BYTES {
            self.offset = 0;
        }
        self.file.write_all_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        Ok(self.file.sync_data()?)
    }
}
