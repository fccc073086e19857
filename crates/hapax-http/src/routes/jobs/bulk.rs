//! `POST /ojs/v1/jobs/bulk`: accepts each of these jobs for itself, unless the client wants all or none.

use std::sync::Arc;

use hapax_broker::{BulkFact, BulkWish, Draft, Receipt};

use super::{memo, reading};
use crate::call::Call;
use crate::from_wire::{self, Bulk, BulkJobs, Fault};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::bulk;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let (Bulk { jobs, idempotency_key }, warnings) = reading::jobs(&call, from_wire::bulk).await?;
    let key = idempotency_key.as_deref();
    match jobs {
        BulkJobs::Each { drafts, faults } => each(&call, drafts, faults, key, &warnings).await,
        BulkJobs::All(drafts) => all(&call, drafts, key, &warnings).await,
    }
}

async fn each(
    call: &Call,
    drafts: Vec<Draft>,
    faults: Vec<(usize, Fault)>,
    key: Option<&str>,
    warnings: &[String],
) -> Result<Reply, Problem> {
    let total = drafts.len() + faults.len();
    let (id, faults, told) = (call.id.clone(), Arc::new(faults), warnings.to_vec());
    let remembered = Arc::clone(&faults);
    let memo = memo::memo(call, key, move |answer| bulk::reply(answer, &remembered, &id).warning(&told))?;
    match call.broker().enqueue_each(drafts, call.id.as_str(), memo).await? {
        Receipt::Fresh(answers) => {
            call.count_enqueued(answers.iter().flatten());
            let accepted = answers.iter().flatten().filter(|admission| admission.refusal().is_none());
            let done = accepted.count();
            call.broker().tell_bulk(BulkFact { wish: BulkWish::EnqueueEach, total, done });
            Ok(bulk::each(&answers, &faults, &call.id).warning(warnings))
        }
        Receipt::Remembered(before) => Ok(bulk::of_size(memo::replay(&before), total)),
    }
}

async fn all(
    call: &Call,
    drafts: Vec<Draft>,
    key: Option<&str>,
    warnings: &[String],
) -> Result<Reply, Problem> {
    let (id, total, told) = (call.id.clone(), drafts.len(), warnings.to_vec());
    let memo = memo::memo(call, key, move |answer| bulk::reply(answer, &[], &id).warning(&told))?;
    match call.broker().enqueue_all(drafts, call.id.as_str(), memo).await? {
        Receipt::Fresh(admitted) => {
            call.count_enqueued(&admitted);
            call.broker().tell_bulk(BulkFact { wish: BulkWish::EnqueueAll, total, done: total });
            Ok(bulk::all(&admitted, &call.id).warning(warnings))
        }
        Receipt::Remembered(before) => Ok(bulk::of_size(memo::replay(&before), total)),
    }
}
