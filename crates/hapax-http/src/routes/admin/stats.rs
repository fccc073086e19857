//! `/ojs/v1/admin/stats`: sums and figures, now and over time.

use hapax_core::State;
use hapax_store::QueueQuery;
use hapax_wire::writer;

use crate::call::Call;
use crate::from_wire::{self, HistoryWish};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::figures;

/// Sums over everything.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let broker = call.broker();
    let queues = broker.queues(QueueQuery { after: None, offset: 0, limit: 0 }).await?.total;
    let totals = broker.totals().await?;
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        o.number("queues", queues);
        o.number("workers", broker.count_workers());
        o.object("jobs", |o| {
            for state in State::ALL {
                o.number(state.name(), totals.counts.of(state));
            }
        });
        o.number("dead_letters", totals.dead_letters);
        o.number("keys_held", totals.keys_held);
        figures::throughput(o, &broker.last_hour(None));
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
