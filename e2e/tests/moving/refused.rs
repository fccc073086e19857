//! What is not done, and what is said about it.

use std::fs;

use e2e::{Launch, job};

use crate::carry::{Place, home, stop};

/// Runs a command that must fail. What it says.
#[track_caller]
fn refused(args: &[&str], code: i32, expected: &[&str]) {
    let exit = Launch::run_program(args);
    assert_eq!(exit.status.code(), Some(code), "{args:?}: {}", exit.output);
    for words in expected {
        assert!(exit.output.contains(words), "{args:?}: no {words:?} in {}", exit.output);
    }
    assert!(!exit.output.contains("panicked"), "{}", exit.output);
}

#[test]
fn a_folder_that_a_server_has_is_neither_exported_nor_filled() {
    let server = Launch::embedded().start();
    let data = server.data().to_string_lossy().into_owned();
    let hint = "stop it";
    refused(&["export", "--data", &data], 1, &["in use by another process", hint]);
    let export = "{\"hapax_export\":1,\"id\":\"00000000000000000000000000000000\",\
                  \"exported_at\":\"2026-03-01T09:30:00Z\",\"from\":\"embedded\",\"version\":\"0.1.0\",\
                  \"queues\":0,\"jobs\":0,\"entries\":0,\"memos\":0}\n";
    let file = server.home().join("jobs.ndjson");
    fs::write(&file, export).expect("written");
    refused(&["import", &file.to_string_lossy(), "--data", &data], 1, &["in use by another process", hint]);
}

#[test]
fn a_store_with_jobs_is_not_filled_and_stays_as_it_is() {
    let home = home();
    let file = home.path().join("jobs.ndjson");
    let path = file.to_string_lossy();
    for place in [Place::Folder(home.path().join("data")), Place::database()] {
        let server = place.serve();
        let id = server.client().create(&job("work.do"));
        stop(server);
        place.export(&file);
        let [name, value] = place.flags();
        refused(&["import", &path, &name, &value], 1, &["it holds 1 queue, 1 job", "without jobs"]);
        assert_eq!(place.serve().client().state(&id), "available");
    }
}

#[test]
fn a_file_is_not_written_over_unless_that_is_said() {
    let home = home();
    let (data, file) = (home.path().join("data"), home.path().join("jobs.ndjson"));
    stop(Place::Folder(data.clone()).serve());
    fs::write(&file, "precious").expect("written");
    let (data, path) = (data.to_string_lossy(), file.to_string_lossy());
    refused(&["export", &path, "--data", &data], 2, &["is already there", "--force"]);
    assert_eq!(fs::read_to_string(&file).expect("there"), "precious");
    let exit = Launch::run_program(&["export", &path, "--data", &data, "--force"]);
    assert!(exit.status.success(), "{}", exit.output);
    assert!(fs::read_to_string(&file).expect("there").starts_with("{\"hapax_export\":1,"));
    assert!(!home.path().join("jobs.ndjson.partial").exists());
}

#[test]
fn what_is_no_export_or_is_damaged_is_refused_by_its_line() {
    let home = home();
    let (old, file) = (Place::Folder(home.path().join("old")), home.path().join("jobs.ndjson"));
    let server = old.serve();
    for _ in 0..3 {
        server.client().create(&job("work.do"));
    }
    stop(server);
    old.export(&file);
    let text = fs::read_to_string(&file).expect("the export");
    for (number, (damaged, expected)) in [
        ("id,type\n1,a\n".to_owned(), "does not begin like an export"),
        (text.replacen("\"hapax_export\":1", "\"hapax_export\":2", 1), "has format 2"),
        (text.replacen("work.do", "Work.do", 1), "line 3 cannot be imported: its member \"type\""),
        (text.replacen("\"priority\":0", "\"priority\":1", 1), "was changed since it was made"),
        (text[..text.len() - 200].to_owned(), "is cut off"),
    ]
    .into_iter()
    .enumerate()
    {
        fs::write(&file, damaged).expect("written");
        let data = home.path().join(number.to_string());
        refused(
            &["import", &file.to_string_lossy(), "--data", &data.to_string_lossy()],
            1,
            &[expected, "hint:"],
        );
    }
}

#[test]
fn a_store_that_is_not_there_is_not_made_by_an_export() {
    let home = home();
    let data = home.path().join("data");
    refused(&["export", "--data", &data.to_string_lossy()], 1, &["there is no store in"]);
    assert!(!data.exists());
    let place = Place::database();
    let [name, url] = place.flags();
    refused(&["export", &name, &url], 1, &["there is no store in the schema hapax"]);
}
