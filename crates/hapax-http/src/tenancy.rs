//! For whom a route is: what it does with the tenant that a request says, and without one.

use hapax_broker::{Broker, Channel};
use hapax_core::{JobId, Refusal, TenantId};

use crate::call::Call;
use crate::origin::{self, Origin};
use crate::problem::Problem;

/// To whose things a route keeps when a request says a tenant. Every row of the table has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tenancy {
    /// It is for operators, who see everything, or about nothing that belongs to anybody.
    All,
    /// It does something about many jobs for an operator: about all, or about those of the tenant that is said.
    OwnIfSaid,
    /// The path names a job, which has to be one of the tenant.
    OwnJob,
    /// The path names a workflow, whose jobs have to be those of the tenant.
    OwnWorkflow,
    /// The path names a recurring job, which has to make jobs of the tenant.
    OwnCron,
    /// The route itself finds out which jobs are meant, and keeps to those of the tenant.
    Own,
    /// The body holds new jobs, which become the tenant's, or say themselves to whom they belong.
    OwnDrafts,
}

impl Tenancy {
    /// Refuses a request without a tenant, where the operator wants one. New jobs are looked at one by one.
    pub(crate) fn admit(self, origin: &Origin, is_required: bool) -> Result<(), Problem> {
        match self {
            Tenancy::All | Tenancy::OwnIfSaid | Tenancy::OwnDrafts => Ok(()),
            Tenancy::OwnJob | Tenancy::OwnWorkflow | Tenancy::OwnCron | Tenancy::Own => {
                if is_required && origin.tenant.is_none() {
                    return Err(origin::tenant_missing().into());
                }
                Ok(())
            }
        }
    }

    /// Refuses to speak of what the path names if it belongs to another tenant: as far as this one can see, there is no such
    /// thing. A name that nothing can have is left to the route, which says so in its own words.
    pub(crate) async fn keep(self, call: &Call, tenant: &TenantId) -> Result<(), Problem> {
        match self {
            Tenancy::All | Tenancy::OwnIfSaid | Tenancy::Own | Tenancy::OwnDrafts => Ok(()),
            Tenancy::OwnJob => match call.parameter.parse() {
                Ok(id) => keep_job(call.broker(), tenant, id).await,
                Err(_) => Ok(()),
            },
            Tenancy::OwnWorkflow => keep_workflow(call, tenant).await,
            Tenancy::OwnCron => keep_cron(call, tenant).await,
        }
    }
}

/// A job never changes hands, so that one look before anything is done about it is enough.
pub(crate) async fn keep_job(broker: &Broker, tenant: &TenantId, id: JobId) -> Result<(), Problem> {
    if tenant.owns(&broker.job(id).await?.spec.meta) { Ok(()) } else { Err(Refusal::NotFound(id).into()) }
}

/// For whom somebody listens.
#[derive(Debug, Clone)]
pub(crate) struct Listener {
    pub(crate) tenant: Option<TenantId>,
    /// Whether the operator wants to know.
    pub(crate) is_required: bool,
}

impl Listener {
    /// Refuses a channel of a job that belongs to another tenant. The other channels are for operators.
    pub(crate) async fn keep(&self, broker: &Broker, channel: &Channel) -> Result<(), Problem> {
        match (channel, &self.tenant) {
            (Channel::Job(id), Some(tenant)) => keep_job(broker, tenant, *id).await,
            (Channel::Job(_), None) if self.is_required => Err(origin::tenant_missing().into()),
            (Channel::Job(_) | Channel::Queue(_) | Channel::All, _) => Ok(()),
        }
    }
}

/// A workflow belongs to whom its jobs belong. One of which no job is left, or with jobs of several tenants, is nobody's.
async fn keep_workflow(call: &Call, tenant: &TenantId) -> Result<(), Problem> {
    let Ok(id) = call.parameter.parse() else { return Ok(()) };
    let view = call.broker().workflow(id).await?;
    let is_own = view.is_some_and(|view| {
        !view.jobs.is_empty() && view.jobs.values().all(|job| tenant.owns(&job.spec.meta))
    });
    if is_own { Ok(()) } else { Err(Problem::no_resource("workflow", &call.parameter)) }
}

async fn keep_cron(call: &Call, tenant: &TenantId) -> Result<(), Problem> {
    let cron = call.broker().cron(&call.parameter).await?;
    let is_own = cron.is_some_and(|cron| tenant.owns(&cron.template.spec.meta));
    if is_own { Ok(()) } else { Err(Problem::no_resource("cron", &call.parameter)) }
}
