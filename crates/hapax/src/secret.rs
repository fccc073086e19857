//! Texts that must not be shown, and the files in which they stand.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::Path;

use crate::failure::Failure;

/// Largest file of keys: nobody has so many.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A text that must not be shown: it has no `Debug`.
pub(crate) struct Secret(Box<str>);

/// A line of a file of keys.
pub(crate) struct Entry<'t> {
    /// Its number, from 1.
    pub(crate) line: usize,
    /// What stands before the colon, if there is one.
    pub(crate) name: Option<&'t str>,
    /// What must not be shown.
    pub(crate) secret: &'t str,
}

impl Secret {
    pub(crate) fn new(text: &str) -> Secret {
        Secret(text.into())
    }

    /// The text, for whoever has to send or compare it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

/// The text of a file of keys, which must not be open to everybody.
pub(crate) fn read(path: &Path) -> Result<Secret, Failure> {
    let failed =
        |error| Failure::because(format!("could not read the API keys in {}", path.display()), &error);
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if is_open_to_all(&metadata) {
        let sentence = format!(
            "the API keys in {} can be read or changed by every user of this machine",
            path.display()
        );
        return Err(Failure::new(sentence).hint(format!("chmod 600 {}", path.display())));
    }
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
    Ok(Secret(text.into()))
}

/// The keys of a file: `name:secret` or `secret` per line, apart from empty lines and comments.
pub(crate) fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).map(|(number, line)| {
        match line.split_once(':') {
            Some((name, secret)) => Entry { line: number, name: Some(name.trim()), secret: secret.trim() },
            None => Entry { line: number, name: None, secret: line },
        }
    })
}

#[cfg(unix)]
fn is_open_to_all(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o006 != 0
}

#[cfg(not(unix))]
fn is_open_to_all(_metadata: &Metadata) -> bool {
    false
}
