//! The examples of the page about moving, as they stand there.

use std::path::Path;
use std::process::Command;

use e2e::{Launch, job};
use hapax_pg_cluster::Cluster;

use crate::carry::{Place, home, stop};

const URL: &str = "postgres://hapax@db.internal:5432/jobs";

#[test]
fn every_command_of_the_page_does_what_it_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/moving.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let home = home();
    let place = Place::Folder(home.path().join("hapax-data"));
    let server = place.serve();
    server.client().create(&job("email.send"));
    stop(server);
    let database = Cluster::shared().database();
    let program = Launch::program_folder();
    let mut run = 0;
    for block in page.split("```sh\n").skip(1) {
        let script = block.split("```").next().unwrap_or_default().replace(URL, &database.url());
        let mut shell = Command::new("sh");
        shell.args(["-ec", &script]).current_dir(home.path()).env_clear();
        shell.env("PATH", format!("{}:/usr/bin:/bin", program.display()));
        let output = shell.output().expect("a shell");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{told}");
        run += 1;
    }
    assert!(run >= 5, "only {run} examples");
    stop(Place::Folder(home.path().join("new-folder")).serve());
}
