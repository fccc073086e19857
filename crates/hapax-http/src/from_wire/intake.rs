//! What every job of a request is read with, beside the body.

use std::sync::{Arc, Mutex, PoisonError};

use hapax_core::{Spec, TENANT_MEMBER, TRACE_PARENT_MEMBER, TRACE_STATE_MEMBER, TenantId, Timestamp};
use hapax_wire::error::Code;

use super::{Fault, Media, Place};
use crate::Entrance;
use crate::origin::Origin;
use crate::schemas::{Catalogue, Mode};

/// Most warnings in one answer.
const WARNINGS_MAX: usize = 20;

/// What every job of a request is read with.
#[derive(Debug)]
pub(crate) struct Intake {
    /// What the body was sent as.
    pub(crate) media: Media,
    /// The moment from which spans count.
    pub(crate) now: Timestamp,
    /// What arguments have to look like.
    schemas: Option<Arc<Catalogue>>,
    /// What the operator asks of jobs.
    entrance: Arc<Entrance>,
    /// Where the request comes from.
    origin: Origin,
    warnings: Mutex<Vec<String>>,
}

impl Intake {
    /// Reads jobs that come from there, at a server that asks this of them, and holds arguments to these schemas.
    pub(crate) fn at(
        entrance: Arc<Entrance>,
        origin: Origin,
        media: Media,
        now: Timestamp,
        schemas: Option<Arc<Catalogue>>,
    ) -> Intake {
        Intake { media, now, schemas, entrance, origin, warnings: Mutex::default() }
    }

    /// Reads jobs at a server that asks nothing of them.
    #[cfg(test)]
    pub(crate) fn new(media: Media, now: Timestamp) -> Intake {
        Intake::at(Arc::default(), Origin::default(), media, now, None)
    }

    /// The tenant for whom the request is.
    pub(super) fn tenant(&self) -> Option<&TenantId> {
        self.origin.tenant.as_ref()
    }

    /// What metadata says of where the job comes from, unless the client wrote it itself.
    pub(super) fn additions(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Origin { tenant, trace } = &self.origin;
        let tenant = tenant.as_ref().map(|tenant| (TENANT_MEMBER, tenant.as_str()));
        let parent = trace.as_ref().map(|trace| (TRACE_PARENT_MEMBER, &*trace.parent));
        let state =
            trace.as_ref().and_then(|trace| trace.state.as_deref()).map(|state| (TRACE_STATE_MEMBER, state));
        [tenant, parent, state].into_iter().flatten()
    }

    /// Whether a job has to have a tenant.
    pub(super) fn wants_tenant(&self) -> bool {
        self.entrance.require_tenant
    }

    /// Whether reading so many bytes of jobs may keep a thread busy for long.
    pub(crate) fn may_take_long(&self, bytes: usize) -> bool {
        self.schemas.as_ref().is_some_and(|schemas| schemas.may_take_long(bytes))
    }

    /// What the client is told beside the answer.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells the client something beside the answer, while there is room.
    pub(super) fn warn(&self, text: String) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if warnings.len() < WARNINGS_MAX {
            warnings.push(text);
        }
    }

    /// Refuses a job that is well-formed, and yet not what the operator or its own schema wants.
    pub(super) fn check(&self, job: Place<'_>, spec: &Spec) -> Result<(), Fault> {
        if let Some(message) = self.entrance.refusal(spec) {
            return Err(Fault::coded(Code::Refused, job, message));
        }
        let Some(verdict) = self.schemas.as_ref().and_then(|schemas| schemas.verdict(spec)) else {
            return Ok(());
        };
        let place = Place::Member(&job, "args");
        if verdict.mode == Mode::Strict {
            return Err(Fault::schema(place, &verdict));
        }
        let told = verdict.findings.iter().map(|finding| {
            let place = Place::Path(&place, &finding.path);
            format!("Schema validation warning: {place}: {}", finding.problem)
        });
        told.for_each(|text| self.warn(text));
        Ok(())
    }
}
