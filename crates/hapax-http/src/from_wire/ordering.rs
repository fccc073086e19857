//! The ordering key of a job, and what cannot stand beside it.

use hapax_core::OrderingKey;
use hapax_core::unique::Uniqueness;

use super::envelope::Envelope;
use super::{Fault, Given, Place};

/// Reads `ordering_key`. A line decides what its jobs wait for, so nothing else may.
pub(super) fn read(
    envelope: &Envelope<'_, '_>,
    unique: Option<&Uniqueness>,
    pending: Option<Given<'_, '_>>,
) -> Result<Option<OrderingKey>, Fault> {
    let Some(given) = envelope.ordering_key else { return Ok(None) };
    let key = OrderingKey::parse(given.text("a string")?).map_err(|error| Fault::new(given.place, error))?;
    if let Some(pending) = pending {
        return Err(beside(given, &pending.place));
    }
    let waits = unique.and_then(Uniqueness::policy).is_some_and(|policy| policy.while_active.is_some());
    if let Some(unique) = envelope.unique.filter(|_| waits) {
        return Err(beside(given, &Place::Member(&unique.place, "while_active")));
    }
    Ok(Some(key))
}

fn beside(given: Given<'_, '_>, other: &Place<'_>) -> Fault {
    let problem =
        format_args!("stands beside {other}, and each decides what the job waits for; send one of the two");
    Fault::new(given.place, problem)
}
