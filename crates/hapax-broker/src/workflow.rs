//! Workflows: starting them, looking at them, calling them off.

use std::collections::BTreeMap;
use std::sync::Arc;

use hapax_core::workflow::{Mark, Plan, Workflow, WorkflowId, WorkflowState};
use hapax_core::{Incoming, Job, JobId, Json, Verdict};
use hapax_store::record::workflow as record;
use hapax_store::{Action, Done, Entry, Followed, Memo, NewWorkflow, Register, Started, workflow};

use crate::entry_list::Found;
use crate::{Broker, Draft, EntryPart, Error, Receipt, answer};

/// How many jobs of a workflow are looked up to show where they stand.
pub const STEPS_SHOWN_IN_FULL: usize = 100;

/// A workflow as a request described it, checked in form.
#[derive(Debug, Clone)]
pub struct WorkflowDraft {
    /// What its client calls it.
    pub name: Option<Box<str>>,
    /// Its steps, with their jobs.
    pub plan: Plan<Draft>,
}

/// A workflow with its steps.
#[derive(Debug, Clone)]
pub struct WorkflowView {
    /// Where it stands.
    pub workflow: Workflow,
    /// The names and job types of its steps.
    pub steps: Vec<(Box<str>, Box<str>)>,
    /// Jobs of steps that were looked up: those that may run, and then others, [`STEPS_SHOWN_IN_FULL`] at most.
    pub jobs: BTreeMap<u32, Job>,
    /// Stored jobs in whose place its steps came when it started.
    pub replaced: Vec<JobId>,
}

/// Workflows by id.
#[derive(Debug, Clone)]
pub struct WorkflowPage {
    /// The workflows.
    pub workflows: Vec<Workflow>,
    /// Behind which id others may follow.
    pub next: Option<Arc<str>>,
    /// How many there are, if that is known without looking at all of them.
    pub total: Option<u64>,
}

impl WorkflowView {
    /// A workflow that has just started.
    pub fn started(started: &Started) -> WorkflowView {
        let Started { workflow, steps, admissions } = started;
        let jobs = (0..).zip(admissions).map(|(step, admission)| (step, admission.job.clone()));
        let jobs = jobs.take(STEPS_SHOWN_IN_FULL).collect();
        let replaced = admissions.iter().filter_map(|admission| match &admission.verdict {
            Verdict::Replaced(ids) => Some(ids),
            Verdict::Created | Verdict::Existing | Verdict::Updated(_) | Verdict::Rejected => None,
        });
        let replaced = replaced.flatten().copied().collect();
        WorkflowView { workflow: workflow.clone(), steps: steps.clone(), jobs, replaced }
    }
}

impl Broker {
    /// Starts a workflow: stores all of its jobs or none.
    pub async fn start_workflow(
        &self,
        draft: WorkflowDraft,
        request_id: &str,
        memo: Option<Memo>,
    ) -> Result<Receipt<WorkflowView>, Error> {
        self.admit_new_jobs()?;
        let now = self.now();
        let id = WorkflowId::new(now, self.shared.entropy.draw());
        let WorkflowDraft { name, plan: Plan { form, runs, jobs, names } } = draft;
        let request_id: Arc<str> = request_id.into();
        let incoming = |(step, draft): (u32, Draft)| -> Incoming {
            let draft = Draft { id: Some(id.job(step)), ..member(draft, id) };
            self.incoming(draft, Some(Arc::clone(&request_id)), now)
        };
        let jobs = (0..).zip(jobs).map(incoming).collect();
        let new = NewWorkflow { id, name, plan: Plan { form, runs, jobs, names } };
        let done = self.commit_one(now, Action::StartWorkflow { workflow: Box::new(new), memo }).await?;
        match done {
            Done::WorkflowStarted(started) => Ok(Receipt::Fresh(WorkflowView::started(&started))),
            Done::Remembered(remembered) => Ok(Receipt::Remembered(remembered)),
            _ => Err(answer::another_question()),
        }
    }

    /// Calls a workflow off: what waits will not run, what runs may end.
    pub async fn cancel_workflow(&self, id: WorkflowId) -> Result<Followed, Error> {
        match self.commit_one(self.now(), Action::CancelWorkflow(id)).await? {
            Done::WorkflowCancelled(followed) => Ok(*followed),
            _ => Err(answer::another_question()),
        }
    }

    /// A workflow and where its steps stand; nothing if there is none of that id.
    pub async fn workflow(&self, id: WorkflowId) -> Result<Option<WorkflowView>, Error> {
        let store = &self.shared.store;
        let Some(workflow) = self.workflow_alone(id).await? else { return Ok(None) };
        let steps = match store.entry(workflow::steps_key(id)).await? {
            Some(entry) => record::read_steps(&entry.written.body).map_err(|_| entry.key.damaged())?,
            // It was forgotten between the two looks.
            None => return Ok(None),
        };
        let mut jobs = BTreeMap::new();
        for step in to_look_up(&workflow) {
            if let Some(job) = store.get(id.job(step)).await? {
                jobs.insert(step, job);
            }
        }
        Ok(Some(WorkflowView { workflow, steps, jobs, replaced: Vec::new() }))
    }

    /// A workflow without its jobs and their names.
    pub(crate) async fn workflow_alone(&self, id: WorkflowId) -> Result<Option<Workflow>, Error> {
        let entry = self.shared.store.entry(workflow::key(id)).await?;
        entry.as_ref().map(readable).transpose()
    }

    /// Workflows, the oldest first: all of them, or those in one of some states.
    pub async fn workflows(
        &self,
        part: EntryPart,
        states: Option<&[WorkflowState]>,
    ) -> Result<WorkflowPage, Error> {
        let Found { items: workflows, next, total } = match states {
            None => self.list_entries(Register::Workflow, part, readable).await?,
            Some([]) => Found { items: Vec::new(), next: None, total: Some(0) },
            Some(wanted) => {
                let fits = |workflow: &Workflow| wanted.contains(&workflow.state);
                self.pick_entries(Register::Workflow, part, readable, fits).await?
            }
        };
        Ok(WorkflowPage { workflows, next, total })
    }
}

/// The job of a step says to which workflow it belongs: for everybody, and in its metadata for the Rust SDK.
fn member(mut draft: Draft, id: WorkflowId) -> Draft {
    let name = Json::from_trusted(&format!("\"{id}\""));
    draft.spec.workflow = Some(id);
    draft.spec.extra = draft.spec.extra.with_member("workflow_id", &name);
    draft.spec.meta = draft.spec.meta.with_member("workflow_id", &name);
    draft
}

/// First those of which the workflow does not know where they stand.
fn to_look_up(workflow: &Workflow) -> Vec<u32> {
    let of = |wanted: fn(Mark) -> bool| {
        (0..).zip(&workflow.marks).filter(move |(_, mark)| wanted(**mark)).map(|(step, _)| step)
    };
    let open = of(|mark| mark == Mark::Released);
    let failed = of(|mark| mark == Mark::Failed);
    let ended = of(|mark| matches!(mark, Mark::Completed | Mark::Cancelled));
    open.chain(failed).chain(ended).take(STEPS_SHOWN_IN_FULL).collect()
}

fn readable(entry: &Entry) -> Result<Workflow, Error> {
    let id = entry.key.name.parse().ok();
    let read = id.and_then(|id: WorkflowId| record::read(id, &entry.written.body).ok());
    read.ok_or_else(|| entry.key.damaged().into())
}

#[cfg(test)]
mod tests {
    use hapax_core::workflow::{Callback, Shape};

    use super::*;
    use crate::testing::{draft, rig};
    use crate::{EventKind, EventQuery};

    fn chain(count: usize) -> WorkflowDraft {
        let plan = Plan::of(Shape::Chain(vec![Shape::Job(draft()); count])).unwrap();
        WorkflowDraft { name: Some("nightly".into()), plan }
    }

    async fn start(rig: &crate::testing::Rig, draft: WorkflowDraft) -> Workflow {
        match rig.broker.start_workflow(draft, "request", None).await.unwrap() {
            Receipt::Fresh(view) => view.workflow,
            Receipt::Remembered(_) => panic!("no memo was given"),
        }
    }

    fn kinds(rig: &crate::testing::Rig) -> Vec<EventKind> {
        let page = rig.broker.events(&EventQuery { limit: 100, ..EventQuery::default() });
        page.events.iter().map(crate::Notice::kind).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_workflow_is_told_from_its_start_to_its_end() {
        let rig = rig();
        let id = start(&rig, chain(2)).await.id;
        let first = rig.take("default").await.unwrap();
        assert_eq!(first.spec.meta.as_str(), format!("{{\"workflow_id\":\"{id}\"}}"));
        rig.broker.acknowledge(first.id, hapax_core::Claimant::UNNAMED, None).await.unwrap();
        let second = rig.take("default").await.unwrap();
        rig.broker.acknowledge(second.id, hapax_core::Claimant::UNNAMED, None).await.unwrap();
        let told = [
            EventKind::WorkflowStarted,
            EventKind::JobEnqueued,
            EventKind::WorkerStarted,
            EventKind::JobStarted,
            EventKind::JobCompleted,
            EventKind::JobEnqueued,
            EventKind::WorkflowStepCompleted,
            EventKind::JobStarted,
            EventKind::JobCompleted,
            EventKind::WorkflowStepCompleted,
            EventKind::WorkflowCompleted,
        ];
        assert_eq!(kinds(&rig), told);
        let view = rig.broker.workflow(id).await.unwrap().unwrap();
        assert_eq!((view.workflow.state, view.jobs.len()), (WorkflowState::Completed, 2));
        assert_eq!(view.steps[1], ("step-1".into(), "email.send".into()));
        let part = EntryPart { limit: 10, ..EntryPart::default() };
        let running = rig.broker.workflows(part.clone(), Some(&[WorkflowState::Running])).await.unwrap();
        assert_eq!((running.workflows, running.total), (vec![], Some(0)));
        let page = rig.broker.workflows(part, None).await.unwrap();
        assert_eq!((page.workflows, page.total), (vec![view.workflow], Some(1)));
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_jobs_is_called_when_a_workflow_lets_one_go() {
        let rig = rig();
        start(&rig, chain(2)).await;
        let first = rig.take("default").await.unwrap();
        let waiting = rig.broker.clone();
        let fetch = crate::testing::fetch(&["default"], std::time::Duration::from_secs(20));
        let waiting = tokio::spawn(async move { waiting.fetch(fetch).await.unwrap() });
        tokio::task::yield_now().await;
        rig.broker.acknowledge(first.id, hapax_core::Claimant::UNNAMED, None).await.unwrap();
        assert_eq!(waiting.await.unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_and_a_cancelled_workflow_are_told() {
        let rig = rig();
        let id = start(&rig, chain(2)).await.id;
        let first = rig.take("default").await.unwrap();
        rig.broker.cancel(first.id).await.unwrap();
        assert_eq!(kinds(&rig).last(), Some(&EventKind::WorkflowFailed));
        assert!(rig.broker.cancel_workflow(id).await.is_err());
        let jobs = vec![Shape::Job(draft())];
        let batch = Shape::Batch { jobs, callbacks: vec![(Callback::OnSuccess, draft())] };
        let id = start(&rig, WorkflowDraft { name: None, plan: Plan::of(batch).unwrap() }).await.id;
        assert_eq!(rig.broker.cancel_workflow(id).await.unwrap().followers.len(), 2);
        assert_eq!(kinds(&rig).last(), Some(&EventKind::WorkflowCancelled));
        assert!(rig.broker.workflow(WorkflowId::new(rig.broker.now(), [9; 10])).await.unwrap().is_none());
    }
}
