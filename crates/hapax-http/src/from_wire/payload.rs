//! The arguments and the metadata of a job, as the text that is kept.

use std::borrow::Cow;
use std::collections::HashSet;

use hapax_core::json::{self, Limits, Member, Node, Value};
use hapax_core::{TENANT_MEMBER, TenantId};

use super::envelope::Envelope;
use super::{Fault, Given, Intake, Media, Place};

/// JSON text that may have been put together from parts of the body.
pub(super) struct Text<'n, 'a> {
    pub(super) text: Cow<'n, str>,
    /// The value, if the text stood in the body like this.
    node: Option<&'n Node<'a>>,
}

impl Text<'_, '_> {
    /// Hands the value to somebody who looks into it.
    pub(super) fn with<T>(
        &self,
        place: Place<'_>,
        look: impl FnOnce(&Node<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        match self.node {
            Some(node) => look(node),
            None => look(&json::read(&self.text, Limits::DEFAULT).map_err(|error| Fault::new(place, error))?),
        }
    }
}

/// `args` as sent, or `[payload]`; `otherwise` if neither is there and a job may do without.
pub(super) fn arguments<'n, 'a>(
    job: &Given<'_, '_>,
    envelope: &Envelope<'n, 'a>,
    media: Media,
    otherwise: Option<&'static str>,
) -> Result<Text<'n, 'a>, Fault> {
    match (envelope.args, envelope.payload) {
        (Some(args), Some(payload)) => {
            Err(Fault::new(payload.place, format_args!("stands beside {}; send one of the two", args.place)))
        }
        (Some(args), None) => {
            check_args(args, media)?;
            Ok(Text { text: Cow::Borrowed(args.node.raw), node: Some(args.node) })
        }
        (None, Some(payload)) => Ok(Text { text: Cow::Owned(format!("[{}]", payload.node.raw)), node: None }),
        (None, None) => match otherwise {
            Some(text) => Ok(Text { text: Cow::Borrowed(text), node: None }),
            None => Err(Fault::missing(Place::Member(&job.place, "args"), "the arguments, an array")),
        },
    }
}

/// An object is taken as plain JSON only: the suite holds the spec's own media type to arrays.
pub(super) fn check_args(args: Given<'_, '_>, media: Media) -> Result<(), Fault> {
    match (&args.node.value, media) {
        (Value::Array(_), _) | (Value::Object(_), Media::Json) => Ok(()),
        (Value::Object(_), Media::OpenJobSpec) => {
            Err(args.wrong("an array (an object is taken with Content-Type: application/json)"))
        }
        (_, Media::OpenJobSpec) => Err(args.wrong("an array")),
        (_, Media::Json) => Err(args.wrong("an array or an object")),
    }
}

/// `meta`, with the members of `options.metadata` that it does not have itself.
pub(super) fn metadata<'n, 'a>(
    job: &Given<'_, '_>,
    envelope: &Envelope<'n, 'a>,
    intake: &Intake,
) -> Result<Text<'n, 'a>, Fault> {
    let meta = as_sent(envelope)?;
    if intake.wants_tenant() || intake.additions().next().is_some() {
        let place = Place::Member(&job.place, "meta");
        let added = meta.with(place, |node| completed(node, place, intake))?;
        return Ok(added.map_or(meta, |text| Text { text: Cow::Owned(text), node: None }));
    }
    Ok(meta)
}

/// The metadata with what the head of the request says; nothing if it says so itself. What stands there stays to the byte.
fn completed(meta: &Node<'_>, place: Place<'_>, intake: &Intake) -> Result<Option<String>, Fault> {
    let tenant = meta.get(TENANT_MEMBER);
    match (tenant, intake.tenant()) {
        (Some(own), Some(tenant)) if own.as_str() != Some(tenant.as_str()) => {
            let problem = "contradicts the header X-OJS-Tenant; send one of the two";
            return Err(Fault::new(Place::Member(&place, TENANT_MEMBER), problem));
        }
        (own, None) if intake.wants_tenant() && own.and_then(Node::as_str).is_none() => {
            let wanted = "the tenant of the job, here or in the header X-OJS-Tenant";
            return Err(Fault::missing(Place::Member(&place, TENANT_MEMBER), wanted));
        }
        // What is no id would be nobody's.
        (Some(own), None) if intake.wants_tenant() && own.as_str().and_then(TenantId::parse).is_none() => {
            let problem = "must be the id of a tenant: letters, digits, '.', '_', ':' and '-', the first a letter or digit";
            return Err(Fault::new(Place::Member(&place, TENANT_MEMBER), problem));
        }
        _ => {}
    }
    let mut out = meta.raw.as_bytes().strip_suffix(b"}").unwrap_or_default().to_vec();
    let (before, mut is_first) = (out.len(), meta.as_object().is_none_or(<[_]>::is_empty));
    for (name, value) in intake.additions().filter(|(name, _)| meta.get(name).is_none()) {
        if !std::mem::replace(&mut is_first, false) {
            out.push(b',');
        }
        hapax_wire::writer::text(&mut out, name);
        out.push(b':');
        hapax_wire::writer::text(&mut out, value);
    }
    let is_same = out.len() == before;
    out.push(b'}');
    Ok((!is_same).then(|| String::from_utf8_lossy(&out).into_owned()))
}

/// Refuses a tenant that is written with escapes. Metadata is kept as it was sent, and to whom a job belongs is looked up in the
/// text: such a job would be nobody's.
pub(super) fn check_tenant(meta: &Given<'_, '_>) -> Result<(), Fault> {
    let mut members = meta.node.as_object().unwrap_or_default().iter();
    let Some(Member { name, node }) = members.find(|member| member.name == TENANT_MEMBER) else {
        return Ok(());
    };
    let is_plain = matches!(name, Cow::Borrowed(_)) && !matches!(node.value, Value::String(Cow::Owned(_)));
    if is_plain {
        return Ok(());
    }
    Err(Fault::new(Place::Member(&meta.place, TENANT_MEMBER), "must be written without escapes"))
}

fn as_sent<'n, 'a>(envelope: &Envelope<'n, 'a>) -> Result<Text<'n, 'a>, Fault> {
    for given in [envelope.meta, envelope.metadata].into_iter().flatten() {
        given.expect_object("an object")?;
        check_tenant(&given)?;
    }
    match (envelope.meta, envelope.metadata) {
        (None, None) => Ok(Text { text: Cow::Borrowed("{}"), node: None }),
        (Some(only), None) | (None, Some(only)) => {
            Ok(Text { text: Cow::Borrowed(only.node.raw), node: Some(only.node) })
        }
        (Some(meta), Some(metadata)) => Ok(Text { text: Cow::Owned(merged(meta, metadata)), node: None }),
    }
}

fn merged(meta: Given<'_, '_>, metadata: Given<'_, '_>) -> String {
    let mut out = Vec::new();
    let own = meta.node.as_object().unwrap_or_default();
    let names: HashSet<&str> = own.iter().map(|member| &*member.name).collect();
    let more = metadata.node.as_object().unwrap_or_default().iter();
    let all = own.iter().chain(more.filter(|member| !names.contains(&*member.name)));
    out.push(b'{');
    for (index, Member { name, node }) in all.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        hapax_wire::writer::text(&mut out, name);
        out.push(b':');
        out.extend_from_slice(node.raw.as_bytes());
    }
    out.push(b'}');
    String::from_utf8_lossy(&out).into_owned()
}
