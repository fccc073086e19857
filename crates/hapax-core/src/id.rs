//! A job's id: a UUID of version 7 in lower case.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use uuid::{Uuid, Variant};

use crate::Timestamp;

/// The name of one job, for ever.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct JobId(Uuid);

/// In the order of the bytes, compared as one number: trees of ids are searched for every job.
impl Ord for JobId {
    fn cmp(&self, other: &JobId) -> Ordering {
        self.0.as_u128().cmp(&other.0.as_u128())
    }
}

impl PartialOrd for JobId {
    fn partial_cmp(&self, other: &JobId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A text that is no job id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a UUID of version 7 in lower case")]
pub struct IdError(pub Box<str>);

impl JobId {
    /// An id from the moment and random bits of the caller.
    pub fn new(now: Timestamp, random: [u8; 10]) -> JobId {
        let millis = u64::try_from(now.millis()).unwrap_or(0);
        JobId(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
    }

    /// The 16 bytes that stores keep.
    pub const fn bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// The text of the id, in ASCII.
    pub fn text(&self) -> [u8; 36] {
        let mut text = [0; 36];
        self.0.as_hyphenated().encode_lower(&mut text);
        text
    }

    /// The id of bytes from [`JobId::bytes`]; nothing if they are not of version 7.
    pub fn from_bytes(bytes: [u8; 16]) -> Option<JobId> {
        let uuid = Uuid::from_bytes(bytes);
        is_version_7(&uuid).then_some(JobId(uuid))
    }
}

fn is_version_7(uuid: &Uuid) -> bool {
    uuid.get_version_num() == 7 && uuid.get_variant() == Variant::RFC4122
}

impl FromStr for JobId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || IdError(text.chars().take(64).collect());
        // The parser also takes braces, URNs and upper case, which would give one job two names.
        let has_upper_case = text.bytes().fold(false, |found, byte| found | byte.is_ascii_uppercase());
        if text.len() != 36 || has_upper_case {
            return Err(wrong());
        }
        let uuid = Uuid::try_parse(text).map_err(|_| wrong())?;
        if is_version_7(&uuid) { Ok(JobId(uuid)) } else { Err(wrong()) }
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = Uuid::encode_buffer();
        f.write_str(self.0.as_hyphenated().encode_lower(&mut buffer))
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_keeps_its_text_and_its_bytes() {
        let text = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";
        let id: JobId = text.parse().unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!(id.text(), text.as_bytes());
        assert_eq!(JobId::from_bytes(*id.bytes()), Some(id));
    }

    #[test]
    fn other_versions_upper_case_and_other_forms_are_refused() {
        for text in [
            "",
            "not-an-id",
            "550e8400-e29b-41d4-a716-446655440000",
            "019461A8-1A2B-7C3D-8E4F-5A6B7C8D9E0F",
            "019461a81a2b7c3d8e4f5a6b7c8d9e0f",
            "{019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f}",
            "019461a8-1a2b-7c3d-0e4f-5a6b7c8d9e0f",
        ] {
            assert!(text.parse::<JobId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_made_id_is_of_version_7_and_sorts_by_time() {
        let id = |millis| JobId::new(Timestamp::from_millis(millis), [0xff; 10]);
        assert_eq!(id(5).to_string().parse(), Ok(id(5)));
        assert!(id(5) < id(6));
    }
}
