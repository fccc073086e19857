//! The key: 32 bytes that two jobs share if and only if they are the same work to the policy.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use super::{JobKey, UniquePolicy, Uniqueness};
use crate::canonical::{self, CanonicalError, Part};
use crate::json::{Limits, Node, Value, read};
use crate::{JobType, QueueName, Spec};

use unicode_normalization::UnicodeNormalization as _;

/// SHA-256 of the canonical text of a job's dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 32]);

impl Key {
    /// The key of a canonical text.
    pub fn of_text(text: &str) -> Key {
        Key(Sha256::digest(text.as_bytes()).into())
    }

    /// The key of 32 stored bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Key {
        Key(bytes)
    }

    /// The 32 bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    /// Keys are made from arguments, so they stay out of logs (Unique Jobs 12).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl FromStr for Key {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let digits = text.as_bytes();
        let digit = |b: u8| match b {
            b'0'..=b'9' => Ok(b - b'0'),
            b'a'..=b'f' => Ok(b - b'a' + 10),
            _ => Err(()),
        };
        let mut bytes = [0; 32];
        if digits.len() != 64 {
            return Err(());
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Key(bytes))
    }
}

/// A key and the text it is the hash of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyed {
    /// The key.
    pub key: Key,
    /// The canonical text, for whoever asks why.
    pub text: String,
}

/// A policy that the job at hand cannot satisfy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KeyError {
    /// Without the member, unlike jobs would share a key.
    #[error("args_keys names \"{0}\", which args does not have")]
    ArgsKeyMissing(Box<str>),
    /// The same for metadata.
    #[error("meta_keys names \"{0}\", which meta does not have")]
    MetaKeyMissing(Box<str>),
    /// A value has no canonical form.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
}

/// The key that a job holds under a policy.
pub fn key_of(
    policy: &UniquePolicy,
    kind: &JobType,
    queue: &QueueName,
    args: &Node<'_>,
    meta: Option<&Node<'_>>,
) -> Result<Keyed, KeyError> {
    let mut parts = vec![("type", Part::Text(kind.as_str()))];
    if policy.dimensions.queue {
        parts.push(("queue", Part::Text(queue.as_str())));
    }
    if let Some(own) = &policy.key {
        parts.push(("key", Part::Text(own)));
    } else {
        if policy.dimensions.args {
            parts.push(("args", args_part(policy, args)?));
        }
        if policy.dimensions.meta {
            parts.push(("meta", meta_part(policy, meta)?));
        }
    }
    let text = canonical::object(parts)?;
    Ok(Keyed { key: Key::of_text(&text), text })
}

/// The key of a stored job whose values have changed. The texts were read by the server before, so they are JSON.
pub(crate) fn rekeyed(spec: &Spec) -> Result<Key, KeyError> {
    let policy = match &spec.unique {
        Some(Uniqueness::JobKey(job_key)) => return Ok(JobKey::key(&job_key.name)?),
        Some(Uniqueness::Policy(policy)) => policy.clone(),
        None => UniquePolicy::default(),
    };
    let unlimited = Limits { depth_max: Limits::DEPTH_CEILING };
    match (read(spec.args.as_str(), unlimited), read(spec.meta.as_str(), unlimited)) {
        (Ok(args), Ok(meta)) => {
            key_of(&policy, &spec.kind, &spec.queue, &args, Some(&meta)).map(|keyed| keyed.key)
        }
        (Err(_), _) => Err(KeyError::ArgsKeyMissing("".into())),
        (_, Err(_)) => Err(KeyError::MetaKeyMissing("".into())),
    }
}

fn args_part<'n, 'a>(policy: &'n UniquePolicy, args: &'n Node<'a>) -> Result<Part<'n, 'a>, KeyError> {
    let Some(names) = &policy.args_keys else { return Ok(Part::Whole(args)) };
    let pick = |name: &'n str| match argument(args, name) {
        Some(node) => Ok((name, node)),
        None => Err(KeyError::ArgsKeyMissing(name.into())),
    };
    names.iter().map(|name| pick(name)).collect::<Result<_, _>>().map(Part::Picked)
}

fn meta_part<'n, 'a>(policy: &'n UniquePolicy, meta: Option<&'n Node<'a>>) -> Result<Part<'n, 'a>, KeyError> {
    let pick = |name: &'n str| match meta.and_then(|meta| member(meta, name)) {
        Some(node) => Ok((name, node)),
        None => Err(KeyError::MetaKeyMissing(name.into())),
    };
    policy.meta_keys.iter().flatten().map(|name| pick(name)).collect::<Result<_, _>>().map(Part::Picked)
}

/// The argument of that name: a member, the member of the first element that has it, or a position.
/// Members go first, so that `{…}` and `[{…}]` are always the same job.
fn argument<'n, 'a>(args: &'n Node<'a>, name: &str) -> Option<&'n Node<'a>> {
    match &args.value {
        Value::Array(elements) => elements.iter().find_map(|element| member(element, name)).or_else(|| {
            let position: usize = name.parse().ok()?;
            // `01` and `+1` read as numbers too, but a position has one name only.
            elements.get(position).filter(|_| position.to_string() == name)
        }),
        Value::Object(_) => member(args, name),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The member of that name, however the two write their accents.
fn member<'n, 'a>(node: &'n Node<'a>, name: &str) -> Option<&'n Node<'a>> {
    let same = |other: &str| !(other.is_ascii() && name.is_ascii()) && other.nfc().eq(name.nfc());
    let respelled = || node.as_object()?.iter().find(|member| same(&member.name)).map(|member| &member.node);
    node.get(name).or_else(respelled)
}

#[cfg(test)]
mod tests;
