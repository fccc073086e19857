//! What became of jobs.

use hapax_core::Job;
use hapax_wire::error::Code;
use hapax_wire::failure;
use hapax_wire::writer::{self, Object};

use crate::problem::Problem;
use crate::reply::Reply;

/// The result of a job that was done, the error of one that was not (Results 4.4). One that has not ended has neither.
pub(crate) fn of_job(job: &Job) -> Result<Reply, Problem> {
    if !job.state().is_terminal() {
        let mut details = Vec::new();
        writer::object(&mut details, |o| {
            o.plain("job_id", job.id);
            o.word("current_state", job.state().name());
        });
        let message = format!("job {} is {}; it has not ended", job.id, job.state());
        return Err(Problem { details: Some(details), ..Problem::new(Code::ResultPending, message) });
    }
    let mut out = Vec::with_capacity(256 + job.result().map_or(0, |result| result.as_str().len()));
    writer::object(&mut out, |o| {
        o.plain("job_id", job.id);
        members(o, job);
        // The word of the official admin UI.
        o.moment_if("completed_at", job.phase.finished_at());
    });
    Ok(Reply::ok(out))
}

/// The results of many jobs by their ids. Beyond so many bytes they are left out, and can be asked for one by one.
#[derive(Debug)]
pub(crate) struct Results {
    out: Vec<u8>,
    bytes_max: usize,
    is_empty: bool,
}

impl Results {
    pub(crate) fn new(bytes_max: usize) -> Results {
        Results { out: b"{\"results\":{".to_vec(), bytes_max, is_empty: true }
    }

    /// One more; nothing is known about it if there is no such job.
    pub(crate) fn add(&mut self, id: &str, job: Option<&Job>) {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        writer::text(&mut self.out, id);
        self.out.push(b':');
        let length = job.and_then(Job::result).map_or(0, |result| result.as_str().len());
        let fits = self.out.len() + length <= self.bytes_max;
        writer::object(&mut self.out, |o| match job {
            Some(job) if fits => members(o, job),
            Some(job) => {
                o.word("state", job.state().name());
                o.flag("abridged", true);
            }
            None => {
                o.raw("state", "null");
                o.raw("result", "null");
            }
        });
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.out.extend_from_slice(b"}}");
        self.out
    }
}

/// What became of a job, as members of an object.
pub(crate) fn members(o: &mut Object<'_>, job: &Job) {
    o.word("state", job.state().name());
    o.raw("result", job.result().map_or("null", hapax_core::Json::as_str));
    if job.state() != hapax_core::State::Completed
        && job.state().is_terminal()
        && let Some(error) = job.history.entries().last()
    {
        o.object("error", |o| failure::members(o, error));
    }
    o.moment_if("result_stored_at", job.phase.finished_at());
    o.number_if("result_size_bytes", job.result().map(|result| result.as_str().len()));
}
