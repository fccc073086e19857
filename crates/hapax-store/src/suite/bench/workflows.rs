//! Workflows on the bench.

use hapax_core::workflow::{Plan, Shape, Workflow, WorkflowId};
use hapax_core::{Event, Incoming, Job, Json, Refusal};

use super::super::draft::Draft;
use super::super::wait;
use super::{Bench, holder_of};
use crate::record::workflow as record;
use crate::{Action, Change, Done, Followed, NewWorkflow, workflow};

/// The workflow as it would be started: its jobs have the ids that follow from its own.
pub(in super::super) fn planned(id: WorkflowId, shape: Shape<Draft>) -> NewWorkflow {
    let Plan { form, runs, jobs, names } = Plan::of(shape).unwrap();
    let incoming = |(step, draft): (usize, Draft)| -> Incoming {
        let mut incoming = draft.incoming(id.job(u32::try_from(step).unwrap()));
        incoming.spec.workflow = Some(id);
        incoming
    };
    let jobs = jobs.into_iter().enumerate().map(incoming).collect();
    NewWorkflow { id, name: Some("a name".into()), plan: Plan { form, runs, jobs, names } }
}

impl Bench {
    pub(in super::super) fn try_start(&mut self, shape: Shape<Draft>) -> Result<Workflow, Refusal> {
        let id = WorkflowId::new(self.now, self.chances.random());
        let new = planned(id, shape);
        self.ids.extend(new.plan.jobs.iter().map(|incoming| incoming.id));
        match self.act(Action::StartWorkflow { workflow: Box::new(new), memo: None })? {
            Done::WorkflowStarted(started) => Ok(started.workflow),
            other => panic!("a start was answered by {other:?}"),
        }
    }

    #[track_caller]
    pub(in super::super) fn start(&mut self, shape: Shape<Draft>) -> WorkflowId {
        self.try_start(shape).unwrap().id
    }

    pub(in super::super) fn cancel_workflow(&self, id: WorkflowId) -> Result<Followed, Refusal> {
        match self.act(Action::CancelWorkflow(id))? {
            Done::WorkflowCancelled(followed) => Ok(*followed),
            other => panic!("a cancellation was answered by {other:?}"),
        }
    }

    /// Where the workflow stands, as its entry says.
    pub(in super::super) fn find_workflow(&self, id: WorkflowId) -> Option<Workflow> {
        let entry = wait(self.store().entry(workflow::key(id))).unwrap()?;
        Some(record::read(id, &entry.written.body).unwrap())
    }

    #[track_caller]
    pub(in super::super) fn workflow(&self, id: WorkflowId) -> Workflow {
        self.find_workflow(id).expect("the workflow is there")
    }

    /// A letter for each step.
    #[track_caller]
    pub(in super::super) fn marks(&self, id: WorkflowId) -> String {
        self.workflow(id).marks.iter().map(|mark| mark.letter()).collect()
    }

    /// Completes a job that was fetched, with a result.
    #[track_caller]
    pub(in super::super) fn complete(&self, job: &Job, result: &str) -> Change {
        let result = Some(Json::from_trusted(result));
        self.step(job.id, Event::Acknowledge { claimant: holder_of(job), result }).unwrap()
    }
}
