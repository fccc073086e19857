//! An import that is killed goes on when it is run again, and nobody is served from half of it.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use e2e::{Client, Launch, Request, job};
use serde_json::json;

use crate::carry::{Place, home, lines, same, stop};

const JOBS: usize = 4000;
/// After how many lines each import is killed. The pipe and the program's buffer hold some 300 KB, the first batch has
/// 1,000 lines: by the third number it is stored.
const KILLED_AFTER: [usize; 5] = [1, 900, 2000, 2900, 3900];

fn fill(client: &mut Client) {
    let text = "x".repeat(400);
    for batch in 0..JOBS / 500 {
        let jobs: Vec<_> =
            (0..500).map(|n| job("work.do").args(json!([batch * 500 + n, text])).json()).collect();
        client.post("/ojs/v1/jobs/batch", &json!({"jobs": jobs})).is(201);
    }
}

/// Gives an import the first lines of a file, and then a kill.
fn kill_import(place: &Place, text: &str, count: usize) {
    let mut import = place.command("import", Path::new("-"));
    import.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut import = import.spawn().expect("the program runs");
    let mut input = import.stdin.take().expect("its input");
    for line in text.split_inclusive('\n').take(count) {
        input.write_all(line.as_bytes()).expect("it reads");
    }
    import.kill().expect("kill -9");
    import.wait().expect("its end");
}

#[track_caller]
fn check(new: &Place) {
    let home = home();
    let (file, again) = (home.path().join("jobs.ndjson"), home.path().join("again.ndjson"));
    let old = Place::Folder(home.path().join("old"));
    let server = old.serve();
    fill(&mut server.client());
    stop(server);
    let exported = old.export(&file);
    assert_eq!(exported["jobs"], JOBS);
    let text = fs::read_to_string(&file).expect("the export");
    for count in KILLED_AFTER {
        kill_import(new, &text, count);
    }
    if let Place::Database(database) = new {
        let stored = database.query("SELECT count(*) FROM hapax_importing.jobs").expect("half an import");
        assert!((1000..JOBS).contains(&stored.trim().parse().expect("a number")), "{stored}");
    }
    let [name, value] = new.flags();
    let refused = Launch::run_program(&["serve", "--listen", "127.0.0.1:0", &name, &value]);
    assert!(!refused.status.success(), "{}", refused.output);
    assert!(refused.output.contains("is not finished"), "{}", refused.output);
    same(&exported, &new.import(&file));
    same(&exported, &new.export(&again));
    assert_eq!(lines(&file), lines(&again));
    let server = new.serve();
    assert_eq!(server.client().count("default", "available"), JOBS as u64);
}

#[test]
fn an_import_to_postgresql_survives_kills() {
    check(&Place::database());
}

#[test]
fn an_import_to_a_folder_survives_kills() {
    let home = home();
    check(&Place::Folder(home.path().join("new")));
}

#[test]
fn a_server_that_runs_meanwhile_gives_out_nothing_and_then_everything() {
    let home = home();
    let file = home.path().join("jobs.ndjson");
    let (old, new) = (Place::Folder(home.path().join("old")), Place::database());
    let server = old.serve();
    fill(&mut server.client());
    stop(server);
    old.export(&file);
    let running = new.serve();
    assert!(running.client().fetch("default", 1).is_empty());
    let text = fs::read_to_string(&file).expect("the export");
    kill_import(&new, &text, 2900);
    let fetch = Request::post("/ojs/v1/workers/fetch", json!({"queues": ["default"]}).to_string());
    running.client().send(&fetch).is_refusal(500, "backend_error");
    running.client().enqueue(&job("work.do")).is_refusal(500, "backend_error");
    new.import(&file);
    assert_eq!(running.client().fetch("default", 3).len(), 3);
    assert_eq!(running.client().count("default", "available"), JOBS as u64 - 3);
    running.client().create(&job("work.do"));
}
