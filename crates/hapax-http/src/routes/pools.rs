//! Pools: queues with a rule in which order a fetch looks at them, and who works on them.

use hapax_broker::Pool;
use hapax_core::QueueName;
use hapax_store::{EntryKey, Register};
use hapax_wire::writer::{self, Object};

use crate::call::Call;
use crate::from_wire::{self, Fault, Place};
use crate::limits::POOLS_MAX;
use crate::pools;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::routes::scheduling::{self, Crew};

/// `PUT /ojs/v1/admin/pools/{name}`: makes a pool, or makes it anew.
pub(crate) async fn put(call: Call) -> Result<Reply, Problem> {
    let wrong = |error| Fault::new(Place::Member(&Place::Body, "path"), error);
    // The rules for names of queues are good ones for names of pools.
    QueueName::parse(&call.parameter).map_err(wrong)?;
    let pool = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::pool(&body, &call.parameter)?
    };
    let body = pools::written(&pool).into();
    let is_new = call.broker().put_entry(key(&call.parameter), body, POOLS_MAX).await?;
    let status = if is_new { axum::http::StatusCode::CREATED } else { axum::http::StatusCode::OK };
    Ok(Reply::json(status, shown(&call.parameter, &pool)))
}

/// `GET /ojs/v1/admin/pools/{name}`: one of them.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let pool = named(&call, &call.parameter).await?;
    Ok(Reply::ok(shown(&call.parameter, &pool)))
}

/// `GET /ojs/v1/admin/pools`: those that there are, by name.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let (after, limit) = from_wire::named_page(&call.uri)?;
    let page = call.broker().entries(Register::Pool, after.map(Into::into), limit).await?;
    let known: Vec<_> = page
        .entries
        .iter()
        .filter_map(|entry| Some((&*entry.key.name, pools::read(&entry.written.body)?)))
        .collect();
    let queues = scheduling::queues_of(&call, known.iter().map(|(_, pool)| pool)).await?;
    let (workers, now) = (call.broker().workers(), call.broker().now());
    let mut out = Vec::new();
    writer::object(&mut out, |o| {
        // What the official admin UI shows of each.
        o.array("pools", &known, |(name, pool), out| {
            writer::object(out, |o| crew(o, name, pool, &Crew::of(pool, &workers, &queues, now)));
        });
        o.array("items", &known, |(name, pool), out| writer::object(out, |o| members(o, name, pool)));
        o.number("total", page.total);
        o.object("pagination", |o| {
            o.number("limit", limit);
            o.flag("has_more", page.has_more);
            let last = page.entries.last().filter(|_| page.has_more);
            o.text_if("next_cursor", last.map(|entry| &*entry.key.name));
        });
    });
    Ok(Reply::ok(out))
}

/// `DELETE /ojs/v1/admin/pools/{name}`: removes a pool. Its queues stay.
pub(crate) async fn remove(call: Call) -> Result<Reply, Problem> {
    call.broker().remove_entry(key(&call.parameter)).await?;
    call.shared.dispatches.forget(&call.parameter);
    let mut out = Vec::new();
    writer::object(&mut out, |o| {
        o.flag("deleted", true);
        o.text("name", &call.parameter);
    });
    Ok(Reply::ok(out))
}

/// The pool of that name.
pub(in crate::routes) async fn named(call: &Call, name: &str) -> Result<Pool, Problem> {
    let entry = call.broker().entry(key(name)).await?.ok_or_else(|| Problem::no_resource("pool", name))?;
    pools::read(&entry.written.body).ok_or_else(|| hapax_broker::Error::from(entry.key.damaged()).into())
}

fn key(name: &str) -> EntryKey {
    EntryKey::new(Register::Pool, name)
}

fn shown(name: &str, pool: &Pool) -> Vec<u8> {
    let mut out = Vec::new();
    writer::object(&mut out, |o| o.twice("pool", |o| members(o, name, pool)));
    out
}

fn crew(o: &mut Object<'_>, name: &str, pool: &Pool, crew: &Crew) {
    o.text("id", name);
    o.text("name", name);
    o.text("strategy", pool.strategy.name());
    o.texts("queues", pool.queues.iter().map(|(queue, _)| queue.as_str()));
    o.number("workers", crew.workers);
    o.number("concurrency", crew.concurrency);
    o.number("active_jobs", crew.active_jobs);
}

fn members(o: &mut Object<'_>, name: &str, pool: &Pool) {
    o.text("name", name);
    o.text("strategy", pool.strategy.name());
    o.texts("queues", pool.queues.iter().map(|(queue, _)| queue.as_str()));
    o.object("weights", |o| {
        for (queue, weight) in &pool.queues {
            o.number(queue.as_str(), weight);
        }
    });
}
