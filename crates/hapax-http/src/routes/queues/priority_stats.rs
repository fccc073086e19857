//! `GET /ojs/v1/queues/{name}/priority-stats`: how many jobs of each priority wait for a worker.

use hapax_core::State;
use hapax_wire::writer;

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let name = call.queue()?;
    let facts = call.broker().queue(name.clone()).await?;
    let total = facts.map_or(0, |facts| facts.counts.of(State::Available));
    let counted = call.broker().count_priorities(name.clone()).await?;
    let mut out = Vec::with_capacity(256);
    writer::object(&mut out, |o| {
        o.plain("queue", name);
        o.object("counts_by_priority", |o| {
            for (priority, count) in &counted.by_priority {
                o.number(&priority.to_string(), count);
            }
        });
        // The same for the official admin UI, which reads a list.
        o.array("distribution", &counted.by_priority, |(priority, count), out| {
            writer::object(out, |o| {
                o.number("priority", priority);
                o.number("count", count);
            });
        });
        o.number("total", total);
        o.number("counted", counted.by_priority.values().sum::<u64>());
        o.flag("complete", counted.is_complete);
    });
    Ok(Reply::ok(out))
}
