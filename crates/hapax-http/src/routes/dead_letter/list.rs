//! `GET /ojs/v1/dead-letter`: dead letters, newest first.

use hapax_core::Job;
use hapax_store::Page;
use hapax_wire::{job, writer};

use crate::call::Call;
use crate::from_wire;
use crate::limits::PAGE_BYTES_MAX;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::pagination;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let (query, listing) = from_wire::dead_letters(&call.uri)?;
    let mut page = call.broker().dead_letters(query).await?;
    cut(&mut page);
    let mut out = Vec::with_capacity(128 + page.items.iter().map(job::length_estimate).sum::<usize>());
    writer::object(&mut out, |o| {
        o.array("jobs", &page.items, |job, out| job::write(out, job));
        pagination::write(o, &page, listing, page.items.last().and_then(cursor));
    });
    Ok(Reply::ok(out))
}

/// Ends the page where it gets too large; whoever wants more asks behind its last job.
fn cut(page: &mut Page<Job>) {
    let mut bytes = 0;
    let fits = page.items.iter().take_while(|job| {
        bytes += job::length_estimate(job);
        bytes <= PAGE_BYTES_MAX
    });
    let fits = fits.count().max(1);
    if fits < page.items.len() {
        page.items.truncate(fits);
        page.has_more = true;
    }
}

/// Where the list goes on: behind this job.
fn cursor(job: &Job) -> Option<String> {
    let since = job.phase.finished_at()?;
    Some(format!("{}.{}", since.millis(), job.id))
}
