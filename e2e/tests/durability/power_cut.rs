//! Power cuts: of all the disks that one could leave, none lacks what was promised.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use e2e::disk::{Disk, LUCKS, Luck, lay_out};
use e2e::{Launch, Random, Server, together};
use tempfile::TempDir;

use crate::witness::{Recording, Vow};

/// Large enough that the log fills, is copied back and starts over while it is watched.
const ROUNDS: usize = 12;
const PAD: usize = 60_000;
const CUTS: usize = 30;
const THREADS: usize = 3;

/// Panics unless the record is complete: if everything arrived, the disk is the folder as it is.
fn is_complete(disk: &Disk, folder: &Path, random: &mut Random) {
    for (name, contents) in disk.image(usize::MAX, Luck::All, random) {
        let real = fs::read(folder.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let differ = real.iter().zip(&contents).position(|(real, recorded)| real != recorded);
        assert!(differ.is_none(), "{name}: the record differs from the file at {differ:?}");
        assert_eq!(real.len(), contents.len(), "{name}: the record has another length");
    }
}

/// A moment at which the power fails, with what had been promised until then.
struct Cut<'v> {
    line: usize,
    facts: BTreeMap<&'v str, Option<&'static str>>,
}

impl<'v> Cut<'v> {
    /// A promise counts from the moment at which its answer began to leave.
    fn at(line: usize, vows: &'v [(usize, Vow)]) -> Cut<'v> {
        let mut facts = BTreeMap::new();
        for (_, vow) in vows.iter().filter(|(answered, _)| *answered < line) {
            for (id, state) in &vow.facts {
                let known: &mut Option<&'static str> = facts.entry(id.as_str()).or_default();
                *known = known.or(*state);
            }
        }
        Cut { line, facts }
    }

    /// Starts the server on one of the disks that the cut could leave, and asks it for everything.
    fn is_survived(&self, disk: &Disk, luck: Luck, random: &mut Random) {
        let what = format!("after a power cut at line {} with {luck:?}", self.line);
        let home = TempDir::new().unwrap_or_else(|error| panic!("{error}"));
        let image = disk.image(self.line, luck, random);
        lay_out(&image, &home.path().join("data")).unwrap_or_else(|error| panic!("{what}: {error}"));
        let server = Server::start_in(home, Launch::embedded());
        let mut client = server.client();
        for (id, state) in &self.facts {
            let answer = client.get(&format!("/ojs/v1/jobs/{id}"));
            assert_eq!(answer.status, 200, "{what} {id} is lost: {}", answer.body);
            let found = &answer["job"]["state"];
            assert!(state.is_none_or(|state| found == state), "{what} {id} is {found}, not {state:?}");
        }
        client.create(&e2e::job("afterwards"));
    }
}

#[test]
fn no_disk_that_a_power_cut_could_leave_lacks_what_was_promised() {
    let mut random = Random::seeded();
    let Recording { server, trace, vows } = Recording::make(ROUNDS, PAD);
    let disk = Disk::follow(&trace, &server.data().to_string_lossy());
    is_complete(&disk, server.data(), &mut random);
    let answered = |vow: Vow| trace.answered(&vow.promise.request_id).map(|line| (line, vow));
    let vows: Vec<(usize, Vow)> = vows.into_iter().filter_map(answered).collect();
    let first = vows.iter().map(|(line, _)| *line).min().unwrap_or_default();
    let last = vows.iter().map(|(line, _)| *line).max().unwrap_or_default();
    assert!(disk.files_written(first) > 1, "the log was never copied back: make the load larger");
    // Half of the cuts fall just after an answer left, when the least has happened since.
    let mut cuts = Vec::new();
    for number in 0..CUTS {
        let (line, _) = random.pick(&vows);
        let line = if number % 2 == 0 { line + 1 } else { first + random.below(last - first) };
        cuts.push(Cut::at(line, &vows));
    }
    let images = AtomicUsize::new(0);
    let seed = random.bits();
    together(THREADS, |number| {
        let mut random = Random::new(seed.wrapping_add(number as u64));
        for (cut, luck) in
            cuts.iter().flat_map(|cut| LUCKS.map(|luck| (cut, luck))).skip(number).step_by(THREADS)
        {
            cut.is_survived(&disk, luck, &mut random);
            images.fetch_add(1, Ordering::Relaxed);
        }
    });
    eprintln!("{} steps on disk, {} images, none lacks a promise", disk.steps(), images.into_inner());
}
