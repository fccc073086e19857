//! Sorts the members of a job into attributes, wherever they stood: flat, under `options`, or both.

use hapax_core::Json;
use hapax_core::canonical;
use hapax_core::json::Node;
use hapax_wire::job::SYSTEM_MEMBERS;
use hapax_wire::writer;

use super::{Fault, Given, Place};

/// Attributes of features that this server does not have, with what they would do.
pub(super) const UNSUPPORTED: &[(&str, &str)] = &[
    ("rate_limit", "rate limits"),
    ("ordering_key", "ordering keys"),
    ("total_timeout", "a limit over all attempts"),
    ("enqueue_ttl", "a limit on the time in the queue"),
    ("heartbeat_timeout", "a limit on the time between heartbeats"),
];

/// Members of a unique policy that look like attributes of a job.
const BELONGS_INTO_UNIQUE: &[&str] = &["debounce", "while_active"];

/// Most unknown attributes of a job: each is compared with the others.
const EXTRA_MAX: usize = 256;

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
    pub(super) retry: Slot<'n, 'a>,
    pub(super) retry_policy: Slot<'n, 'a>,
    pub(super) max_attempts: Slot<'n, 'a>,
    pub(super) unique: Slot<'n, 'a>,
    pub(super) job_key: Slot<'n, 'a>,
    pub(super) job_key_mode: Slot<'n, 'a>,
    pub(super) delivery: Slot<'n, 'a>,
    pub(super) pending: Slot<'n, 'a>,
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
            "retry" => &mut self.retry,
            "retry_policy" => &mut self.retry_policy,
            "max_attempts" => &mut self.max_attempts,
            "unique" => &mut self.unique,
            "job_key" => &mut self.job_key,
            "job_key_mode" => &mut self.job_key_mode,
            "delivery" => &mut self.delivery,
            PENDING => &mut self.pending,
            _ => return None,
        })
    }

    fn take_unknown(&mut self, name: &'n str, given: Given<'n, 'a>) -> Result<(), Fault> {
        if SYSTEM_MEMBERS.binary_search(&name).is_ok() {
            return Ok(());
        }
        if let Some((_, feature)) = UNSUPPORTED.iter().find(|(attribute, _)| *attribute == name) {
            return if given.node.is_null() { Ok(()) } else { Err(Fault::unsupported(given.place, feature)) };
        }
        if BELONGS_INTO_UNIQUE.contains(&name) {
            let problem = format_args!("belongs into unique: {{\"unique\": {{\"{name}\": …}}}}");
            return if given.node.is_null() { Ok(()) } else { Err(Fault::new(given.place, problem)) };
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
    let is_same = before.node.raw == again.node.raw || canonical(before.node) == canonical(again.node);
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
