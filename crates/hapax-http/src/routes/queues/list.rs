//! `GET /ojs/v1/queues`: the queues by name.

use hapax_wire::writer;

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::{pagination, queue};

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let (query, listing) = from_wire::queues(&call.uri)?;
    let page = call.broker().queues(query).await?;
    let mut out = Vec::with_capacity(128 + 128 * page.items.len());
    writer::object(&mut out, |o| {
        o.array("queues", &page.items, |facts, out| {
            queue::item(out, facts, call.broker().openness(&facts.name, Some(facts)));
        });
        pagination::write(o, &page, listing, page.items.last().map(|facts| &facts.name));
    });
    Ok(Reply::ok(out))
}
