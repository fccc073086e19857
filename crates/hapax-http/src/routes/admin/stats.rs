//! `/ojs/v1/admin/stats`: sums and figures, now and over time.

use hapax_core::QueueName;
use hapax_store::QueueQuery;
use hapax_wire::writer;

use crate::answer::Answer;
use crate::call::Call;
use crate::from_wire::{self, HistoryWish};
use crate::live::{EventStream, Overview};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::{figures, queue};

/// Sums over everything, or what is kept of one queue.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let broker = call.broker();
    if let Some(name) = from_wire::queue_meant(&call.uri)? {
        return of_queue(&call, name).await;
    }
    let queues = broker.queues(QueueQuery { after: None, offset: 0, limit: 0 }).await?.total;
    let totals = broker.totals().await?;
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        o.number("queues", queues);
        o.number("workers", broker.count_workers());
        o.object("jobs", |o| queue::counts(o, &totals.counts));
        o.number("dead_letters", totals.dead_letters);
        o.number("keys_held", totals.keys_held);
        figures::throughput(o, &broker.last_hour(None));
        o.number("uptime_seconds", call.shared.started.elapsed().as_secs());
    });
    Ok(Reply::ok(out))
}

/// The figures that move, again and again, and what happens to jobs meanwhile.
pub(crate) async fn stream(call: Call) -> Result<Answer, Problem> {
    let after = from_wire::overview(&call.uri, call.head.as_ref().map(|head| &head.headers))?;
    let place = call.shared.streams.enter()?;
    Ok(Answer::Stream(EventStream::of(Overview::open(&call.shared, after, place).await?)))
}

async fn of_queue(call: &Call, name: QueueName) -> Result<Reply, Problem> {
    let facts = call.broker().queue(name.clone()).await?;
    let facts = facts.ok_or_else(|| Problem::no_resource("queue", name.as_str()))?;
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        o.plain("queue", &name);
        o.object("jobs", |o| queue::counts(o, &facts.counts));
        figures::throughput(o, &call.broker().last_hour(Some(&name)));
        o.number("uptime_seconds", call.shared.started.elapsed().as_secs());
    });
    Ok(Reply::ok(out))
}

/// What happened in each period.
pub(crate) async fn history(call: Call) -> Result<Reply, Problem> {
    let HistoryWish { queue, period, since, until } = from_wire::history(&call.uri, call.broker().now())?;
    let points = call.broker().history(queue.as_ref(), period, since, until);
    Ok(Reply::ok(figures::history(period, &points, since, until)))
}
