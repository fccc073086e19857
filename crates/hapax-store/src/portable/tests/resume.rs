//! An import that was cut short goes on where it was.

use super::draw::Draw;
use super::vessel::{Vessel, assert_same, read_into, written};
use crate::portable::ImportError;

#[test]
fn an_import_that_breaks_between_any_two_transactions_goes_on_to_the_same_end() {
    let items = Draw(11).store(9);
    let text = written(&items);
    for lines in [1, 3, 7, 100] {
        let mut breaks = 0;
        loop {
            let mut vessel = Vessel { breaks_after: Some(breaks), ..Vessel::default() };
            let first = read_into(&mut vessel, &text, lines);
            if first.is_ok() {
                break;
            }
            assert!(!vessel.finished, "broken after {breaks}");
            vessel.breaks_after = None;
            read_into(&mut vessel, &text, lines).unwrap();
            assert!(vessel.finished);
            assert_same(&vessel.items, &items);
            breaks += 1;
        }
        assert!(breaks >= 3, "it broke between several");
    }
}

#[test]
fn it_goes_on_with_the_rest_of_a_file_that_was_cut_off() {
    let items = Draw(12).store(9);
    let text = written(&items);
    let mut vessel = Vessel::default();
    assert!(matches!(read_into(&mut vessel, &text[..text.len() / 2], 2), Err(ImportError::CutLine { .. })));
    read_into(&mut vessel, &text, 2).unwrap();
    assert_same(&vessel.items, &items);
}

#[test]
fn another_file_is_refused_and_so_is_one_that_was_changed() {
    let text = written(&Draw(13).store(9));
    let begun = || {
        let mut vessel = Vessel { breaks_after: Some(4), ..Vessel::default() };
        assert!(read_into(&mut vessel, &text, 2).is_err());
        vessel.breaks_after = None;
        vessel
    };
    let other = text.replacen("0707", "0808", 1);
    let error = read_into(&mut begun(), &other, 2).unwrap_err();
    assert!(matches!(error, ImportError::OtherExport { .. }), "{error}");
    let changed = text.replacen("\"paused\":true", "\"paused\":false", 1);
    let changed =
        if changed == text { text.replacen("\"paused\":false", "\"paused\":true", 1) } else { changed };
    let error = read_into(&mut begun(), &changed, 2).unwrap_err();
    assert!(matches!(error, ImportError::Changed { lines: 6 }), "{error}");
    let shorter: String = written(&[]);
    let error = read_into(&mut begun(), &shorter, 2).unwrap_err();
    assert!(matches!(error, ImportError::Changed { lines: 6 }), "{error}");
}
