//! Every target without libFuzzer: its seeds, then a fixed number of damaged ones.

use std::fs;
use std::path::{Path, PathBuf};

use hapax_fuzz::mutator::Mutator;
use hapax_fuzz::{TARGETS, Target};

const INPUTS: usize = 200_000;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder("corpus-seeds").join(target)).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Names the input that a target panicked over.
struct Running<'a>(&'static str, &'a [u8]);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("target {} failed on b\"{}\"", self.0, self.1.escape_ascii());
        }
    }
}

fn replay(name: &'static str, target: Target) {
    let seeds = seeds(name);
    let mut mutator = Mutator::new(&seeds);
    let damaged = std::iter::repeat_with(|| mutator.next_input()).take(INPUTS);
    for input in seeds.iter().cloned().chain(damaged) {
        let running = Running(name, &input);
        target(running.1);
    }
}

#[test]
fn no_target_fails_on_its_seeds_or_on_what_they_become() {
    std::thread::scope(|scope| {
        for &(name, target) in TARGETS {
            scope.spawn(move || replay(name, target));
        }
    });
}

#[test]
fn every_target_has_a_binary_and_every_binary_is_a_target() {
    let manifest = fs::read_to_string(folder("Cargo.toml")).unwrap();
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
    for (name, _) in TARGETS {
        assert!(
            manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")),
            "{name} is not in Cargo.toml"
        );
        assert!(folder("fuzz_targets").join(format!("{name}.rs")).exists(), "{name} has no binary");
    }
}
