//! From what happened to spans (Observability 6).
//!
//! A job that comes to be is one span, and each attempt at it is one, told when it ends.

use hapax_broker::{EventError, EventTail, JobEvent, JobFact, News, Step, Traced};
use hapax_core::{JobId, JobType, QueueName, State, TraceContext};

use crate::attempts::{Attempts, Beginning};
use crate::id::{SpanId, TraceId};
use crate::span::{Attribute, Kind, Link, Span, Status};

/// Reads events in their order.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    seq: u64,
    attempts: Attempts,
    /// The job whose attempt was told to have failed, until the step that comes with that.
    failed: Option<JobId>,
}

/// Whom a span is about.
struct Subject<'e> {
    id: JobId,
    job_type: &'e JobType,
    queue: &'e QueueName,
    state: State,
    context: Option<&'e TraceContext>,
}

impl Reader {
    /// The number of the newest event that was read.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Reads on. The tail must be the one after [`Reader::seq`].
    pub(crate) fn read(&mut self, tail: &EventTail, spans: &mut Vec<Span>) {
        if tail.missed > 0 {
            self.seq += tail.missed;
            self.failed = None;
        }
        for event in &tail.events {
            self.seq = event.seq;
            spans.extend(self.span(event));
        }
    }

    fn span(&mut self, event: &JobEvent) -> Option<Span> {
        let JobEvent { seq: _, id: _, at: _, queue, news, traced } = event;
        let News::Job { id, job_type, state, step, fact } = news else { return None };
        let (queue, traced) = (queue.as_ref()?, traced.as_deref()?);
        let context = traced.context.as_ref();
        // Who began the trace has decided that it is not kept.
        if context.is_some_and(|context| !context.parent.is_sampled()) {
            return None;
        }
        let subject = Subject { id: *id, job_type, queue, state: *state, context };
        match (fact, step) {
            (JobFact::Started { worker, attempt, waited: _ }, _) => {
                let beginning = Beginning { at: event.at, attempt: *attempt, worker: worker.clone() };
                self.attempts.begin(*id, beginning);
                None
            }
            (JobFact::Failed { error, .. }, _) => {
                self.failed = Some(*id);
                Some(self.attempt(&subject, event, traced, Outcome::Failed(error)))
            }
            (_, Some(Step { from: None, .. })) => Some(enqueue(&subject, event)),
            (_, Some(Step { from: Some(State::Active), .. })) => {
                let is_told = self.failed.take() == Some(*id);
                (!is_told).then(|| self.attempt(&subject, event, traced, Outcome::of(fact)))
            }
            _ => None,
        }
    }

    fn attempt(
        &mut self,
        subject: &Subject<'_>,
        event: &JobEvent,
        traced: &Traced,
        outcome: Outcome<'_>,
    ) -> Span {
        let beginning = self.attempts.end(subject.id);
        let attempt = beginning.as_ref().map_or(traced.attempt, |beginning| beginning.attempt);
        let started = traced.started_at.or(beginning.as_ref().map(|beginning| beginning.at));
        let mut attributes = subject.attributes("process", "process");
        attributes.push(Attribute::number("ojs.job.attempt", attempt));
        if let Some(worker) = beginning.and_then(|beginning| beginning.worker) {
            attributes.push(Attribute::text("ojs.worker.id", worker.as_str()));
        }
        let status = match outcome {
            Outcome::Done => Some(Status::OK),
            Outcome::BrokenOff => None,
            Outcome::Failed(EventError { code, message, retryable: _ }) => {
                attributes.push(Attribute::text("error.type", code.clone()));
                attributes.push(Attribute::text("error.message", message.clone()));
                attributes.push(Attribute::number("ojs.job.error.attempt", attempt));
                Some(Status::error(message))
            }
        };
        Span {
            parent_span_id: Some(SpanId::of_enqueue(subject.id)),
            kind: Kind::Consumer,
            start_time_unix_nano: started.unwrap_or(event.at).min(event.at),
            attributes,
            links: subject.context.map(Link::to).into_iter().collect(),
            status,
            ..subject.span("process", SpanId::of_delivery(subject.id, traced.fence), event)
        }
    }
}

/// How an attempt ended.
#[derive(Clone, Copy)]
enum Outcome<'e> {
    Done,
    Failed(&'e EventError),
    /// The job was called off or handed back: nobody failed.
    BrokenOff,
}

impl<'e> Outcome<'e> {
    fn of(fact: &'e JobFact) -> Outcome<'e> {
        match fact {
            JobFact::Completed { .. } => Outcome::Done,
            // The failure itself was forgotten before it was read.
            JobFact::Retrying { error, .. } | JobFact::Discarded { last_error: error, .. } => {
                Outcome::Failed(error)
            }
            _ => Outcome::BrokenOff,
        }
    }
}

fn enqueue(subject: &Subject<'_>, event: &JobEvent) -> Span {
    let mut attributes = subject.attributes("enqueue", "publish");
    if let News::Job { fact, .. } = &event.news {
        let (priority, start) = match fact {
            JobFact::Enqueued { priority, scheduled_at, key: _ } => (Some(*priority), *scheduled_at),
            JobFact::Scheduled { scheduled_at } => (None, Some(*scheduled_at)),
            _ => (None, None),
        };
        attributes.extend(priority.map(|priority| Attribute::number("ojs.job.priority", priority.get())));
        attributes.extend(start.map(|start| Attribute::text("ojs.job.scheduled_at", start.to_string())));
    }
    Span {
        parent_span_id: subject.context.map(|context| SpanId(context.parent.span_id)),
        attributes,
        status: Some(Status::OK),
        ..subject.span("enqueue", SpanId::of_enqueue(subject.id), event)
    }
}

impl Subject<'_> {
    /// A span of the moment of an event, with all that spans of a job have in common.
    fn span(&self, verb: &str, span_id: SpanId, event: &JobEvent) -> Span {
        let Subject { id, queue, context, .. } = self;
        Span {
            trace_id: context.map_or_else(|| TraceId::of(*id), |context| TraceId(context.parent.trace_id)),
            span_id,
            parent_span_id: None,
            trace_state: context.and_then(|context| context.state.clone()),
            flags: context.map_or(SAMPLED, |context| context.parent.flags.into()),
            name: format!("{queue} {verb}"),
            kind: Kind::Producer,
            start_time_unix_nano: event.at,
            end_time_unix_nano: event.at,
            attributes: Vec::new(),
            links: Vec::new(),
            status: None,
        }
    }

    /// What Observability 7 asks for of every span.
    fn attributes(&self, operation: &'static str, operation_type: &'static str) -> Vec<Attribute> {
        let Subject { id, job_type, queue, state, context: _ } = self;
        let id = id.to_string();
        vec![
            Attribute::text("messaging.system", "ojs"),
            Attribute::text("messaging.operation.name", operation),
            Attribute::text("messaging.operation.type", operation_type),
            Attribute::text("messaging.destination.name", queue.as_str()),
            Attribute::text("messaging.message.id", &*id),
            Attribute::text("ojs.job.id", id),
            Attribute::text("ojs.job.type", job_type.as_str()),
            Attribute::text("ojs.job.queue", queue.as_str()),
            Attribute::text("ojs.job.state", state.name()),
        ]
    }
}

/// The flags of a trace that begins here.
const SAMPLED: u32 = 1;

#[cfg(test)]
mod tests;
