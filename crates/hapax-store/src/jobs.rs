//! Lists of jobs by what they are, a part at a time.

use hapax_core::{Job, JobFilter, JobId, Phase};

use crate::bytes_of;

/// How many jobs one look goes through at most, fitting or not: a rare type among millions of jobs takes several parts and
/// not one long read.
pub const JOB_SCAN_MAX: usize = 10_000;

/// How many bytes of arguments, metadata, checkpoints and results one look reads at most, give or take a job: others want
/// to read too.
pub const JOB_SCAN_BYTES_MAX: usize = 64 << 20;

/// Which jobs to list.
#[derive(Debug, Clone)]
pub struct JobQuery {
    /// Only those that fit this.
    pub filter: JobFilter,
    /// From which end.
    pub order: ListOrder,
    /// Only those after this place in the list. The job of that id need not be there any longer.
    pub after: Option<JobId>,
    /// At most so many.
    pub limit: usize,
}

/// From which end a list runs. Its order is that of the ids, which begin with the moment at which they were made: the one
/// order that every engine keeps anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListOrder {
    /// The largest id first.
    #[default]
    NewestFirst,
    /// The smallest id first.
    OldestFirst,
}

/// A part of a list of jobs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobPage {
    /// The jobs, without their texts.
    pub jobs: Vec<Job>,
    /// Where the next part begins: after this place. Nothing if there is none. A part may be short, even empty, and
    /// others follow: [`JOB_SCAN_MAX`] or [`JOB_SCAN_BYTES_MAX`] ends it early, and whether there is more behind it is not
    /// known before somebody looks.
    ///
    /// Whoever goes from part to part meets every job once that was there and fitted all the while. One that came, went or
    /// changed meanwhile is met or not.
    pub next: Option<JobId>,
}

impl JobQuery {
    /// The jobs that fit, newest first.
    pub fn of(filter: JobFilter, limit: usize) -> JobQuery {
        JobQuery { filter, order: ListOrder::NewestFirst, after: None, limit }
    }

    /// How many jobs have to be looked at: if all fit, no more than are shown.
    pub fn scan_max(&self) -> usize {
        if self.filter.is_empty() { JOB_SCAN_MAX.min(self.limit) } else { JOB_SCAN_MAX }
    }
}

/// A look through a list: what every engine counts in the same way.
#[derive(Debug)]
pub struct JobScan<'q> {
    query: &'q JobQuery,
    /// As much of the filter as engines with tables ask before they read a whole job.
    glance: JobFilter,
    page: JobPage,
    last: Option<JobId>,
    bytes: usize,
}

impl<'q> JobScan<'q> {
    /// Nothing was looked at yet.
    pub fn new(query: &'q JobQuery) -> JobScan<'q> {
        let JobFilter { queue, states, kind, created, .. } = query.filter.clone();
        let glance = JobFilter { queue, states, kind, created, ..JobFilter::default() };
        JobScan { query, glance, page: JobPage::default(), last: query.after, bytes: 0 }
    }

    /// Whether a closer look at the job is worth it: its queue, state, type and age fit.
    pub fn wants(&self, job: &Job) -> bool {
        self.glance.fits(job)
    }

    /// Whether it has to end here.
    pub fn is_over(&self) -> bool {
        self.page.jobs.len() >= self.query.limit || self.bytes > JOB_SCAN_BYTES_MAX
    }

    /// The next place in the list has a job that is not wanted.
    pub fn pass(&mut self, id: JobId) {
        self.last = Some(id);
    }

    /// The next place in the list has a job that is wanted; nothing if it has gone meanwhile.
    pub fn look(&mut self, id: JobId, job: Option<Job>) {
        self.last = Some(id);
        let Some(mut job) = job else { return };
        self.bytes = self.bytes.saturating_add(bytes_read(&job));
        if self.query.filter.fits(&job) {
            job.forget_texts();
            self.page.jobs.push(job);
        }
    }

    /// What was found, and whether places are left that nobody looked at.
    pub fn page(self, has_more: bool) -> JobPage {
        JobPage { next: self.last.filter(|_| has_more), ..self.page }
    }
}

fn bytes_read(job: &Job) -> usize {
    let result = match &job.phase {
        Phase::Completed { result, .. } => result.as_ref().map_or(0, |json| json.as_str().len()),
        _ => 0,
    };
    bytes_of(job) + result
}
