//! The data folder: one server at a time, made when it is missing, refused when it makes no sense.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use e2e::clock::SOON;
use e2e::{Launch, Server, job};
use tempfile::TempDir;

#[test]
fn a_second_server_on_the_same_folder_is_refused() {
    let server = Launch::embedded().start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let exit = Launch::embedded().data(server.data()).run();
    assert!(!exit.status.success(), "{}", exit.output);
    assert!(exit.output.contains(&*server.data().to_string_lossy()), "{}", exit.output);
    assert_eq!(client.state(&id), "available", "the first server is not disturbed");
}

#[test]
fn the_folder_is_free_again_after_a_crash() {
    let mut server = Launch::embedded().start();
    for _ in 0..3 {
        server.crash_and_restart();
    }
    server.client().create(&job("a.b"));
}

#[test]
fn a_missing_folder_is_made() {
    let home = TempDir::new().expect("a folder");
    let data = home.path().join("deep/er/data");
    let server = Server::start_in(home, Launch::embedded().data(&data));
    server.client().create(&job("a.b"));
    assert!(data.is_dir());
}

#[test]
fn a_file_in_the_place_of_the_folder_is_refused() {
    let home = TempDir::new().expect("a folder");
    let data = home.path().join("data");
    fs::write(&data, "not a folder").expect("written");
    let exit = Launch::embedded().data(&data).run();
    assert!(!exit.status.success(), "{}", exit.output);
    assert!(exit.output.contains(&*data.to_string_lossy()), "{}", exit.output);
    assert_eq!(fs::read_to_string(&data).expect("still there"), "not a folder");
}

#[test]
fn the_folder_is_not_open_to_others() {
    use std::os::unix::fs::PermissionsExt as _;

    let server = Launch::embedded().start();
    server.client().create(&job("a.b"));
    for entry in fs::read_dir(server.data()).expect("the folder") {
        let entry = entry.expect("an entry");
        let mode = entry.metadata().expect("its metadata").permissions().mode();
        let folder = fs::metadata(server.data()).expect("its metadata").permissions().mode();
        let is_open = mode & 0o007 != 0 && folder & 0o007 != 0;
        assert!(!is_open, "{} can be read by anybody: {mode:o}", entry.path().display());
    }
}

/// A server that was stopped in good order, and its database.
fn stopped() -> (Server, PathBuf) {
    let mut server = Launch::embedded().start();
    server.client().create(&job("a.b"));
    server.signal("TERM");
    server.wait(SOON);
    let database = server.data().join("hapax.db");
    assert!(database.is_file(), "the database has another name");
    (server, database)
}

#[track_caller]
fn is_refused(server: &Server, word: &str) {
    let exit = Launch::embedded().data(server.data()).run();
    assert!(!exit.status.success(), "{}", exit.output);
    assert!(exit.output.contains(word), "no {word:?} in: {}", exit.output);
    assert!(!exit.output.contains("panicked"), "{}", exit.output);
}

#[test]
fn a_folder_of_a_later_program_is_refused() {
    let (server, database) = stopped();
    let script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); \
                  db.execute(\"UPDATE about SET value = value + 1 WHERE name = 'format'\"); db.commit()";
    let done = Command::new("python3").args(["-c", script]).arg(&database).status();
    assert!(done.is_ok_and(|status| status.success()), "python3 changes the format");
    is_refused(&server, "format");
}

#[test]
fn a_database_of_somebody_else_is_refused_and_left_alone() {
    let (server, database) = stopped();
    let foreign = "this is no database, and has to stay as it is. ".repeat(400);
    fs::write(&database, &foreign).expect("written");
    is_refused(&server, "hapax.db");
    assert_eq!(fs::read_to_string(&database).expect("still there"), foreign);
}

#[test]
fn a_log_without_its_database_is_not_swallowed() {
    let mut server = Launch::embedded().start();
    server.client().create(&job("a.b"));
    server.kill();
    fs::remove_file(server.data().join("hapax.db")).expect("the database is removed");
    is_refused(&server, "hapax.db");
}

#[test]
fn a_server_that_cannot_have_its_address_makes_no_folder() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its number").to_string();
    let home = tempfile::TempDir::new().expect("a folder");
    let data = home.path().join("data");
    let exit = Launch::embedded().data(&data).args(&["--listen", &address]).run();
    assert!(!exit.status.success() && exit.output.contains(&address), "{}", exit.output);
    assert!(!data.exists(), "{} was left behind", data.display());
}
