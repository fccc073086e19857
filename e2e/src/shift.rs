//! Wall clocks that are wrong, and that are set while a server runs.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::Launch;
use crate::process::or_panic;

const LIBRARY: &str = include_str!("clock_shift.c");

/// The wall clock of one program: of a server, or of a database.
#[derive(Debug)]
pub struct Shift {
    folder: TempDir,
}

impl Shift {
    /// A clock that is so many seconds ahead.
    #[track_caller]
    pub fn of(seconds: i64) -> Shift {
        let shift = Shift { folder: or_panic("a temporary folder", TempDir::new()) };
        // A database reads it as a user of its own.
        let readable = fs::set_permissions(shift.folder.path(), Permissions::from_mode(0o755));
        or_panic("a folder that others may read", readable);
        shift.build();
        shift.set(seconds);
        shift
    }

    /// Sets the clock, from one look at it to the next.
    #[track_caller]
    pub fn set(&self, seconds: i64) {
        let (new, file) = (self.path("new"), self.file());
        or_panic("the new shift", fs::write(&new, seconds.to_string()));
        or_panic("the shift", fs::rename(&new, &file));
    }

    /// A server that goes by this clock.
    pub fn launch(&self, launch: Launch) -> Launch {
        let [preload, file] = self.environment().map(|(name, value)| format!("{name}={value}"));
        launch.under(&["env", &preload, &file])
    }

    /// What makes a program go by this clock.
    pub fn environment(&self) -> [(String, String); 2] {
        let text = |path: PathBuf| path.display().to_string();
        [("LD_PRELOAD".to_owned(), text(self.library())), ("CLOCK_SHIFT_FILE".to_owned(), text(self.file()))]
    }

    /// By the compiler that the server's own build needs.
    #[track_caller]
    fn build(&self) {
        let source = self.path("clock_shift.c");
        or_panic("the source", fs::write(&source, LIBRARY));
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(self.library()).arg(&source);
        let output = or_panic("a C compiler", compiler.output());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn library(&self) -> PathBuf {
        self.path("clock_shift.so")
    }

    fn file(&self) -> PathBuf {
        self.path("seconds")
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::join(self.folder.path(), name)
    }
}
