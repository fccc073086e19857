//! The body of a heartbeat.

use std::collections::{HashMap, HashSet};

use hapax_broker::{Heartbeat, Report};
use hapax_core::JobId;
use hapax_core::json::Node;

use super::{Fault, Given, span, worker_facts};
use crate::compat;

/// Most jobs of one heartbeat.
pub(crate) const JOBS_MAX: usize = 10_000;

/// What a heartbeat may say beside facts about the worker.
const MEMBERS: &[&str] =
    &["active_job_ids", "job_id", "leases", "visibility_timeout", "visibility_timeout_ms"];

/// A heartbeat and what cannot be asked about.
#[derive(Debug)]
pub(crate) struct Beat {
    /// What the broker is asked.
    pub(crate) heartbeat: Heartbeat,
    /// What the worker says about itself.
    pub(crate) report: Report,
    /// Texts that no job has as its id: the worker does not hold these either.
    pub(crate) foreign: Vec<Box<str>>,
}

/// Reads who beats, and for which jobs.
pub(crate) fn beat(body: &Node<'_>) -> Result<Beat, Fault> {
    let body = Given::body(body)?;
    let single = body.member("job_id");
    // Beside a single job stands its lease, otherwise that would be the lease of nothing.
    let lease = body.member("lease").filter(|_| single.is_some());
    let mut known = [MEMBERS, worker_facts::FACTS].concat();
    known.extend(lease.map(|_| "lease"));
    body.refuse_near_misses(&known)?;
    let lease = lease.map(|given| given.text("the lease of the job")).transpose()?;
    let worker = body.required("worker_id", "the name of the worker")?.worker()?;
    let visibility_timeout =
        span::visibility_timeout(body.member("visibility_timeout"), body.member("visibility_timeout_ms"))?;
    let leases = body.member("leases");
    if let Some(leases) = &leases {
        leases.expect_object("an object from job ids to leases")?;
    }
    let mut spoken_of = Vec::new();
    let list = compat::active_jobs(body.member("active_jobs"), body.member("active_job_ids"));
    if let Some(list) = &list {
        for item in list.items("an array of job ids")? {
            spoken_of.push(one(item)?);
        }
    }
    if let Some(single) = single {
        let (id, own) = one(single)?;
        spoken_of.push((id, own.or(lease)));
    }
    let mut leases_by_id = HashMap::new();
    for member in leases.as_ref().and_then(|given| given.node.as_object()).unwrap_or_default() {
        spoken_of.push((&member.name, None));
        leases_by_id.extend(member.node.as_str().map(|lease| (&*member.name, lease)));
    }
    if spoken_of.len() > JOBS_MAX {
        return Err(Fault::new(body.place, format_args!("speaks of more than {JOBS_MAX} jobs")));
    }
    // Each job once: a list, a single member and the leases may name the same one.
    let mut seen = HashSet::with_capacity(spoken_of.len());
    let (mut jobs, mut foreign) = (Vec::with_capacity(spoken_of.len()), Vec::new());
    for (text, lease) in spoken_of {
        match text.parse::<JobId>() {
            Ok(id) if seen.insert(id) => {
                let lease = lease.or_else(|| leases_by_id.get(text).copied());
                jobs.push((id, lease.map(str::to_owned)));
            }
            Ok(_) => {}
            Err(_) => foreign.push(text.chars().take(64).collect()),
        }
    }
    let report = worker_facts::report(&body)?;
    let heartbeat = Heartbeat { worker: Some(worker), jobs, visibility_timeout, tenant: None };
    Ok(Beat { heartbeat, report, foreign })
}

/// An id, or an object with the id and the lease.
fn one<'n>(given: Given<'n, '_>) -> Result<(&'n str, Option<&'n str>), Fault> {
    if let Some(id) = given.node.as_str() {
        return Ok((id, None));
    }
    given.expect_object("a job id, or an object with job_id and lease")?;
    let id = given.node.get("job_id").and_then(|id| id.as_str());
    let id = id.ok_or_else(|| Fault::new(given.place, "has no job_id"))?;
    Ok((id, given.node.get("lease").and_then(|lease| lease.as_str())))
}
