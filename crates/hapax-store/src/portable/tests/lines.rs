//! What is written is what is read.

use super::draw::Draw;
use super::vessel::{Vessel, assert_same, read_into, written};
use crate::portable::Item;

#[test]
fn random_stores_come_back_and_have_the_same_text_again() {
    for seed in 0..300 {
        let items = Draw(seed).store(8);
        let text = written(&items);
        let mut vessel = Vessel::default();
        read_into(&mut vessel, &text, 5).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_same(&vessel.items, &items);
        assert!(vessel.finished);
        assert_eq!(written(&vessel.items), text, "seed {seed}");
    }
}

#[test]
fn every_thing_has_one_line() {
    for seed in 0..50 {
        let items = Draw(seed).store(8);
        let text = written(&items);
        assert_eq!(text.lines().count(), items.len() + 2);
        assert!(!text.contains('\r'), "{text}");
        for line in text.lines() {
            assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
        }
    }
}

#[test]
fn json_stands_in_its_line_as_it_was_sent() {
    let Some(Item::Job(mut stored)) = Draw(1).store(1).into_iter().nth(2) else { panic!("a job") };
    let mut spec = (*stored.job.spec).clone();
    spec.args = hapax_core::Json::from_trusted("[1.0,  12345678901234567890]");
    spec.meta = hapax_core::Json::from_trusted("{\n  \"a\": 1.0\n}");
    stored.job.spec = spec.into();
    let text = written(&[Item::Job(stored)]);
    assert!(text.contains(r#""args":[1.0,  12345678901234567890],"#), "{text}");
    assert!(text.contains(r#""meta_text":"{\n  \"a\": 1.0\n}""#), "{text}");
}

#[test]
fn a_checksum_is_about_the_lines_and_not_about_the_export() {
    let items = Draw(3).store(4);
    let text = written(&items);
    let seal = read_into(&mut Vessel::default(), &text, 100).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let other = format!("{}\n{rest}", first.replace("0.0.0", "9.9.9"));
    assert_eq!(read_into(&mut Vessel::default(), &other, 100).unwrap(), seal);
    assert_eq!((seal.census.queues, seal.census.jobs, seal.census.memos), (2, 4, 4));
    let body: String = rest.split_inclusive('\n').take(items.len()).collect();
    assert_eq!(seal.checksum(), hapax_core::unique::Key::of_text(&body).to_string());
}

#[test]
fn an_empty_store_is_two_lines() {
    let text = written(&[]);
    assert_eq!(
        text,
        "{\"hapax_export\":1,\"id\":\"07070707070707070707070707070707\",\"exported_at\":\
         \"1970-01-01T00:00:00.000Z\",\"from\":\"list\",\"version\":\"0.0.0\",\"queues\":0,\"jobs\":0,\
         \"entries\":0,\"memos\":0}\n\
         {\"kind\":\"end\",\"queues\":0,\"jobs\":0,\"entries\":0,\"memos\":0,\"sha256\":\
         \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}\n"
    );
    assert!(read_into(&mut Vessel::default(), &text, 1).is_ok());
}
