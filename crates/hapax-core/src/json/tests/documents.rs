//! Random documents, and the many ways to spell one.

use std::fmt::Write;
use std::iter::{Copied, Cycle};
use std::slice::Iter;

use proptest::prelude::*;
use serde_json::{Map, Number, Value};

/// Any document `serde_json` can hold, up to a few levels deep.
pub(crate) fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1000i64..1000).prop_map(Value::from),
        any::<f64>().prop_map(|number| Number::from_f64(number).map_or(Value::Null, Value::Number)),
        texts().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 40, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((texts(), inner), 0..20)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Short names, so that they meet; quotes, controls and surrogate pairs; letters with separate accents.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab]{0,2}",
        "[ -~]{0,20}",
        "[\\x00-\\x1f\"\\\\/\u{7f}]{0,4}",
        "[aeo\u{301}\u{308}éö가\u{1100}\u{1161}]{0,4}",
        "[\u{e000}\u{ff21}\u{10000}😀z]{0,3}",
        any::<String>(),
    ]
}

/// The choices of one spelling; when they run out, they begin again.
pub(crate) fn styles() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..64)
}

/// Writes a document with white space, escapes, number forms and member order as the style has it.
pub(crate) fn spell(document: &Value, style: &[u8]) -> String {
    let mut speller = Speller { out: String::new(), choices: style.iter().copied().cycle() };
    speller.value(document);
    speller.out
}

struct Speller<'a> {
    out: String,
    choices: Cycle<Copied<Iter<'a, u8>>>,
}

impl Speller<'_> {
    fn value(&mut self, value: &Value) {
        self.space();
        match value {
            Value::Null | Value::Bool(_) => self.out += &value.to_string(),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.string(text),
            Value::Array(items) => self.list('[', items.iter().map(|item| (None, item)).collect(), ']'),
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().map(|(name, value)| (Some(name), value)).collect();
                members.sort_by_cached_key(|_| self.choice());
                self.list('{', members, '}');
            }
        }
        self.space();
    }

    fn list(&mut self, open: char, items: Vec<(Option<&String>, &Value)>, close: char) {
        self.out.push(open);
        if items.is_empty() {
            self.space();
        }
        for (index, (name, value)) in items.into_iter().enumerate() {
            self.out += if index > 0 { "," } else { "" };
            if let Some(name) = name {
                self.space();
                self.string(name);
                self.space();
                self.out.push(':');
            }
            self.value(value);
        }
        self.out.push(close);
    }

    /// An integer that a double holds may also be written as one.
    fn number(&mut self, number: &Number) {
        self.out += &number.to_string();
        let is_safe_integer = number.as_i64().is_some_and(|number| number.unsigned_abs() < 1 << 53);
        if is_safe_integer {
            let form = self.choice() % 5;
            self.out += ["", ".0", "e0", "E+0", ".00e-0"][form];
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            if character < ' ' || character == '"' || character == '\\' || self.choice().is_multiple_of(16) {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(self.out, "\\u{unit:04X}").unwrap();
                }
            } else {
                self.out.push(character);
            }
        }
        self.out.push('"');
    }

    fn space(&mut self) {
        let space = self.choice() % 8;
        self.out += ["", "", "", "", " ", "\n", "\t\t", "\r\n "][space];
    }

    fn choice(&mut self) -> usize {
        self.choices.next().unwrap().into()
    }
}
