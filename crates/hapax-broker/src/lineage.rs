//! From whom a job comes and who comes from it, as far as that is stored with jobs, workflows and recurring jobs.

use hapax_core::json::{self, Limits};
use hapax_core::workflow::{Needs, Run, Workflow, WorkflowId};
use hapax_core::{AGENT_MEMBER, Job, JobId, Json, TenantId};

use crate::{Broker, Error};

/// Most parents or children that are named.
pub const RELATIVES_MAX: usize = 100;
/// How many ancestors outside of a workflow are looked up on the way to the first.
const ANCESTORS_MAX: usize = 16;

/// From whom a job comes and who comes from it.
#[derive(Debug, Clone)]
pub struct Lineage {
    /// The job.
    pub job: Job,
    /// The jobs whose end it waits or waited for, or from which it branched off.
    pub parents: Relatives,
    /// The steps of its workflow that wait or waited for it. Nobody keeps a list of other children.
    pub children: Relatives,
    /// The first of its ancestors, if that is known.
    pub root: Option<JobId>,
    /// The recurring job that made it.
    pub cron: Option<Box<str>>,
}

/// Jobs that are named, and how many are not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relatives {
    /// Their ids.
    pub ids: Vec<JobId>,
    /// How many more there are.
    pub omitted: usize,
}

impl FromIterator<JobId> for Relatives {
    fn from_iter<I: IntoIterator<Item = JobId>>(all: I) -> Relatives {
        let mut all = all.into_iter();
        let ids = all.by_ref().take(RELATIVES_MAX).collect();
        Relatives { ids, omitted: all.count() }
    }
}

impl Broker {
    /// From whom a job comes and who comes from it.
    pub async fn lineage(&self, id: JobId) -> Result<Lineage, Error> {
        let job = self.job(id).await?;
        let cron = text_in(&job.spec.meta, &["cron_name"]);
        if let Some((workflow, step)) =
            WorkflowId::of_job(id).filter(|(of, _)| job.spec.workflow == Some(*of))
            && let Some(of) = self.workflow_alone(workflow).await?
        {
            let name = |step: u32| workflow.job(step);
            return Ok(Lineage {
                parents: parents(&of, step).map(name).collect(),
                children: children(&of, step).map(name).collect(),
                root: Some(name(first_ancestor(&of, step))),
                job,
                cron,
            });
        }
        // Whom it waits for in a line is no ancestor, but what its past depends on.
        let parent = ancestor(&job).or_else(|| job.waits_for());
        let root = self.first_of(&job).await?;
        Ok(Lineage { parents: parent.into_iter().collect(), children: Relatives::default(), root, job, cron })
    }

    /// The first in the line of those from which a job comes; nothing if one of them is forgotten, belongs to another tenant, or
    /// too many lie between.
    async fn first_of(&self, job: &Job) -> Result<Option<JobId>, Error> {
        if let Some(root) = named(&job.spec.extra, "root_id") {
            return Ok(Some(root));
        }
        let mut first = job.clone();
        for _ in 0..ANCESTORS_MAX {
            let Some(id) = ancestor(&first) else { return Ok(Some(first.id)) };
            let of_the_same = |other: &Job| TenantId::of(&other.spec.meta) == TenantId::of(&job.spec.meta);
            match self.shared.store.get(id).await?.filter(of_the_same) {
                Some(other) => first = other,
                None => return Ok(None),
            }
        }
        Ok(None)
    }
}

/// The job from which one comes outside of workflows: whom its client named, or from whom it branched off.
fn ancestor(job: &Job) -> Option<JobId> {
    let branch = text_in(&job.spec.extra, &[AGENT_MEMBER, "branch", "of"]);
    let branched_from = || branch.and_then(|id| id.parse().ok());
    named(&job.spec.extra, "parent_id").or_else(branched_from)
}

fn named(extra: &Json, member: &str) -> Option<JobId> {
    text_in(extra, &[member])?.parse().ok()
}

/// The text at the end of a path through objects.
fn text_in(json: &Json, path: &[&str]) -> Option<Box<str>> {
    let limits = Limits { depth_max: Limits::DEPTH_CEILING };
    let node = json::read(json.as_str(), limits).ok()?;
    let mut at = &node;
    for name in path {
        at = at.get(name)?;
    }
    at.as_str().map(Box::from)
}

fn parents(workflow: &Workflow, step: u32) -> impl Iterator<Item = u32> + '_ {
    workflow.run_of(step).into_iter().flat_map(move |run| run.needs.of(step))
}

fn children(workflow: &Workflow, step: u32) -> impl Iterator<Item = u32> + '_ {
    workflow.runs.iter().flat_map(move |run| run.steps().filter(move |other| waits_for(run, *other, step)))
}

fn waits_for(run: &Run, step: u32, other: u32) -> bool {
    match &run.needs {
        Needs::Nothing => false,
        Needs::Previous => step.checked_sub(1) == Some(other),
        Needs::Ranges(ranges) => ranges.iter().any(|(first, last)| (*first..=*last).contains(&other)),
    }
}

/// By the first parent of each. Nobody waits in a circle, so this ends; it would also end if somebody did.
fn first_ancestor(workflow: &Workflow, step: u32) -> u32 {
    let line = std::iter::successors(Some(step), |step| parents(workflow, *step).next());
    line.take(workflow.marks.len()).last().unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use hapax_core::workflow::{DagStep, Plan, Shape};

    use super::*;
    use crate::testing::{draft, rig};
    use crate::{Fork, Receipt, WorkflowDraft};

    #[tokio::test(start_paused = true)]
    async fn a_branch_names_the_job_from_which_it_branched_off_and_the_first_of_the_line() {
        let rig = rig();
        let first = rig.enqueue(draft()).await.id;
        let fork = || Fork { at_turn: 1, name: None };
        let second = rig.broker.fork(first, fork(), "r").await.unwrap().job.id;
        let third = rig.broker.fork(second, fork(), "r").await.unwrap().job.id;
        let lineage = rig.broker.lineage(third).await.unwrap();
        assert_eq!((lineage.parents.ids, lineage.root), (vec![second], Some(first)));
        let alone = rig.broker.lineage(first).await.unwrap();
        assert_eq!((alone.parents.ids, alone.root), (vec![], Some(first)));
    }

    #[tokio::test(start_paused = true)]
    async fn the_ancestors_of_another_tenant_are_not_told() {
        let rig = rig();
        let owned = |tenant: &str, parent: Option<JobId>| {
            let mut draft = draft();
            draft.spec.meta = Json::from_trusted(&format!(r#"{{"tenant_id":"{tenant}"}}"#));
            if let Some(parent) = parent {
                draft.spec.extra = Json::from_trusted(&format!(r#"{{"parent_id":"{parent}"}}"#));
            }
            draft
        };
        let first = rig.enqueue(owned("bob", None)).await.id;
        let theirs = rig.enqueue(owned("bob", Some(first))).await.id;
        let foreign = rig.enqueue(owned("alice", Some(theirs))).await.id;
        assert_eq!(rig.broker.lineage(theirs).await.unwrap().root, Some(first));
        assert_eq!(rig.broker.lineage(foreign).await.unwrap().root, None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_step_of_a_graph_may_be_written_last() {
        let rig = rig();
        let step = |name: &str, needs: Option<&str>| DagStep {
            name: name.into(),
            needs: needs.into_iter().map(Box::from).collect(),
            callback: None,
            job: draft(),
        };
        let plan = Plan::of(Shape::Dag(vec![step("c", Some("b")), step("b", Some("a")), step("a", None)]));
        let draft = WorkflowDraft { name: None, plan: plan.unwrap() };
        let Receipt::Fresh(view) = rig.broker.start_workflow(draft, "request", None).await.unwrap() else {
            panic!("no memo was given")
        };
        let job = |step| view.workflow.id.job(step);
        let lineage = rig.broker.lineage(job(0)).await.unwrap();
        assert_eq!((lineage.parents.ids, lineage.root), (vec![job(1)], Some(job(2))));
    }

    #[test]
    fn of_many_relatives_the_first_are_named_and_the_others_counted() {
        let ids = (0..RELATIVES_MAX + 5).map(|_| JobId::new(hapax_core::Timestamp::EPOCH, [1; 10]));
        let relatives: Relatives = ids.collect();
        assert_eq!((relatives.ids.len(), relatives.omitted), (RELATIVES_MAX, 5));
    }
}
