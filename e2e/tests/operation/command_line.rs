//! The command line and the configuration file: help that helps, errors that name what is wrong.

use std::fs;

use e2e::Launch;
use tempfile::TempDir;

#[test]
fn the_help_names_every_flag() {
    let exit = Launch::run_program(&["serve", "--help"]);
    assert!(exit.status.success(), "{}", exit.output);
    for flag in [
        "--listen",
        "--data",
        "--store",
        "--conformance",
        "--api-key-file",
        "--insecure",
        "--log",
        "--config",
    ] {
        assert!(exit.output.contains(flag), "no {flag} in the help");
    }
    let exit = Launch::run_program(&["--help"]);
    assert!(exit.status.success() && exit.output.contains("serve"), "{}", exit.output);
}

#[test]
fn the_version_is_shown() {
    let exit = Launch::run_program(&["--version"]);
    assert!(exit.status.success(), "{}", exit.output);
    assert!(exit.output.starts_with("hapax "), "{}", exit.output);
}

#[test]
fn wrong_arguments_are_refused_by_name() {
    for (args, word) in [
        (&["serve", "--no-such-flag"][..], "--no-such-flag"),
        (&["serve", "--listen", "nowhere"], "nowhere"),
        (&["serve", "--log", "loud"], "loud"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let exit = Launch::run_program(args);
        assert!(!exit.status.success(), "{args:?}");
        assert!(exit.output.contains(word), "no {word} in: {}", exit.output);
        assert!(!exit.output.contains("panicked"), "{}", exit.output);
    }
}

#[test]
fn a_bad_configuration_file_is_refused_by_file_and_member() {
    let home = TempDir::new().expect("a folder");
    let file = home.path().join("hapax.toml");
    let path = file.to_string_lossy();
    for (text, word) in
        [("lisen = \"127.0.0.1:1\"\n", "lisen"), ("listen = 5\n", "listen"), ("listen = \n", "hapax.toml")]
    {
        fs::write(&file, text).expect("written");
        let exit = Launch::run_program(&["serve", "--config", &path]);
        assert!(!exit.status.success(), "{text}");
        assert!(exit.output.contains(word), "no {word} in: {}", exit.output);
        assert!(exit.output.contains(&*path), "no {path} in: {}", exit.output);
    }
    let exit = Launch::run_program(&["serve", "--config", &format!("{path}.missing")]);
    assert!(!exit.status.success() && exit.output.contains(".missing"), "{}", exit.output);
}

#[test]
fn an_address_that_is_taken_is_named() {
    let server = e2e::Server::start();
    let address = server.address().to_string();
    let exit = Launch::default().args(&["--listen", &address]).run();
    assert!(!exit.status.success());
    assert!(exit.output.contains(&address), "no {address} in: {}", exit.output);
}
