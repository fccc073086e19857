//! Which stores, readings and parts of the suite to run.

use std::fmt;

use anyhow::{Context as _, Result, bail};

use super::PATHS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    Embedded,
    Memory,
    Postgres,
}

/// How a test file is understood: as the official runner does, or as its authors wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Default,
    Strict,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) stores: Vec<Store>,
    pub(crate) readings: Vec<Reading>,
    pub(crate) paths: Vec<String>,
}

impl Selection {
    pub(crate) fn everything() -> Self {
        Self {
            stores: vec![Store::Embedded, Store::Memory, Store::Postgres],
            readings: vec![Reading::Default, Reading::Strict],
            paths: PATHS.iter().map(|&path| path.to_owned()).collect(),
        }
    }

    pub(crate) fn parse(args: &[String]) -> Result<Self> {
        let mut selection = Self::everything();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--strict" => selection.readings = vec![Reading::Strict],
                "--store" => selection.stores = vec![Store::parse(value()?)?],
                "--path" => selection.paths = vec![value()?.clone()],
                _ => bail!(
                    "usage: cargo xtask conformance [--store embedded|memory|postgres] [--strict] [--path P]"
                ),
            }
        }
        Ok(selection)
    }
}

impl Store {
    fn parse(name: &str) -> Result<Self> {
        match name {
            "embedded" => Ok(Self::Embedded),
            "memory" => Ok(Self::Memory),
            "postgres" => Ok(Self::Postgres),
            _ => bail!("`{name}` is not a store: embedded, memory or postgres"),
        }
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Embedded => "embedded",
            Self::Memory => "memory",
            Self::Postgres => "postgres",
        })
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::Strict => "strict",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Selection> {
        Selection::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn no_flags_select_everything() {
        assert_eq!(parse("").unwrap(), Selection::everything());
    }

    #[test]
    fn each_flag_narrows_one_dimension() {
        let selection = parse("--store memory --strict --path level-0").unwrap();
        assert_eq!(selection.stores, [Store::Memory]);
        assert_eq!(selection.readings, [Reading::Strict]);
        assert_eq!(selection.paths, ["level-0"]);
    }

    #[test]
    fn unknown_stores_and_flags_are_refused() {
        assert!(parse("--store floppy").unwrap_err().to_string().contains("floppy"));
        assert!(parse("--fast").unwrap_err().to_string().starts_with("usage:"));
    }
}
