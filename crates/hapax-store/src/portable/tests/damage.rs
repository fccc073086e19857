//! A file that is not as it was written is refused, with the line and what is wrong with it.

use super::draw::Draw;
use super::vessel::{Vessel, read_into, written};
use crate::portable::ImportError;

fn export() -> String {
    written(&Draw(5).store(6))
}

/// Refused, and no server is let in.
#[track_caller]
fn refused(text: &str) -> ImportError {
    let mut vessel = Vessel::default();
    let error = read_into(&mut vessel, text, 3).expect_err("it is damaged");
    assert!(!vessel.finished);
    error
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn joined(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

/// The export with one line changed, and what is said about it.
#[track_caller]
fn check_line(number: usize, change: impl FnOnce(&str) -> String, expected: &str) {
    let mut lines = lines(&export());
    let changed = change(&lines[number - 1]);
    assert_ne!(changed, lines[number - 1], "the change is one");
    lines[number - 1] = changed;
    let told = refused(&joined(&lines)).to_string();
    assert!(told.contains(&format!("line {number} ")) && told.contains(expected), "{told}");
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let text = export();
    // The line break behind the last line is not missed.
    for end in (0..text.len() - 1).filter(|end| text.is_char_boundary(*end)) {
        let error = refused(&text[..end]);
        let is_named =
            matches!(error, ImportError::Foreign | ImportError::Cut { .. } | ImportError::CutLine { .. });
        assert!(is_named, "cut at {end}: {error}");
    }
    assert!(read_into(&mut Vessel::default(), text.trim_end(), 3).is_ok());
}

#[test]
fn a_flipped_bit_anywhere_below_the_first_line_is_noticed() {
    let text = export().into_bytes();
    let first = text.iter().position(|byte| *byte == b'\n').unwrap();
    for at in first + 1..text.len() - 1 {
        let mut damaged = text.clone();
        damaged[at] ^= 1;
        let mut vessel = Vessel::default();
        let mut reader = crate::portable::Reader::begin(&damaged[..]).unwrap();
        let batch = crate::portable::Batch::default();
        let read = crate::portable::import(&mut reader, &mut vessel, batch, &mut |_| ());
        assert!(read.is_err() && !vessel.finished, "a bit of byte {at} was flipped");
    }
}

#[test]
fn lines_that_changed_places_or_stand_twice_are_refused() {
    let good = lines(&export());
    for at in 1..good.len() - 1 {
        let mut swapped = good.clone();
        swapped.swap(at, at + 1);
        refused(&joined(&swapped));
        let mut doubled = good.clone();
        doubled.insert(at, good[at].clone());
        refused(&joined(&doubled));
        let mut without = good.clone();
        without.remove(at);
        refused(&joined(&without));
    }
    let mut doubled = good.clone();
    doubled.insert(3, good[3].clone());
    let told = refused(&joined(&doubled)).to_string();
    assert_eq!(
        told,
        "line 5 cannot be imported: it stands in the wrong place: jobs stand in the order of seq, each once"
    );
    let told = refused(&format!("{}{}\n", joined(&good), good[1])).to_string();
    assert!(told.ends_with("nothing may follow the end"), "{told}");
}

#[test]
fn what_is_no_export_is_known_by_its_first_line() {
    let endless = "x".repeat(1 << 17);
    for text in [&endless, "", "\n", "{}\n", "[]", "seq,id\n", "\u{feff}{\"hapax_export\":1}\n"] {
        assert!(matches!(refused(text), ImportError::Foreign), "{text}");
    }
    let newer = export().replacen("\"hapax_export\":1", "\"hapax_export\":2", 1);
    assert_eq!(refused(&newer).to_string(), "the export has format 2; this program knows formats up to 1");
    check_line(1, |line| line.replace("\"from\"", "\"of\""), "no member \"from\"");
    check_line(1, |line| line.replacen('{', "{\"more\":1,", 1), "a member \"more\"");
}

#[test]
fn a_wrong_value_is_named_by_its_member() {
    let set = |name: &'static str, value: &'static str| {
        move |line: &str| {
            let mut members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
            members.insert(name.into(), serde_json::from_str(value).unwrap());
            serde_json::to_string(&members).unwrap()
        }
    };
    check_line(2, set("name", "\"No Queue\""), "\"name\" is not the name of a queue");
    check_line(2, set("paused", "1"), "\"paused\" is not true or false");
    check_line(3, set("kind", "\"cron\""), "a kind of queue, job, memo or end");
    for (name, value, expected) in [
        ("seq", "0", "\"seq\" is not a place"),
        ("seq", "4611686018427387904", "\"seq\" is not a place"),
        ("turn", "-1", "\"turn\" is not a whole number"),
        ("id", "\"550e8400-e29b-41d4-a716-446655440000\"", "\"id\" is not a UUID of version 7"),
        ("type", "\"Email\"", "\"type\" is not a job type"),
        ("priority", "101", "\"priority\" is not between -100 and 100"),
        ("priority", "1.5", "\"priority\" is not a whole number"),
        ("created_at", "253402207200001", "\"created_at\" is not a time"),
        ("state", "\"asleep\"", "\"state\" is not one of the eight states"),
        ("attempt", "2147483648", "\"attempt\" is not a number of attempts"),
        ("key", "\"00\"", "\"key\" is not 64 hexadecimal digits"),
        ("queue", "\"elsewhere\"", "queue \"elsewhere\" has no line"),
        ("policy", "{\"job_key\":1}", "\"policy\" is not what is written there"),
        ("options", "{\"lane\":1}", "\"options\" is not what is written there"),
        ("ledger", "5", "\"ledger\" is not what is written there"),
        ("errors", "{}", "\"errors\" is not what is written there"),
        ("cron", "null", "a member \"cron\" that does not belong there"),
    ] {
        check_line(4, set(name, value), expected);
    }
}

#[test]
fn members_that_contradict_the_state_are_refused() {
    let job = |members: &str| {
        let job = format!(
            "{{\"kind\":\"job\",\"seq\":1,\"turn\":1,\"id\":\"019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f\",\
             \"type\":\"a\",\"queue\":\"q\",\"priority\":0,\"created_at\":0,\"attempt\":0,\"fence\":0,\
             \"args\":[],{members}}}"
        );
        let header = lines(&written(&[])).remove(0);
        let queue = "{\"kind\":\"queue\",\"name\":\"q\",\"paused\":false,\"created_at\":0}";
        refused(&format!("{header}\n{queue}\n{job}\n{{}}\n")).to_string()
    };
    let fine = job("\"state\":\"available\"");
    assert!(fine.contains("line 4, or that line is damaged"), "{fine}");
    for (members, expected) in [
        ("\"state\":\"scheduled\"", "\"at\" does not go with its state: it is missing"),
        ("\"state\":\"active\"", "\"token\" does not go with its state: it is missing"),
        ("\"state\":\"available\",\"at\":5", "beside members that belong to others"),
        ("\"state\":\"available\",\"dead_letter\":true", "beside members that belong to others"),
        ("\"state\":\"scheduled\",\"at\":5,\"result\":1", "beside members that belong to others"),
        ("\"state\":\"available\",\"deadline\":5", "beside members that belong to others"),
        ("\"state\":\"cancelled\",\"at\":5,\"detail\":\"moved\"", "\"detail\" does not go with its state"),
    ] {
        let told = job(members);
        assert!(told.starts_with("line 3 cannot be imported: ") && told.contains(expected), "{told}");
    }
}
