//! Writes JSON into one buffer, member by member, without a tree in between.
//!
//! Replies carry other people's JSON, which has to come back byte for byte, and are made once per request: a
//! writer that appends is the shortest way to both.

use std::cell::Cell;
use std::fmt::{self, Display, Write as _};

use hapax_core::{JobId, Timestamp};

/// Appends an object; `fill` writes its members.
pub fn object(out: &mut Vec<u8>, fill: impl FnOnce(&mut Object<'_>)) {
    out.push(b'{');
    fill(&mut Object { out, is_empty: true });
    out.push(b'}');
}

/// Appends an array; `write` appends each item.
pub fn array<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(b'[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

/// Appends a string with whatever escapes it needs.
pub fn text(out: &mut Vec<u8>, text: &str) {
    if !needs_escapes(text) {
        return word(out, text);
    }
    let written = serde_json::to_writer(out, text);
    debug_assert!(written.is_ok(), "a string can always be written to memory");
}

/// Without a way out of the loop, so that many bytes are looked at in one step: nearly every text is plain.
fn needs_escapes(text: &str) -> bool {
    let needs = |byte| byte < b' ' || byte == b'"' || byte == b'\\';
    text.bytes().fold(false, |found, byte| found | needs(byte))
}

/// Appends a string whose text needs no escapes, such as an id.
pub fn plain(out: &mut Vec<u8>, text: impl Display) {
    out.push(b'"');
    display(out, text);
    out.push(b'"');
}

/// Appends a string that needs no escapes, such as a name with rules.
pub fn word(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Appends the id of a job as a string. Every reply has some, and the way over `Display` is ten times as long.
pub fn id(out: &mut Vec<u8>, id: JobId) {
    let mut text = [b'"'; 38];
    text[1..37].copy_from_slice(&id.text());
    out.extend_from_slice(&text);
}

/// Appends a whole number, for the same reason digit by digit.
pub fn whole(out: &mut Vec<u8>, number: impl Into<i64>) {
    let number = number.into();
    if number < 0 {
        out.push(b'-');
    }
    let (mut rest, mut digits, mut start) = (number.unsigned_abs(), [b'0'; 20], 20);
    while start == 20 || rest > 0 {
        start -= 1;
        digits[start] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    out.extend_from_slice(&digits[start..]);
}

fn display(out: &mut Vec<u8>, value: impl Display) {
    /// The way of `std::io::Write` would carry an error that memory does not have.
    struct Sink<'w>(&'w mut Vec<u8>);
    impl fmt::Write for Sink<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }
    let written = write!(Sink(out), "{value}");
    debug_assert!(written.is_ok(), "memory takes every write");
}

/// Appends a moment as a string, as its `Display` writes it. Replies are full of moments of today, so the date is
/// worked out once a day and the rest digit by digit.
pub fn moment(out: &mut Vec<u8>, at: Timestamp) {
    const DAY: i64 = 86_400_000;
    thread_local! {
        static TODAY: Cell<(i64, [u8; 10])> = const { Cell::new((i64::MIN, [0; 10])) };
    }

    let (day, millis) = (at.millis().div_euclid(DAY), at.millis().rem_euclid(DAY));
    let (known, mut date) = TODAY.get();
    if known != day {
        date.copy_from_slice(&at.to_string().as_bytes()[..10]);
        TODAY.set((day, date));
    }
    let digit = |number: i64| b'0' + u8::try_from(number % 10).unwrap_or(0);
    let (hour, minute, second) = (millis / 3_600_000, millis / 60_000 % 60, millis / 1000 % 60);
    let mut text = *b"\"0000-00-00T00:00:00.000Z\"";
    text[1..11].copy_from_slice(&date);
    for (at, number) in [(12, hour), (15, minute), (18, second), (21, millis / 10 % 100)] {
        (text[at], text[at + 1]) = (digit(number / 10), digit(number));
    }
    text[23] = digit(millis);
    out.extend_from_slice(&text);
}

/// Appends bytes as lower-case hexadecimal digits, without quotes.
pub fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend(bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]).map(|digit| DIGITS[usize::from(digit)]));
}

/// An object that is being written. Names are written as they are, so they must need no escapes.
#[derive(Debug)]
pub struct Object<'w> {
    out: &'w mut Vec<u8>,
    is_empty: bool,
}

impl Object<'_> {
    /// Starts a member; the caller appends its value.
    pub fn member(&mut self, name: &str) -> &mut Vec<u8> {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    /// Starts a member whose name may need escapes; the caller appends its value.
    pub fn member_of_text(&mut self, name: &str) -> &mut Vec<u8> {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        text(self.out, name);
        self.out.push(b':');
        self.out
    }

    /// A string.
    pub fn text(&mut self, name: &str, value: &str) {
        text(self.member(name), value);
    }

    /// A string, if there is one.
    pub fn text_if(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    /// A string that needs no escapes.
    pub fn word(&mut self, name: &str, value: &str) {
        word(self.member(name), value);
    }

    /// Bytes as a string of hexadecimal digits.
    pub fn hex(&mut self, name: &str, bytes: &[u8]) {
        let out = self.member(name);
        out.push(b'"');
        hex(out, bytes);
        out.push(b'"');
    }

    /// A moment.
    pub fn moment(&mut self, name: &str, at: Timestamp) {
        moment(self.member(name), at);
    }

    /// A moment, if there is one.
    pub fn moment_if(&mut self, name: &str, at: Option<Timestamp>) {
        if let Some(at) = at {
            self.moment(name, at);
        }
    }

    /// A string that needs no escapes.
    pub fn plain(&mut self, name: &str, value: impl Display) {
        plain(self.member(name), value);
    }

    /// A string that needs no escapes, if there is one.
    pub fn plain_if(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.plain(name, value);
        }
    }

    /// The id of a job.
    pub fn id(&mut self, name: &str, value: JobId) {
        id(self.member(name), value);
    }

    /// A whole number.
    pub fn whole(&mut self, name: &str, value: impl Into<i64>) {
        whole(self.member(name), value);
    }

    /// A number.
    pub fn number(&mut self, name: &str, value: impl Display) {
        display(self.member(name), value);
    }

    /// A number, if there is one.
    pub fn number_if(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.number(name, value);
        }
    }

    /// `true` or `false`.
    pub fn flag(&mut self, name: &str, value: bool) {
        self.raw(name, if value { "true" } else { "false" });
    }

    /// JSON text as it stands.
    pub fn raw(&mut self, name: &str, json: &str) {
        self.member(name).extend_from_slice(json.as_bytes());
    }

    /// An object.
    pub fn object(&mut self, name: &str, fill: impl FnOnce(&mut Object<'_>)) {
        object(self.member(name), fill);
    }

    /// An array.
    pub fn array<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        write: impl FnMut(T, &mut Vec<u8>),
    ) {
        array(self.member(name), items, write);
    }

    /// An array of strings.
    pub fn texts<'t>(&mut self, name: &str, items: impl IntoIterator<Item = &'t str>) {
        self.array(name, items, |item, out| text(out, item));
    }

    /// An array of strings that need no escapes.
    pub fn words<'t>(&mut self, name: &str, items: impl IntoIterator<Item = &'t str>) {
        self.array(name, items, |item, out| word(out, item));
    }

    /// The members of an object that is given as JSON text.
    pub fn members_of(&mut self, json: &str) {
        let inside = json.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or("").trim();
        if inside.is_empty() {
            return;
        }
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        self.out.extend_from_slice(inside.as_bytes());
    }

    /// An object, and its members once more beside it.
    pub fn twice(&mut self, name: &str, fill: impl FnOnce(&mut Object<'_>)) {
        let out = self.member(name);
        let start = out.len() + 1;
        object(out, fill);
        let end = out.len() - 1;
        if start < end {
            out.push(b',');
            out.extend_from_within(start..end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(fill: impl FnOnce(&mut Object<'_>)) -> String {
        let mut out = Vec::new();
        object(&mut out, fill);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn members_stand_in_order_with_their_own_text() {
        let json = written(|o| {
            o.text("a", "x\"\n");
            o.number("b", -1);
            o.raw("c", "[1.0,1e3]");
            o.flag("d", true);
            o.object("e", |_| {});
            o.texts("f", ["g", "h"]);
            o.text_if("i", None);
        });
        assert_eq!(json, r#"{"a":"x\"\n","b":-1,"c":[1.0,1e3],"d":true,"e":{},"f":["g","h"]}"#);
    }

    #[test]
    fn ids_and_whole_numbers_are_written_as_they_show_themselves() {
        let id: JobId = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f".parse().unwrap();
        assert_eq!(written(|o| o.id("a", id)), format!(r#"{{"a":"{id}"}}"#));
        for number in [0, 1, 9, 10, -1, -100, 1_234_567_890, i64::MAX, i64::MIN] {
            assert_eq!(written(|o| o.whole("a", number)), format!(r#"{{"a":{number}}}"#));
        }
    }

    #[test]
    fn names_that_somebody_else_chose_are_escaped() {
        let json = written(|o| {
            o.number("a", 1);
            o.member_of_text("b\"c").push(b'2');
        });
        assert_eq!(json, r#"{"a":1,"b\"c":2}"#);
    }

    #[test]
    fn members_of_another_object_join_with_one_comma() {
        assert_eq!(written(|o| o.members_of("{}")), "{}");
        assert_eq!(written(|o| o.members_of(r#"{ "a":1 }"#)), r#"{"a":1}"#);
        let json = written(|o| {
            o.members_of(r#"{"a":1}"#);
            o.members_of("{ }");
            o.members_of(r#"{"b":2,"c":3}"#);
            o.flag("d", false);
        });
        assert_eq!(json, r#"{"a":1,"b":2,"c":3,"d":false}"#);
    }

    #[test]
    fn an_object_can_stand_inside_and_flat() {
        assert_eq!(written(|o| o.twice("job", |o| o.number("a", 1))), r#"{"job":{"a":1},"a":1}"#);
        assert_eq!(written(|o| o.twice("job", |_| {})), r#"{"job":{}}"#);
    }

    #[test]
    fn moments_are_written_as_they_are_displayed() {
        for millis in [0, 1, 999, 86_399_999, 86_400_000, -1, 1_760_000_000_123, 253_402_300_799_999] {
            let at = Timestamp::from_millis(millis);
            let mut out = Vec::new();
            moment(&mut out, at);
            assert_eq!(String::from_utf8(out).unwrap(), format!("\"{at}\""));
        }
    }

    #[test]
    fn bytes_become_lower_case_digits() {
        let mut out = Vec::new();
        hex(&mut out, &[0x00, 0xab, 0xff]);
        assert_eq!(out, b"00abff");
    }
}
