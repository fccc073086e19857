//! What is told of a job that somebody watches, over server-sent events (Progress 7.2, Results 8.3).

use hapax_core::{Job, State};
use hapax_wire::failure;
use hapax_wire::writer::Object;

use super::live::{self, farewell, line};
use super::{progress, result};
use crate::limits::STREAM_RETRY;

/// The name of the last event. A client that comes back with it knows the end.
pub(crate) const END: &str = "end";

/// What somebody wants to see of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched {
    /// How far it has come, and how it ends.
    Progress,
    /// How far it has come, and what comes of it.
    Result,
}

impl Watched {
    /// Whether a job that has not ended is worth another word.
    pub(crate) fn differs(self, told: &Job, job: &Job) -> bool {
        let has_moved = told.state() != job.state() || told.attempt != job.attempt;
        told.progress != job.progress || (self == Watched::Progress && has_moved)
    }

    /// The event with which it ends in this state.
    fn last_event(self, state: State) -> &'static str {
        match (self, state) {
            (Watched::Progress, State::Completed | State::Cancelled) => state.name(),
            (Watched::Progress, _) => "failed",
            (Watched::Result, State::Completed) => "result",
            (Watched::Result, _) => "error",
        }
    }
}

/// The first words: when to come back.
pub(crate) fn opening(out: &mut Vec<u8>) {
    line(out, "retry: ", STREAM_RETRY.as_millis());
    out.push(b'\n');
}

/// A sign of life.
pub(crate) fn heartbeat(out: &mut Vec<u8>) {
    line(out, ":heartbeat", "");
    out.push(b'\n');
}

/// The last words of a server that stops.
pub(crate) fn shutdown(out: &mut Vec<u8>) {
    live::event_frame(out, None, live::SHUTDOWN, farewell);
}

/// Where it stands.
pub(crate) fn progress(out: &mut Vec<u8>, job: &Job) {
    live::event_frame(out, None, "progress", |o| progress::members(o, job));
}

/// How it ended.
pub(crate) fn end(out: &mut Vec<u8>, job: &Job, watched: Watched) {
    let name = watched.last_event(job.state());
    live::event_frame(out, Some(&END), name, |o| match watched {
        Watched::Progress => {
            progress::members(o, job);
            error(o, job);
        }
        Watched::Result => {
            o.plain("job_id", job.id);
            // The word of the document, beside that of every other answer about results.
            if let Some(result) = job.result() {
                o.raw("value", result.as_str());
            }
            result::members(o, job);
        }
    });
}

fn error(o: &mut Object<'_>, job: &Job) {
    let newest = job.history.entries().last().filter(|_| job.state() == State::Discarded);
    if let Some(newest) = newest {
        o.object("error", |o| failure::members(o, newest));
    }
}
