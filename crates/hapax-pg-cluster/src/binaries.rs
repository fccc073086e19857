//! Where the programs of PostgreSQL are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;

/// One folder per major version, as Debian and its descendants install them.
const VERSIONS: &str = "/usr/lib/postgresql";

#[derive(Debug, Clone)]
pub(crate) struct Binaries {
    folder: PathBuf,
}

impl Binaries {
    pub(crate) fn find() -> Result<Self, Error> {
        if let Some(folder) = std::env::var_os("HAPAX_PG_BIN").map(PathBuf::from) {
            return if has_server(&folder) { Ok(Self { folder }) } else { Err(Error::NoServerIn(folder)) };
        }
        let folder = newest_in(Path::new(VERSIONS)).or_else(configured).ok_or(Error::NotInstalled)?;
        Ok(Self { folder })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn psql(&self) -> PathBuf {
        self.folder.join("psql")
    }
}

/// Without what the environment says about servers: PostgreSQL's programs would heed it.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"PG")) {
        command.env_remove(name);
    }
    command
}

fn newest_in(versions: &Path) -> Option<PathBuf> {
    let entries = versions.read_dir().ok()?.filter_map(Result::ok);
    let numbered = entries.filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    numbered.filter(|(_, folder)| has_server(folder)).max().map(|(_, folder)| folder)
}

fn configured() -> Option<PathBuf> {
    let output = command("pg_config").arg("--bindir").output().ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim_end());
    has_server(&folder).then_some(folder)
}

/// The clients come in packages of their own and share the folder.
fn has_server(folder: &Path) -> bool {
    ["postgres", "initdb", "psql"].iter().all(|program| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(versions: &Path, version: &str, programs: &[&str]) {
        let folder = versions.join(version).join("bin");
        std::fs::create_dir_all(&folder).unwrap();
        for program in programs {
            std::fs::write(folder.join(program), "").unwrap();
        }
    }

    #[test]
    fn the_newest_version_with_a_server_is_found() {
        let versions = tempfile::tempdir().unwrap();
        assert_eq!(newest_in(versions.path()), None);
        install(versions.path(), "9", &["postgres", "initdb", "psql"]);
        install(versions.path(), "15", &["postgres", "initdb", "psql"]);
        install(versions.path(), "16", &["psql"]);
        assert_eq!(newest_in(versions.path()), Some(versions.path().join("15/bin")));
    }
}
