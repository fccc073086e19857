//! The settings of queues: `PUT` and `GET /ojs/v1/queues/{name}/config`, `POST /ojs/v1/queues`, `POST /ojs/v1/queues/{name}/drain`.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use hapax_broker::DEFAULT_SETTINGS;
use hapax_core::limit::Limits;
use hapax_core::{QueueName, QueueSettings};

use crate::call::Call;
use crate::from_wire::{self, Fault, Place, SettingsChange};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::queue_settings;

/// Changes what is mentioned; `null` makes it open again.
pub(crate) async fn change(call: Call) -> Result<Reply, Problem> {
    let name = name(&call)?;
    let change = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::queue_settings(&body)?
    };
    let settings = decide(&call, &name, change).await?;
    Ok(Reply::ok(answer(&call, &name, &settings).await?))
}

/// What was decided about the queue itself.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let name = name(&call)?;
    let settings = call.broker().queue_settings(&name).await?.unwrap_or_default();
    Ok(Reply::ok(answer(&call, &name, &settings).await?))
}

/// Makes a queue before its first job.
pub(crate) async fn create(call: Call) -> Result<Reply, Problem> {
    let (name, change) = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::new_queue(&body)?
    };
    let settings = decide(&call, name.as_str(), change).await?;
    // A queue is there since it is used; to resume one that nobody paused is the smallest use. One that is there may be paused.
    if call.broker().queue(name.clone()).await?.is_none() {
        call.broker().resume(name.clone()).await?;
    }
    Ok(Reply::json(StatusCode::CREATED, answer(&call, name.as_str(), &settings).await?))
}

/// Lets a queue take no more jobs; those that it has are given out.
pub(crate) async fn drain(call: Call) -> Result<Reply, Problem> {
    let name = name(&call)?;
    let settings =
        call.broker().set_queue(&name, |before| QueueSettings { draining: Some(true), ..before }).await?;
    Ok(Reply::ok(answer(&call, &name, &settings).await?))
}

/// Carries out a change, unless it does not go with what was decided before.
async fn decide(call: &Call, name: &str, change: SettingsChange) -> Result<QueueSettings, Problem> {
    let concurrency =
        if change.mentions_concurrency() { limited(name, "concurrency", change.concurrency)? } else { None };
    let rate = if change.mentions_rate() { limited(name, "rate_limit", change.rate)? } else { None };
    let wrong = Arc::new(Mutex::new(None));
    let told = Arc::clone(&wrong);
    let decided = move |before: QueueSettings| {
        let after = change.of(before.clone());
        // A store may decide again on newer facts: the last time counts.
        *told.lock().unwrap_or_else(PoisonError::into_inner) = after.as_ref().err().cloned();
        after.unwrap_or(before)
    };
    let settings = call.broker().set_queue(name, decided).await?;
    if let Some(fault) = wrong.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(fault.into());
    }
    // How many jobs of a queue may run at a time is a rate limit: all of those are kept together.
    if let Some((queue, concurrency)) = concurrency {
        call.broker().limit_queue_concurrency(&queue, concurrency).await?;
    }
    if let Some((queue, rate)) = rate {
        call.broker().limit_queue_rate(&queue, rate).await?;
    }
    Ok(settings)
}

/// The queue that is limited.
fn limited<T>(
    name: &str,
    member: &str,
    figure: Option<T>,
) -> Result<Option<(QueueName, Option<T>)>, Problem> {
    match QueueName::parse(name) {
        Ok(queue) => Ok(Some((queue, figure))),
        Err(_) if figure.is_none() => Ok(None),
        Err(_) => {
            let problem = "can be set for one queue at a time, not for all others";
            Err(Fault::new(Place::Member(&Place::Body, member), problem).into())
        }
    }
}

/// What was decided about a queue. Whether it takes jobs is what is in force: who reads that it does wants to enqueue.
async fn answer(call: &Call, name: &str, settings: &QueueSettings) -> Result<Vec<u8>, Problem> {
    let is_draining = match QueueName::parse(name) {
        Ok(queue) => call.broker().settings_of(&queue).is_draining(),
        Err(_) => settings.is_draining(),
    };
    let shown = QueueSettings { draining: Some(is_draining), ..settings.clone() };
    Ok(queue_settings::one(name, &shown, limits(call, name).await?))
}

async fn limits(call: &Call, name: &str) -> Result<Limits, Problem> {
    let Ok(queue) = QueueName::parse(name) else { return Ok(Limits::default()) };
    let ruling = call.broker().queue_limit(&queue).await?;
    Ok(ruling.map(|ruling| ruling.limits).unwrap_or_default())
}

fn name(call: &Call) -> Result<String, Problem> {
    if &*call.parameter == DEFAULT_SETTINGS {
        return Ok(DEFAULT_SETTINGS.to_owned());
    }
    Ok(call.queue()?.as_str().to_owned())
}
