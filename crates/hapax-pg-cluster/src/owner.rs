//! The user a server runs as: PostgreSQL refuses to be root.

use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;
use std::process::Command;

use crate::error::Error;

const ROOT: u32 = 0;

/// The first is made by Debian's package, the second is on every machine.
const UNPRIVILEGED: &[&str] = &["postgres", "nobody"];

#[derive(Debug, Clone, Copy)]
pub(crate) enum Owner {
    Oneself,
    Other { user: u32, group: u32 },
}

impl Owner {
    /// Whom the server in `folder` will run as; from then on the folder is theirs.
    pub(crate) fn of(folder: &Path) -> Result<Self, Error> {
        let made_by = folder.metadata().map_err(Error::io("look at the new folder"))?.uid();
        if made_by != ROOT {
            return Ok(Self::Oneself);
        }
        let (user, group) = UNPRIVILEGED.iter().find_map(|name| ids(name)).ok_or(Error::NoOwner)?;
        chown(folder, Some(user), Some(group)).map_err(Error::io("give the folder to the server's user"))?;
        Ok(Self::Other { user, group })
    }

    /// The words in front of a command that make it run as this user, in the same process.
    pub(crate) fn prefix(self) -> Vec<String> {
        match self {
            Self::Oneself => Vec::new(),
            Self::Other { user, group } => vec![
                "setpriv".to_owned(),
                format!("--reuid={user}"),
                format!("--regid={group}"),
                "--clear-groups".to_owned(),
            ],
        }
    }
}

fn ids(name: &str) -> Option<(u32, u32)> {
    Some((id("-u", name)?, id("-g", name)?))
}

fn id(which: &str, name: &str) -> Option<u32> {
    let output = Command::new("id").args([which, name]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim_end().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_known_by_name() {
        assert_eq!(ids("root"), Some((0, 0)));
        assert_eq!(ids("nobody of that name"), None);
    }
}
