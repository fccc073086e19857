//! Where a cluster could leave something: files, processes, shared memory.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

const PAUSE: Duration = Duration::from_millis(20);
const PAUSES_MAX: u32 = 1_500;

/// A folder for temporary files of which only one process knows.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The server runs as another user when the tests run as root.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn entries(&self) -> Vec<PathBuf> {
        self.path().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// Those that were given a path below the place, or stand in one.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let here = self.path().to_str().unwrap();
        let concerns = |pid: &u32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let stands = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            String::from_utf8_lossy(&words).contains(here) || stands.starts_with(here)
        };
        let listed = Path::new("/proc").read_dir().unwrap();
        let pids = listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter(concerns).collect()
    }
}

/// A zombie runs no more, and is left to whoever adopted it.
pub(crate) fn is_alive(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains("zombie"))
}

pub(crate) fn is_listed(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// The number of the shared memory by which a server keeps a second one away from its files.
pub(crate) fn segment(data_dir: &Path) -> String {
    let lock = fs::read_to_string(data_dir.join("postmaster.pid")).unwrap();
    lock.lines().nth(6).unwrap().split_whitespace().last().unwrap().to_owned()
}

pub(crate) fn has_segment(number: &str) -> bool {
    let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    segments.lines().any(|line| line.split_whitespace().nth(1) == Some(number))
}

/// Whether it holds before patience ends.
pub(crate) fn eventually(holds: impl Fn() -> bool) -> bool {
    (0..PAUSES_MAX).any(|_| {
        let held = holds();
        if !held {
            pause();
        }
        held
    })
}

#[expect(clippy::disallowed_methods, reason = "a process that is nobody's child tells nobody when it ends")]
fn pause() {
    thread::sleep(PAUSE);
}
