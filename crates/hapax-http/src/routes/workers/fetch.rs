//! `POST /ojs/v1/workers/fetch`: gives jobs to a worker.

use hapax_broker::Fetch;

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::routes::pools;
use crate::tenants::Deed;
use crate::to_wire::report;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let wish = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::wish(&body)?
    };
    let mut fetch = Fetch { tenant: call.tenant().cloned(), ..wish.fetch };
    if let Some(name) = &wish.pool {
        fetch.queues = call.broker().order_of(&pools::named(&call, name).await?);
    }
    let jobs = call.broker().fetch(fetch).await?;
    if let Some(name) = &wish.pool {
        call.shared.dispatches.count(name, &jobs);
    }
    for job in &jobs {
        call.shared.tenants.count(job, Deed::Fetched);
    }
    Ok(Reply::ok(report::fetched(&jobs, wish.is_single)))
}
