//! Recurring jobs.

use hapax_broker::{CronPage, Receipt};
use hapax_core::cron::Cron;

use crate::call::Call;
use crate::from_wire::{self, CronList, Listing};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::routes::jobs::{memo, reading};
use crate::to_wire::cron;

/// `POST /ojs/v1/cron`: registers a recurring job, or registers it anew.
pub(crate) async fn register(call: Call) -> Result<Reply, Problem> {
    let (draft, warnings) = reading::one(&call, from_wire::cron).await?;
    let (registered, is_new) = call.broker().register_cron(draft).await?;
    Ok(cron::registered(&registered, is_new, call.dialect).warning(&warnings))
}

/// `GET /ojs/v1/cron`: recurring jobs by name.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let (page, listing) = page(&call).await?;
    Ok(Reply::ok(cron::list(&page, listing)))
}

/// The page that the query asks for.
pub(super) async fn page(call: &Call) -> Result<(CronPage, Listing), Problem> {
    let CronList { part, listing, enabled } = from_wire::crons(&call.uri)?;
    Ok((call.broker().crons(part, enabled).await?, listing))
}

/// `GET /ojs/v1/cron/{name}`: one of them, with the next moments at which it is due.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let runs = from_wire::cron_runs(&call.uri)?;
    let found = named(&call).await?;
    Ok(Reply::ok(cron::shown(&found, runs, call.broker().now(), call.dialect)))
}

/// The recurring job that the path names.
pub(super) async fn named(call: &Call) -> Result<Cron, Problem> {
    let found = call.broker().cron(&call.parameter).await?;
    found.ok_or_else(|| Problem::no_resource("cron", &call.parameter))
}

/// `POST /ojs/v1/cron/preview`: when a schedule would be due that nobody has registered.
pub(crate) async fn preview(call: Call) -> Result<Reply, Problem> {
    let body = from_wire::read(&call.body.bytes)?;
    let preview = from_wire::cron_preview(&body, call.broker().now())?;
    Ok(Reply::ok(cron::preview(&preview)))
}

/// `PATCH /ojs/v1/cron/{name}`: switches it on or off.
pub(crate) async fn switch(call: Call) -> Result<Reply, Problem> {
    Ok(Reply::ok(cron::one(&switched(&call).await?, call.dialect)))
}

/// The recurring job that the path names, switched as the body says.
pub(super) async fn switched(call: &Call) -> Result<Cron, Problem> {
    let enabled = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::cron_switch(&body)?
    };
    Ok(call.broker().switch_cron(&call.parameter, enabled).await?)
}

/// `DELETE /ojs/v1/cron/{name}`: removes it. Jobs that it has made stay.
pub(crate) async fn remove(call: Call) -> Result<Reply, Problem> {
    let removed = call.broker().remove_cron(&call.parameter).await?;
    Ok(Reply::ok(cron::removed(&removed, call.dialect)))
}

/// `POST /ojs/v1/cron/{name}/run`: makes a job now, whatever the schedule says.
pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    from_wire::no_members(&call.body.bytes)?;
    let (id, dialect) = (call.id.clone(), call.dialect);
    let memo = memo::memo(&call, None, move |answer| cron::remembered(answer, dialect, &id))?;
    Ok(match call.broker().run_cron(&call.parameter, memo).await? {
        Receipt::Fresh(tick) => Reply::ok(cron::ran(&tick, dialect)),
        Receipt::Remembered(before) => memo::replay(&before),
    })
}
