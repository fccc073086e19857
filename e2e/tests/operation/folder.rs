//! The data folder: one server at a time, made when it is missing, refused when it makes no sense.

use std::fs;

use e2e::{Launch, Server, job};
use tempfile::TempDir;

#[test]
fn a_second_server_on_the_same_folder_is_refused() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let exit = Launch::default().data(&server.data()).run();
    assert!(!exit.status.success(), "{}", exit.output);
    assert!(exit.output.contains(&*server.data().to_string_lossy()), "{}", exit.output);
    assert_eq!(client.state(&id), "available", "the first server is not disturbed");
}

#[test]
fn the_folder_is_free_again_after_a_crash() {
    let mut server = Server::start();
    for _ in 0..3 {
        server.crash_and_restart();
    }
    server.client().create(&job("a.b"));
}

#[test]
fn a_missing_folder_is_made() {
    let home = TempDir::new().expect("a folder");
    let data = home.path().join("deep/er/data");
    let server = Server::start_in(home, Launch::default().data(&data));
    server.client().create(&job("a.b"));
    assert!(data.is_dir());
}

#[test]
fn a_file_in_the_place_of_the_folder_is_refused() {
    let home = TempDir::new().expect("a folder");
    let data = home.path().join("data");
    fs::write(&data, "not a folder").expect("written");
    let exit = Launch::default().data(&data).run();
    assert!(!exit.status.success(), "{}", exit.output);
    assert!(exit.output.contains(&*data.to_string_lossy()), "{}", exit.output);
    assert_eq!(fs::read_to_string(&data).expect("still there"), "not a folder");
}

#[test]
fn the_folder_is_not_open_to_others() {
    use std::os::unix::fs::PermissionsExt as _;

    let server = Server::start();
    server.client().create(&job("a.b"));
    for entry in fs::read_dir(server.data()).expect("the folder") {
        let entry = entry.expect("an entry");
        let mode = entry.metadata().expect("its metadata").permissions().mode();
        let folder = fs::metadata(server.data()).expect("its metadata").permissions().mode();
        let is_open = mode & 0o007 != 0 && folder & 0o007 != 0;
        assert!(!is_open, "{} can be read by anybody: {mode:o}", entry.path().display());
    }
}
