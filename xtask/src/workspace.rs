//! Where things are: the repository, the build output, and what the environment says.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The server as `cargo build -p hapax` leaves it.
pub(crate) fn server() -> PathBuf {
    built("hapax")
}

/// A program of ours as `cargo build` leaves it.
pub(crate) fn built(program: &str) -> PathBuf {
    target_dir().join("debug").join(program)
}

pub(crate) fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

pub(crate) fn conformance_override() -> Option<PathBuf> {
    std::env::var_os("HAPAX_CONFORMANCE_SUITE").map(PathBuf::from)
}

/// The cargo that runs this task, at the root of the repository.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    if in_ci() {
        // The formatter and the test harness know only the last two.
        command.env("CARGO_TERM_COLOR", "never").env("NO_COLOR", "1").env("TERM", "dumb");
    }
    command
}
