//! Where a request comes from, as its head says: the tenant and the trace.

use axum::http::{HeaderMap, HeaderName};
use hapax_core::{TRACE_PARENT_MEMBER, TRACE_STATE_BYTES_MAX, TRACE_STATE_MEMBER, TenantId, TraceParent};

use crate::from_wire::{Fault, Place};

pub(crate) const TENANT: HeaderName = HeaderName::from_static("x-ojs-tenant");
pub(crate) const TRACE_PARENT: HeaderName = HeaderName::from_static(TRACE_PARENT_MEMBER);
pub(crate) const TRACE_STATE: HeaderName = HeaderName::from_static(TRACE_STATE_MEMBER);

/// Where a request comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// For whom it is sent.
    pub(crate) tenant: Option<TenantId>,
    /// The step of a trace to which it belongs.
    pub(crate) trace: Option<Trace>,
}

/// The headers of W3C Trace Context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trace {
    pub(crate) parent: Box<str>,
    pub(crate) state: Option<Box<str>>,
}

impl Origin {
    /// What the head says. A trace that is none is left out, as its document wants it; a tenant that is none is a mistake.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Origin, Fault> {
        let tenant = headers.get(TENANT).map(|header| {
            let tenant = header.to_str().ok().and_then(TenantId::parse);
            tenant.ok_or_else(|| Fault::new(tenant_place(), wanted()))
        });
        let text = |name| headers.get(name).and_then(|header| header.to_str().ok());
        let trace =
            text(TRACE_PARENT).filter(|parent| TraceParent::parse(parent).is_some()).map(|parent| Trace {
                parent: parent.into(),
                state: text(TRACE_STATE).filter(|state| state.len() <= TRACE_STATE_BYTES_MAX).map(Box::from),
            });
        Ok(Origin { tenant: tenant.transpose()?, trace })
    }
}

/// That the header is needed.
pub(crate) fn tenant_missing() -> Fault {
    Fault::missing(tenant_place(), "the tenant for whom the request is")
}

/// What a tenant's id looks like.
fn wanted() -> String {
    let most = TenantId::LENGTH_MAX;
    format!(
        "must have 1 to {most} letters, digits, dots, underscores, colons or hyphens, and begin with a letter or digit"
    )
}

fn tenant_place() -> Place<'static> {
    Place::Member(&Place::Body, "X-OJS-Tenant")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn origin(headers: &[(&'static str, &str)]) -> Result<Origin, String> {
        let pairs =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        Origin::of(&pairs.collect()).map_err(|fault| fault.message)
    }

    #[test]
    fn a_trace_of_the_right_form_is_known_and_another_left_out() {
        let known = origin(&[("traceparent", PARENT), ("tracestate", "a=1")]).unwrap().trace.unwrap();
        assert_eq!((&*known.parent, known.state.as_deref()), (PARENT, Some("a=1")));
        for wrong in [
            "",
            "00-4bf9-00f0-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        ] {
            let headers = [("traceparent", wrong), ("tracestate", "a=1")];
            assert_eq!(origin(&headers).unwrap().trace, None, "{wrong}");
        }
    }

    #[test]
    fn a_tenant_of_the_wrong_form_is_a_mistake() {
        assert_eq!(origin(&[]).unwrap(), Origin::default());
        assert_eq!(origin(&[("x-ojs-tenant", "a.b")]).unwrap().tenant, TenantId::parse("a.b"));
        assert!(
            origin(&[("x-ojs-tenant", "a b")]).unwrap_err().starts_with("X-OJS-Tenant: must have 1 to 255")
        );
    }
}
