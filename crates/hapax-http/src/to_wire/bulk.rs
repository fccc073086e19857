//! What became of many jobs of which each stands for itself.

use axum::http::{HeaderName, HeaderValue, StatusCode};
use hapax_core::{Admission, Refusal};
use hapax_store::{Answer, Done};
use hapax_wire::job;
use hapax_wire::writer::{self, Object};

use super::admission::{another_question, outcome, shown};
use crate::from_wire::Fault;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_id::RequestId;

const BATCH_SIZE: HeaderName = HeaderName::from_static("x-ojs-batch-size");

/// One job of the request.
#[derive(Debug)]
enum Item<'i> {
    /// It was created, or a holder stands for it.
    Admitted(&'i Admission),
    /// Its own policy wants it rejected.
    Rejected(&'i Admission, Refusal),
    /// It cannot be a job, or not this one.
    Failed(Problem),
}

/// The answer of a store to the jobs of a request, as the client gets it. `faults` are those that never reached the
/// store, with their places among all.
pub(crate) fn reply(answer: &Answer, faults: &[(usize, Fault)], id: &RequestId) -> Reply {
    match answer {
        Ok(Done::EnqueuedEach(answers)) => each(answers, faults, id),
        Ok(Done::EnqueuedAll(admissions)) => all(admissions, id),
        Err(refusal) => Problem::from(refusal.clone()).reply(id),
        Ok(
            Done::Enqueued(_)
            | Done::Remembered(_)
            | Done::Stepped(_)
            | Done::SteppedHolders(_)
            | Done::Edited { .. }
            | Done::EditedTogether(_)
            | Done::CronRan(_)
            | Done::WorkflowStarted(_)
            | Done::WorkflowCancelled(_)
            | Done::Queue(_)
            | Done::QueueRemoved(_),
        ) => another_question().reply(id),
    }
}

/// The answer if each job stands for itself.
pub(crate) fn each(
    answers: &[Result<Admission, Refusal>],
    faults: &[(usize, Fault)],
    id: &RequestId,
) -> Reply {
    let mut answered = answers.iter().map(Item::answered);
    let mut faults = faults.iter().peekable();
    let total = answers.len() + faults.len();
    let items: Vec<Item<'_>> = (0..total)
        .filter_map(|index| match faults.next_if(|(at, _)| *at == index) {
            Some((_, fault)) => Some(Item::Failed(fault.clone().into())),
            None => answered.next(),
        })
        .collect();
    written(&items, id)
}

/// The answer if all or none were to be admitted.
pub(crate) fn all(admissions: &[Admission], id: &RequestId) -> Reply {
    written(&admissions.iter().map(Item::Admitted).collect::<Vec<_>>(), id)
}

/// The reply of that many jobs says how many they were.
pub(crate) fn of_size(reply: Reply, total: usize) -> Reply {
    reply.with(BATCH_SIZE, HeaderValue::from(total))
}

fn written(items: &[Item<'_>], id: &RequestId) -> Reply {
    let succeeded = items.iter().filter(|item| matches!(item, Item::Admitted(_))).count();
    let failed = items.len() - succeeded;
    let mut out = Vec::with_capacity(64 + items.iter().map(Item::length_estimate).sum::<usize>());
    writer::object(&mut out, |o| {
        o.number("total", items.len());
        o.number("succeeded", succeeded);
        o.number("failed", failed);
        o.array("items", items.iter().enumerate(), |(index, item), out| {
            writer::object(out, |o| {
                o.number("index", index);
                item.write(o, id);
            });
        });
    });
    let status = match (succeeded, failed) {
        (_, 0) => StatusCode::CREATED,
        (0, _) => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::MULTI_STATUS,
    };
    of_size(Reply::json(status, out), items.len())
}

impl Item<'_> {
    fn answered(answer: &Result<Admission, Refusal>) -> Item<'_> {
        match answer {
            Ok(admission) => match admission.refusal() {
                Some(refusal) => Item::Rejected(admission, refusal),
                None => Item::Admitted(admission),
            },
            Err(refusal) => Item::Failed(refusal.clone().into()),
        }
    }

    fn write(&self, o: &mut Object<'_>, id: &RequestId) {
        match self {
            Item::Admitted(admission) => {
                o.text("status", if admission.verdict.is_new() { "created" } else { "duplicate" });
                outcome(o, &admission.verdict);
                o.object("job", |o| shown(o, admission));
            }
            Item::Rejected(admission, refusal) => {
                o.text("status", "duplicate");
                outcome(o, &admission.verdict);
                Problem::from(refusal.clone()).write(o, id);
            }
            Item::Failed(problem) => {
                o.text("status", "failed");
                problem.write(o, id);
            }
        }
    }

    fn length_estimate(&self) -> usize {
        /// An error, or what stands beside a job.
        const REST: usize = 640;
        match self {
            Item::Admitted(admission) => REST + job::length_estimate(&admission.job),
            Item::Rejected(..) | Item::Failed(_) => REST,
        }
    }
}
