//! The settings in a file.

use std::fs;
use std::ops::Range;
use std::path::Path;

use crate::cli::Settings;
use crate::failure::Failure;

/// Reads a file of settings.
pub(super) fn read(path: &Path) -> Result<Settings, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::because(format!("could not read the settings in {}", path.display()), &error)
    })?;
    parse(&text).map_err(|fault| Failure::new(format!("{}, {fault}", path.display())))
}

fn parse(text: &str) -> Result<Settings, String> {
    toml::from_str(text).map_err(|error| {
        let place = error.span().map_or_else(|| "somewhere".into(), |span| place(text, &span));
        format!("{place}: {}", error.message().trim_end())
    })
}

/// The line of a fault, and the setting that it is about.
fn place(text: &str, span: &Range<usize>) -> String {
    let before = text.get(..span.start).unwrap_or(text);
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default();
    match line.split_once('=') {
        Some((key, _)) => format!("line {number}, {}", key.trim()),
        None => format!("line {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let fault = parse(text).unwrap_err();
        assert!(fault.starts_with(expected), "{fault}");
    }

    #[test]
    fn a_fault_names_the_line_and_the_setting() {
        check(
            "listen = \"127.0.0.1:1\"\nlisten-on = 1\n",
            "line 2, listen-on: unknown field `listen-on`, expected one of",
        );
        check(
            "\n\nretain-completed = \"7d\"",
            "line 3, retain-completed: \"7d\" is not an ISO 8601 duration",
        );
        check("listen = \"localhost:1\"", "line 1, listen: \"localhost:1\" is not an address with a port");
        check("max-job-bytes = -1", "line 1, max-job-bytes: ");
        check("store = \"redis\"", "line 1, store: unknown variant `redis`, expected `embedded` or `memory`");
        check("conformance = \"yes\"", "line 1, conformance: ");
        check("data = 'a'\ndata = 'b'", "line 2, data: duplicate key");
        check("listen", "line 1");
    }

    #[test]
    fn an_empty_file_sets_nothing() {
        assert!(parse("# nothing\n").unwrap().listen.is_none());
    }
}
