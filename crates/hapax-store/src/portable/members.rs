//! Reading a line: members are taken by name, and what is left in the end is a fault.

use std::borrow::Cow;

use hapax_core::json::{self, Limits, Member, Node, Value};
use hapax_core::{Json, Timestamp};

use super::object::text_name;
use super::{LineFault, hex};

/// As deep as any value that a store may hold, with the line around it.
const LIMITS: Limits = Limits { depth_max: Limits::DEPTH_CEILING };

/// The members of a line that nobody has taken yet.
#[derive(Debug)]
pub(super) struct Members<'n>(Vec<Member<'n>>);

impl<'n> Members<'n> {
    pub(super) fn of(line: &'n str) -> Result<Members<'n>, LineFault> {
        match json::read(line, LIMITS)?.value {
            Value::Object(members) => Ok(Members(members)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(LineFault::Kind)
            }
        }
    }

    /// Everything must have been taken.
    pub(super) fn end(self) -> Result<(), LineFault> {
        match self.0.into_iter().next() {
            None => Ok(()),
            Some(member) => Err(LineFault::Unknown(member.name.chars().take(64).collect())),
        }
    }

    fn take(&mut self, name: &str) -> Option<Node<'n>> {
        let at = self.0.iter().position(|member| member.name == name)?;
        // Lines are written in the order in which they are read, so it is usually the first.
        Some(self.0.remove(at).node)
    }

    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<Cow<'n, str>>, LineFault> {
        self.take(name).map(|node| string(node, name)).transpose()
    }

    pub(super) fn needed_text(&mut self, name: &'static str) -> Result<Cow<'n, str>, LineFault> {
        self.text(name)?.ok_or(LineFault::Missing(name))
    }

    /// What `parse` makes of a text.
    pub(super) fn parsed<T>(
        &mut self,
        name: &'static str,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, LineFault> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        parse(&text).map(Some).ok_or_else(|| wrong(name, expected))
    }

    pub(super) fn needed_parsed<T>(
        &mut self,
        name: &'static str,
        expected: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, LineFault> {
        self.parsed(name, expected, parse)?.ok_or(LineFault::Missing(name))
    }

    pub(super) fn bytes<const N: usize>(
        &mut self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<[u8; N]>, LineFault> {
        self.parsed(name, expected, |digits| hex::read(digits)?.try_into().ok())
    }

    pub(super) fn number<T: TryFrom<i64>>(&mut self, name: &'static str) -> Result<Option<T>, LineFault> {
        let Some(node) = self.take(name) else { return Ok(None) };
        let number = node.as_i64().and_then(|number| T::try_from(number).ok());
        number.map(Some).ok_or_else(|| wrong(name, "a whole number in its range"))
    }

    pub(super) fn needed_number<T: TryFrom<i64>>(&mut self, name: &'static str) -> Result<T, LineFault> {
        self.number(name)?.ok_or(LineFault::Missing(name))
    }

    pub(super) fn time(&mut self, name: &'static str) -> Result<Option<Timestamp>, LineFault> {
        let Some(millis) = self.number::<i64>(name)? else { return Ok(None) };
        let time = Timestamp::from_millis(millis);
        if time.millis() == millis {
            Ok(Some(time))
        } else {
            Err(wrong(name, "a time before the year 10000, in milliseconds since 1970"))
        }
    }

    pub(super) fn needed_time(&mut self, name: &'static str) -> Result<Timestamp, LineFault> {
        self.time(name)?.ok_or(LineFault::Missing(name))
    }

    pub(super) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, LineFault> {
        let Some(node) = self.take(name) else { return Ok(None) };
        node.as_bool().map(Some).ok_or_else(|| wrong(name, "true or false"))
    }

    /// JSON as it was written, as itself or as a text.
    pub(super) fn json(&mut self, name: &'static str) -> Result<Option<Json>, LineFault> {
        if let Some(node) = self.take(name) {
            return Ok(Some(node.to_json()));
        }
        let other = text_name(name);
        let Some(node) = self.take(&other) else { return Ok(None) };
        let text = string(node, &other)?;
        let json =
            Json::parse_checked(&text, LIMITS).map_err(|_| wrong(&other, "one JSON value as a text"))?;
        if json.as_str().len() == text.len() {
            Ok(Some(json))
        } else {
            Err(wrong(&other, "without blanks around it"))
        }
    }
}

fn string<'n>(node: Node<'n>, name: &str) -> Result<Cow<'n, str>, LineFault> {
    match node.value {
        Value::String(text) => Ok(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(wrong(name, "a text"))
        }
    }
}

pub(super) fn wrong(member: &str, expected: &'static str) -> LineFault {
    LineFault::Wrong { member: member.into(), expected }
}
