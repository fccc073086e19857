//! A full disk: the server stops or refuses, and nothing accepted is lost.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use e2e::{Launch, Server, job};
use tempfile::TempDir;

use crate::{all_there, enqueue_until_refused};

const SMALL: &str = "size=48m";
const LARGE: &str = "size=400m";
/// The same for a machine on which nothing can be mounted: no file may be longer than this many blocks of
/// half a kibibyte.
const BLOCKS: &str = "40000";
const PAD: usize = 200_000;
const JOBS_MAX: usize = 3_000;

/// A small disk that goes away with its guard.
struct Disk(PathBuf);

impl Disk {
    fn mount(at: &Path) -> Option<Disk> {
        std::fs::create_dir_all(at).ok()?;
        let at_text = at.to_string_lossy();
        mount(&["-t", "tmpfs", "-o", SMALL, "tmpfs", &at_text]).then(|| Disk(at.to_owned()))
    }

    #[track_caller]
    fn grow(&self) {
        let options = format!("remount,{LARGE}");
        assert!(mount(&["-o", &options, &self.0.to_string_lossy()]), "the disk does not grow");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a server that is still running keeps its files until it ends.
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

fn mount(args: &[&str]) -> bool {
    Command::new("mount").args(args).output().is_ok_and(|output| output.status.success())
}

/// Fills the disk and returns what was accepted until then. The server has stopped when this returns: by
/// itself and with a reason, or, if it only refuses, because the test stopped it.
fn fill(server: &mut Server) -> Vec<String> {
    let accepted = enqueue_until_refused(&mut server.client(), PAD, JOBS_MAX);
    assert!(!accepted.is_empty() && accepted.len() < JOBS_MAX, "{} jobs accepted", accepted.len());
    let limit = Duration::from_secs(2);
    let started = e2e::clock::now();
    e2e::clock::until("the server stops or goes on", Duration::from_secs(10), || {
        server.exit_status().is_some() || started.elapsed() > limit
    });
    if let Some(status) = server.exit_status() {
        assert!(!status.success(), "a full disk is no success");
    } else {
        all_there(&mut server.client(), &accepted);
        server.kill();
    }
    accepted
}

#[test]
fn a_full_disk_loses_nothing() {
    let home = TempDir::new().expect("a folder");
    let disk = Disk::mount(&home.path().join("disk"));
    let limited = format!("ulimit -f {BLOCKS}; exec \"$0\" \"$@\"");
    let launch = match &disk {
        Some(disk) => Launch::embedded().data(&disk.0.join("data")),
        None => Launch::embedded().under(&["sh", "-c", &limited]),
    };
    let mut server = Server::start_in(home, launch);
    let accepted = fill(&mut server);
    eprintln!("{} jobs fit; mounted: {}", accepted.len(), disk.is_some());
    if disk.is_some() {
        let log = server.log().to_lowercase();
        assert!(log.contains("full") || log.contains("space"), "the log does not say why: {log}");
    }

    if let Some(disk) = &disk {
        disk.grow();
        server.start_again();
    } else {
        server.start_again_as(Launch::embedded());
    }
    let mut client = server.client();
    all_there(&mut client, &accepted);
    client.create(&job("a.b"));
    let delivery = client.fetch_one("default");
    client.ack(&delivery).is(200);
    drop(server);
    drop(disk);
}
