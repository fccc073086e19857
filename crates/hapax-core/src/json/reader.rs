//! The pass over the bytes that makes nodes.

use std::borrow::Cow;

use super::fault::{Fault, What};
use super::{Member, Node, Value};

/// The whole text as one value.
pub(super) fn document(text: &str, depth_max: usize) -> Result<Node<'_>, Fault> {
    let mut reader = Reader { text, at: 0, levels_left: depth_max };
    reader.skip_space();
    let node = reader.value()?;
    reader.skip_space();
    if reader.at < text.len() { Err(reader.expected("nothing after the value")) } else { Ok(node) }
}

/// `at` always stands on a character boundary: every step goes over ASCII or over a whole run of string bytes.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    levels_left: usize,
}

type Read<T> = Result<T, Fault>;

impl<'a> Reader<'a> {
    fn value(&mut self) -> Read<Node<'a>> {
        let start = self.at;
        let value = match self.peek() {
            Some(b'"') => Value::String(self.string()?),
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            _ => return Err(self.expected("a value")),
        };
        Ok(Node { raw: &self.text[start..self.at], value })
    }

    /// Goes one level down, on the opening bracket, for as long as `inner` reads.
    fn nested(&mut self, inner: fn(&mut Self) -> Read<Value<'a>>) -> Read<Value<'a>> {
        if self.levels_left == 0 {
            return Err(Fault { offset: self.at, what: What::TooDeep });
        }
        self.levels_left -= 1;
        self.at += 1;
        self.skip_space();
        let value = inner(self)?;
        self.levels_left += 1;
        Ok(value)
    }

    fn array(&mut self) -> Read<Value<'a>> {
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Value::Array(items));
            }
            if !self.take(b',') {
                return Err(self.expected("',' or ']'"));
            }
            self.skip_space();
        }
    }

    fn object(&mut self) -> Read<Value<'a>> {
        let mut members = Vec::new();
        if self.take(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            members.push(self.member()?);
            self.skip_space();
            if self.take(b'}') {
                break;
            }
            if !self.take(b',') {
                return Err(self.expected("',' or '}'"));
            }
            self.skip_space();
        }
        match repeated(&members) {
            Some(index) => Err(self.duplicate(&members, index)),
            None => Ok(Value::Object(members)),
        }
    }

    fn member(&mut self) -> Read<Member<'a>> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a member name in double quotes"));
        }
        let name = self.string()?;
        self.skip_space();
        if !self.take(b':') {
            return Err(self.expected("':'"));
        }
        self.skip_space();
        Ok(Member { name, node: self.value()? })
    }

    fn number(&mut self) -> Read<Value<'a>> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _signed = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(Value::Number(&self.text[start..self.at]))
    }

    fn digits(&mut self) -> Read<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn word(&mut self, word: &'static str, value: Value<'a>) -> Read<Value<'a>> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.expected("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    pub(super) fn expected(&self, expected: &'static str) -> Fault {
        Fault { offset: self.at, what: What::Expected(expected) }
    }

    /// The second of two equal names begins at the first quote behind the value of the member before it.
    fn duplicate(&self, members: &[Member<'a>], index: usize) -> Fault {
        let previous = members[index - 1].node.raw.as_bytes().as_ptr_range().end;
        let after = previous.addr() - self.text.as_ptr().addr();
        let offset = self.text[after..].find('"').map_or(after, |quote| after + quote);
        Fault { offset, what: What::Duplicate(members[index].name.as_ref().into()) }
    }
}

/// Up to here comparing each name with each is faster than sorting them.
const PAIRWISE_MAX: usize = 16;

/// The first member whose name another one before it has. Sorted rather than hashed beyond a few: the names are
/// a stranger's, and a stranger can choose names that share a hash.
fn repeated(members: &[Member<'_>]) -> Option<usize> {
    if members.len() <= PAIRWISE_MAX {
        let seen_before =
            |index: usize| members[..index].iter().any(|other| other.name == members[index].name);
        return (1..members.len()).find(|&index| seen_before(index));
    }
    let mut names: Vec<(&Cow<'_, str>, usize)> = members.iter().map(|member| &member.name).zip(0..).collect();
    names.sort_unstable();
    names.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1).min()
}
