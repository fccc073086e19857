//! The names of subscriptions and deliveries.

use std::fmt;
use std::str::FromStr;

use crate::{IdError, JobId, Timestamp};

/// The name of a subscription: `sub_` and a UUID of version 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SubscriptionId(JobId);

/// The place of an event in the order of deliveries: a number that grows on one server whatever its clock does, and the
/// mark of the server, so that two servers never give the same place to two events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sequence {
    /// Milliseconds, and a counter in the lower [`Sequence::COUNTER_BITS`] bits.
    pub number: u64,
    /// The server's mark, drawn at its start.
    pub mark: u32,
}

/// The name of a delivery, the same for all its attempts: `del_`, the UUID of its subscription, and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryId {
    /// The subscription.
    pub subscription: SubscriptionId,
    /// Its place.
    pub sequence: Sequence,
}

impl SubscriptionId {
    const PREFIX: &'static str = "sub_";

    /// From the moment and random bits of the caller.
    pub fn new(now: Timestamp, random: [u8; 10]) -> SubscriptionId {
        SubscriptionId(JobId::new(now, random))
    }
}

impl fmt::Display for SubscriptionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", SubscriptionId::PREFIX, self.0)
    }
}

impl FromStr for SubscriptionId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let uuid = text.strip_prefix(SubscriptionId::PREFIX).ok_or_else(|| wrong(text))?;
        Ok(SubscriptionId(uuid.parse()?))
    }
}

impl Sequence {
    /// How many of the lower bits count events of one millisecond.
    pub const COUNTER_BITS: u32 = 20;
    const TEXT_LENGTH: usize = 24;

    /// The first number of that moment.
    pub fn first_number(at: Timestamp) -> u64 {
        u64::try_from(at.millis()).unwrap_or(0) << Sequence::COUNTER_BITS
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sequence { number, mark } = self;
        write!(f, "{number:016x}{mark:08x}")
    }
}

impl FromStr for Sequence {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_plain = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != Sequence::TEXT_LENGTH || !text.bytes().all(is_plain) {
            return Err(wrong(text));
        }
        let (number, mark) = text.split_at(16);
        let number = u64::from_str_radix(number, 16).map_err(|_| wrong(text))?;
        let mark = u32::from_str_radix(mark, 16).map_err(|_| wrong(text))?;
        Ok(Sequence { number, mark })
    }
}

impl DeliveryId {
    const PREFIX: &'static str = "del_";
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeliveryId { subscription, sequence } = self;
        write!(f, "{}{}_{sequence}", DeliveryId::PREFIX, subscription.0)
    }
}

impl FromStr for DeliveryId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.strip_prefix(DeliveryId::PREFIX).and_then(|rest| rest.split_once('_'));
        let (subscription, sequence) = parts.ok_or_else(|| wrong(text))?;
        Ok(DeliveryId { subscription: SubscriptionId(subscription.parse()?), sequence: sequence.parse()? })
    }
}

fn wrong(text: &str) -> IdError {
    IdError(text.chars().take(64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f";

    #[test]
    fn names_keep_their_texts() {
        let subscription: SubscriptionId = format!("sub_{UUID}").parse().unwrap();
        assert_eq!(subscription.to_string(), format!("sub_{UUID}"));
        let sequence = Sequence { number: 0x0123_4567_89ab_cdef, mark: 0x0bad_cafe };
        let id = DeliveryId { subscription, sequence };
        assert_eq!(id.to_string(), format!("del_{UUID}_0123456789abcdef0badcafe"));
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn other_texts_are_no_names() {
        for text in ["", UUID, "sub_", "sub_x", "SUB_019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f"] {
            assert!(text.parse::<SubscriptionId>().is_err(), "{text}");
        }
        for rest in ["", "_", "_1", "_0123456789abcdef0badcafE", "_+123456789abcdef0badcafe", "_é"] {
            assert!(format!("del_{UUID}{rest}").parse::<DeliveryId>().is_err(), "{rest}");
        }
    }

    #[test]
    fn places_sort_as_texts_as_they_do_as_numbers() {
        let at = |number, mark| Sequence { number, mark };
        let mut places = [at(2, 0), at(1, 9), at(1, 1), at(u64::MAX, 0), at(16, 3)];
        places.sort_unstable();
        assert!(places.map(|place| place.to_string()).is_sorted());
    }
}
