//! `/ojs/v1/admin/queues`: queues with their counts and figures.

use hapax_broker::Deed;
use hapax_core::QueueName;
use hapax_store::QueueQuery;
use hapax_wire::writer;

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::operator_queue::{self, Decided};
use crate::to_wire::{deed, pagination};

/// All of them, by name.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let (numbered, after) = from_wire::numbered(&call.uri, |text| QueueName::parse(text).ok())?;
    let query = QueueQuery { after, offset: numbered.skipped(), limit: numbered.per_page };
    let page = call.broker().queues(query).await?;
    let last = page.items.last().map(|facts| &facts.name);
    let mut out = Vec::with_capacity(128 + 384 * page.items.len());
    writer::object(&mut out, |o| {
        o.array("items", &page.items, |facts, out| {
            let openness = call.broker().openness(&facts.name, Some(facts));
            operator_queue::item(out, facts, openness, &call.broker().last_hour(Some(&facts.name)));
        });
        pagination::numbered(o, numbered, Some(page.total), page.has_more, last);
    });
    Ok(Reply::ok(out))
}

/// One of them.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let (name, broker) = (call.queue()?, call.broker());
    let facts = broker.queue(name.clone()).await?;
    let facts = facts.ok_or_else(|| Problem::no_resource("queue", &call.parameter))?;
    let decided = Decided {
        openness: broker.openness(&name, Some(&facts)),
        own: broker.queue_settings(name.as_str()).await?.unwrap_or_default(),
        in_force: broker.settings_of(&name),
        limits: broker.queue_limit(&name).await?.map(|ruling| ruling.limits).unwrap_or_default(),
    };
    let hour = broker.last_hour(Some(&name));
    Ok(Reply::ok(operator_queue::one(&facts, &hour, decided, &broker.rules().retention)))
}

/// Lets it give out no jobs.
pub(crate) async fn pause(call: Call) -> Result<Reply, Problem> {
    let facts = call.broker().pause(call.queue()?).await?;
    let openness = call.broker().openness(&facts.name, Some(&facts));
    Ok(Reply::ok(operator_queue::switched(&facts, openness, call.broker().now())))
}

/// Lets it give out jobs again.
pub(crate) async fn resume(call: Call) -> Result<Reply, Problem> {
    let facts = call.broker().resume(call.queue()?).await?;
    let openness = call.broker().openness(&facts.name, Some(&facts));
    Ok(Reply::ok(operator_queue::switched(&facts, openness, call.broker().now())))
}

/// Removes jobs that have ended.
pub(crate) async fn purge(call: Call) -> Result<Reply, Problem> {
    let (queue, now) = (call.queue()?, call.broker().now());
    let mut meant = if call.body.bytes.is_empty() {
        from_wire::purge(None, queue, now)?
    } else {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::purge(Some(&body), queue, now)?
    };
    meant.filter = call.own(meant.filter);
    let mut selection = call.broker().select_jobs(&meant.filter, meant.after).await?;
    let states = meant.filter.states;
    if meant.dry_run {
        return Ok(deed::purged(states, &selection, None));
    }
    let ids = std::mem::take(&mut selection.ids);
    let treated = call.broker().treat(ids, Some(&meant.filter), Deed::Delete).await;
    selection.ids = treated.iter().map(|one| one.id).collect();
    Ok(deed::purged(states, &selection, Some(&treated)))
}
