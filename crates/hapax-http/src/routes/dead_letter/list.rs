//! `GET /ojs/v1/dead-letter`: dead letters, newest first.

use hapax_broker::LetterPlace;
use hapax_core::Job;
use hapax_store::Page;
use hapax_wire::{job, writer};

use crate::call::Call;
use crate::from_wire::{self, LetterWish};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::{letters, pagination};

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let LetterWish { query, listing, filter } = from_wire::dead_letters(&call.uri, call.broker().now())?;
    let (mut page, mut next) = match filter {
        None => {
            let page = call.broker().dead_letters(query).await?;
            let next = page.items.last().and_then(place);
            (page, next)
        }
        Some(filter) => {
            let found = call.broker().letters(&filter, query.after, listing.offset, listing.limit).await?;
            (Page { items: found.jobs, total: found.total, has_more: found.next.is_some() }, found.next)
        }
    };
    let fitting = letters::fitting(&page.items);
    if fitting < page.items.len() {
        page.items.truncate(fitting);
        page.has_more = true;
        next = page.items.last().and_then(place);
    }
    let mut out = Vec::with_capacity(128 + page.items.iter().map(job::length_estimate).sum::<usize>());
    writer::object(&mut out, |o| {
        o.array("jobs", &page.items, |job, out| job::write(out, job));
        pagination::write(o, &page, listing, next.as_ref().map(letters::cursor));
    });
    Ok(Reply::ok(out))
}

/// Where the list goes on: behind this job.
fn place(job: &Job) -> Option<LetterPlace> {
    job.phase.finished_at().map(|at| (at, job.id))
}
