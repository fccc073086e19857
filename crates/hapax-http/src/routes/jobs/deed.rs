//! `POST /ojs/v1/jobs/bulk/cancel`, `/retry` and `/delete`: something is done about many jobs, each for itself.

use hapax_broker::{Deed, Error, Selection, Treated};
use hapax_core::{JobFilter, JobId, Refusal};

use crate::call::Call;
use crate::from_wire::{self, Described, Targets};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::deed::{self, Item};

/// Calls them off.
pub(crate) async fn cancel(call: Call) -> Result<Reply, Problem> {
    run(&call, Deed::Cancel).await
}

/// Tries them again.
pub(crate) async fn retry(call: Call) -> Result<Reply, Problem> {
    run(&call, Deed::Retry).await
}

/// Removes what is left of them.
pub(crate) async fn delete(call: Call) -> Result<Reply, Problem> {
    run(&call, Deed::Delete).await
}

async fn run(call: &Call, deed: Deed) -> Result<Reply, Problem> {
    let targets = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::clients_deed(&body, deed, call.broker().now())?
    };
    match targets {
        Targets::Named(names) => Ok(deed::for_client(deed, &named(call, names, deed).await, None::<JobId>)),
        Targets::Described(Described { filter, after, dry_run }) => {
            let filter = call.own(filter);
            let Selection { ids, next } = call.broker().select_jobs(&filter, after).await?;
            if dry_run {
                return Ok(deed::counted(ids.len(), next));
            }
            let treated = call.broker().treat(ids, Some(&filter), deed).await;
            let items: Vec<Item> = treated.into_iter().map(Item::Treated).collect();
            Ok(deed::for_client(deed, &items, next))
        }
    }
}

/// One item for each name, in their order.
async fn named(call: &Call, names: Vec<Box<str>>, deed: Deed) -> Vec<Item> {
    let ids: Vec<JobId> = names.iter().filter_map(|name| name.parse().ok()).collect();
    let filter = call.tenant().map(|tenant| JobFilter::default().kept_to(tenant));
    let treated = call.broker().treat(ids, filter.as_ref(), deed).await;
    let mut treated = treated.into_iter().map(as_the_client_sees_it);
    let mut item = |name: Box<str>| match name.parse::<JobId>() {
        Ok(_) => treated.next().map(Item::Treated),
        Err(_) => Some(Item::Foreign(name.chars().take(64).collect())),
    };
    names.into_iter().filter_map(&mut item).collect()
}

/// Nothing else than its tenant can make a job another than the one that was named, and the jobs of others are not there.
fn as_the_client_sees_it(treated: Treated) -> Treated {
    match treated.outcome {
        Err(Error::Refused(Refusal::NotMeant(id))) => {
            Treated { outcome: Err(Refusal::NotFound(id).into()), ..treated }
        }
        _ => treated,
    }
}
