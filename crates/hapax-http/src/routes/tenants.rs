//! `GET /ojs/v1/admin/tenants/{id}/stats`: what this server did with a tenant's jobs since it started.

use hapax_core::TenantId;
use hapax_wire::writer;

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::tenants::Deed;

pub(crate) async fn stats(call: Call) -> Result<Reply, Problem> {
    let tenant = TenantId::parse(&call.parameter);
    let tenant = tenant.ok_or_else(|| Problem::no_resource("tenant", &call.parameter))?;
    let counts = call.shared.tenants.of(&tenant);
    let mut out = Vec::new();
    writer::object(&mut out, |o| {
        o.text("tenant_id", tenant.as_str());
        o.number("total_jobs", counts[Deed::Enqueued as usize]);
        o.object("jobs", |o| {
            for (deed, count) in Deed::ALL.into_iter().zip(counts) {
                o.number(deed.name(), count);
            }
        });
        o.number("uptime_seconds", call.shared.started.elapsed().as_secs());
    });
    Ok(Reply::ok(out))
}
