//! Running other programs, with errors that show the command line.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, ensure};

/// Runs to the end with the terminal's own input and output; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", shown(command)))?;
    ensure!(status.success(), "`{}` ended with {status}", shown(command));
    Ok(())
}

/// Runs to the end and keeps what it wrote, whatever its exit status.
pub(crate) fn capture(command: &mut Command) -> Result<Output> {
    command.output().with_context(|| format!("cannot start `{}`", shown(command)))
}

/// Whether the program is there and answers; its output is thrown away.
pub(crate) fn answers(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_is_shown_as_typed() {
        let mut command = Command::new("/bin/sh");
        let error = run(command.args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "`sh -c exit 3` ended with exit status: 3");
    }
}
