//! Sorts the members of a job into attributes, wherever they stood: flat, under `options`, or both.

use hapax_core::canonical;
use hapax_core::json::Node;
use hapax_core::{AGENT_MEMBER, Json};
use hapax_wire::job::SYSTEM_MEMBERS;
use hapax_wire::writer;

use super::near_miss::near_miss;
use super::{Fault, Given, Place};

/// Members of a unique policy that look like attributes of a job.
const BELONGS_INTO_UNIQUE: &[&str] = &["debounce", "while_active"];

/// Most unknown attributes of a job: each is compared with the others.
pub(crate) const EXTRA_MAX: usize = 256;

/// The names of attributes, wherever they stand.
const ATTRIBUTES: &[&str] = &[
    "specversion",
    "id",
    "type",
    "args",
    "payload",
    "queue",
    "priority",
    "meta",
    "metadata",
    "tags",
    "schema",
    "scheduled_at",
    "delay_until",
    "expires_at",
    "timeout",
    "timeout_ms",
    "visibility_timeout",
    "visibility_timeout_ms",
    "total_timeout",
    "enqueue_ttl",
    "heartbeat_timeout",
    "grace_period",
    "retry",
    "retry_policy",
    "max_attempts",
    "unique",
    "job_key",
    "job_key_mode",
    "rate_limit",
    "delivery",
    "ordering_key",
    PENDING,
    "options",
];

/// What other systems call a later start.
const DELAYS: &[&str] = &["delay", "delay_ms", "delay_seconds"];

/// An unknown attribute whose name looks like something that was meant to have an effect.
pub(super) struct NearMiss<'n, 'k> {
    pub(super) place: Place<'n>,
    name: &'n str,
    /// The name that was probably meant.
    pub(super) meant: &'k str,
}

impl NearMiss<'_, '_> {
    /// What to send instead.
    pub(super) fn hint(&self) -> String {
        if DELAYS.contains(&self.name) {
            return "to start later, send \"scheduled_at\": \"+PT5M\"".to_owned();
        }
        format!("did you mean {:?}?", self.meant)
    }

    /// Where it would be passed over.
    pub(super) fn fault(&self) -> Fault {
        let name: String = self.name.chars().take(60).collect();
        Fault::new(self.place, format_args!("unknown member {name:?}; {}", self.hint()))
    }
}

type Slot<'n, 'a> = Option<Given<'n, 'a>>;

/// The attributes of a job as they were sent; none of them has been looked into.
#[derive(Debug, Default)]
pub(super) struct Envelope<'n, 'a> {
    pub(super) specversion: Slot<'n, 'a>,
    pub(super) id: Slot<'n, 'a>,
    pub(super) kind: Slot<'n, 'a>,
    pub(super) args: Slot<'n, 'a>,
    pub(super) payload: Slot<'n, 'a>,
    pub(super) queue: Slot<'n, 'a>,
    pub(super) priority: Slot<'n, 'a>,
    pub(super) meta: Slot<'n, 'a>,
    pub(super) metadata: Slot<'n, 'a>,
    pub(super) tags: Slot<'n, 'a>,
    pub(super) schema: Slot<'n, 'a>,
    pub(super) scheduled_at: Slot<'n, 'a>,
    pub(super) delay_until: Slot<'n, 'a>,
    pub(super) expires_at: Slot<'n, 'a>,
    pub(super) timeout: Slot<'n, 'a>,
    pub(super) timeout_ms: Slot<'n, 'a>,
    pub(super) visibility_timeout: Slot<'n, 'a>,
    pub(super) visibility_timeout_ms: Slot<'n, 'a>,
    pub(super) total_timeout: Slot<'n, 'a>,
    pub(super) enqueue_ttl: Slot<'n, 'a>,
    pub(super) heartbeat_timeout: Slot<'n, 'a>,
    pub(super) grace_period: Slot<'n, 'a>,
    pub(super) retry: Slot<'n, 'a>,
    pub(super) retry_policy: Slot<'n, 'a>,
    pub(super) max_attempts: Slot<'n, 'a>,
    pub(super) unique: Slot<'n, 'a>,
    pub(super) job_key: Slot<'n, 'a>,
    pub(super) job_key_mode: Slot<'n, 'a>,
    pub(super) rate_limit: Slot<'n, 'a>,
    pub(super) delivery: Slot<'n, 'a>,
    pub(super) pending: Slot<'n, 'a>,
    pub(super) ordering_key: Slot<'n, 'a>,
    /// Attributes that the server does not know.
    extra: Vec<(&'n str, Given<'n, 'a>)>,
}

impl<'n, 'a> Envelope<'n, 'a> {
    /// Sorts the members of a job and of its `options`.
    pub(super) fn sort(job: &'n Given<'n, 'a>, options: Option<&'n Given<'n, 'a>>) -> Result<Self, Fault> {
        let mut envelope = Envelope::default();
        envelope.take(job, false)?;
        if let Some(options) = options {
            options.expect_object("an object")?;
            envelope.take(options, true)?;
        }
        Ok(envelope)
    }

    /// Takes over what nothing was said about.
    pub(super) fn fill(&mut self, defaults: &'n Given<'n, 'a>) -> Result<(), Fault> {
        let mut others = Envelope::default();
        others.take(defaults, true)?;
        for member in defaults.node.as_object().unwrap_or_default() {
            let name = member.name.as_ref();
            let given = Given { node: &member.node, place: Place::Member(&defaults.place, name) };
            let slot = if name == "metadata" { Some(&mut self.metadata) } else { self.slot(name) };
            if let Some(slot @ None) = slot
                && !given.node.is_null()
            {
                *slot = Some(given);
            }
        }
        let known: Vec<&str> = self.extra.iter().map(|(name, _)| *name).collect();
        self.extra.extend(others.extra.into_iter().filter(|(name, _)| !known.contains(name)));
        Ok(())
    }

    /// The unknown attributes that are nearly known ones, or nearly one of those others.
    pub(super) fn near_misses<'k>(&self, others: &[&'k str]) -> impl Iterator<Item = NearMiss<'n, 'k>> {
        // Some stand in one of the two places only, and are kept in the other.
        let is_unknown =
            |name: &str, given: &Given<'_, '_>| !ATTRIBUTES.contains(&name) && !given.node.is_null();
        let said = self.extra.iter().filter(move |(name, given)| is_unknown(name, given));
        said.filter_map(move |(name, given)| {
            let place = given.place;
            if DELAYS.contains(name) {
                return Some(NearMiss { place, name, meant: "scheduled_at" });
            }
            let known = ATTRIBUTES.iter().chain(others).copied();
            near_miss(name, known).map(|meant| NearMiss { place, name, meant })
        })
    }

    /// Forgets unknown attributes that mean something elsewhere.
    pub(super) fn leave_out(&mut self, names: &[&str]) {
        self.extra.retain(|(name, _)| !names.contains(name));
    }

    fn take(&mut self, object: &'n Given<'n, 'a>, is_options: bool) -> Result<(), Fault> {
        for member in object.node.as_object().unwrap_or_default() {
            let name = member.name.as_ref();
            let given = Given { node: &member.node, place: Place::Member(&object.place, name) };
            if name == "options" && !is_options {
                continue;
            }
            // A flat `metadata` is the block that some documents print; only the one in options is input.
            let slot =
                if name == "metadata" && is_options { Some(&mut self.metadata) } else { self.slot(name) };
            match slot {
                Some(_) if given.node.is_null() && name != "args" => {}
                Some(slot) => put(slot, given)?,
                None => self.take_unknown(name, given)?,
            }
        }
        Ok(())
    }

    fn slot(&mut self, name: &str) -> Option<&mut Slot<'n, 'a>> {
        Some(match name {
            "specversion" => &mut self.specversion,
            "id" => &mut self.id,
            "type" => &mut self.kind,
            "args" => &mut self.args,
            "payload" => &mut self.payload,
            "queue" => &mut self.queue,
            "priority" => &mut self.priority,
            "meta" => &mut self.meta,
            "tags" => &mut self.tags,
            "schema" => &mut self.schema,
            "scheduled_at" => &mut self.scheduled_at,
            "delay_until" => &mut self.delay_until,
            "expires_at" => &mut self.expires_at,
            "timeout" => &mut self.timeout,
            "timeout_ms" => &mut self.timeout_ms,
            "visibility_timeout" => &mut self.visibility_timeout,
            "visibility_timeout_ms" => &mut self.visibility_timeout_ms,
            "total_timeout" => &mut self.total_timeout,
            "enqueue_ttl" => &mut self.enqueue_ttl,
            "heartbeat_timeout" => &mut self.heartbeat_timeout,
            "grace_period" => &mut self.grace_period,
            "retry" => &mut self.retry,
            "retry_policy" => &mut self.retry_policy,
            "max_attempts" => &mut self.max_attempts,
            "unique" => &mut self.unique,
            "job_key" => &mut self.job_key,
            "job_key_mode" => &mut self.job_key_mode,
            "rate_limit" => &mut self.rate_limit,
            "delivery" => &mut self.delivery,
            "ordering_key" => &mut self.ordering_key,
            PENDING => &mut self.pending,
            _ => return None,
        })
    }

    fn take_unknown(&mut self, name: &'n str, given: Given<'n, 'a>) -> Result<(), Fault> {
        if SYSTEM_MEMBERS.binary_search(&name).is_ok() {
            return Ok(());
        }
        if BELONGS_INTO_UNIQUE.contains(&name) {
            let problem = format_args!("belongs into unique: {{\"unique\": {{\"{name}\": …}}}}");
            return if given.node.is_null() { Ok(()) } else { Err(Fault::new(given.place, problem)) };
        }
        if name == AGENT_MEMBER {
            given.expect_object("an object that says how the agent of the job stands")?;
        }
        if let Some((_, before)) = self.extra.iter().find(|(known, _)| *known == name) {
            return same(*before, given);
        }
        if self.extra.len() == EXTRA_MAX {
            let problem =
                format_args!("is one more than the {EXTRA_MAX} unknown attributes that a job may have");
            return Err(Fault::new(given.place, problem));
        }
        self.extra.push((name, given));
        Ok(())
    }

    /// The attributes that the server does not know, as one object.
    pub(super) fn extra(&self) -> Json {
        if self.extra.is_empty() {
            return Json::empty_object();
        }
        let mut out = Vec::new();
        out.push(b'{');
        for (index, (name, given)) in self.extra.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            writer::text(&mut out, name);
            out.push(b':');
            out.extend_from_slice(given.node.raw.as_bytes());
        }
        out.push(b'}');
        Json::from_trusted(&String::from_utf8_lossy(&out))
    }
}

/// The attribute has the name of a state.
const PENDING: &str = hapax_core::State::Pending.name();

fn put<'n, 'a>(slot: &mut Slot<'n, 'a>, given: Given<'n, 'a>) -> Result<(), Fault> {
    if let Some(before) = slot {
        return same(*before, given);
    }
    *slot = Some(given);
    Ok(())
}

/// The same attribute in both places has to say the same.
fn same(before: Given<'_, '_>, again: Given<'_, '_>) -> Result<(), Fault> {
    let is_alike = || canonical(before.node).is_some_and(|text| canonical(again.node) == Some(text));
    let is_same = before.node.raw == again.node.raw || is_alike();
    if is_same {
        Ok(())
    } else {
        Err(Fault::new(again.place, format_args!("contradicts {}; send one of the two", before.place)))
    }
}

fn canonical(node: &Node<'_>) -> Option<String> {
    let mut text = String::new();
    canonical::write(node, &mut text).ok().map(|()| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_by_its_name_has_its_place() {
        let mut envelope = Envelope::default();
        for name in ATTRIBUTES.iter().filter(|name| !["metadata", "options"].contains(name)) {
            assert!(envelope.slot(name).is_some(), "{name}");
        }
    }
}
