//! Workflows: jobs that wait for each other.
//!
//! All jobs of a workflow are stored when it starts. Those that must wait are pending; when a job ends, the [`Workflow`]
//! says which of them may go, which never will and which are not needed. Chains, groups, batches and what is nested in
//! them become one flat list of steps ([`Plan`]), so there is one rule about order and not one for each form.

mod id;
mod mark;
mod plan;
mod run;
mod shape;

use crate::{State, Timestamp};

pub use id::{STEPS_MAX, WorkflowId};
pub use mark::Mark;
pub use plan::{Begun, CHAIN_MAX, DEPTH_MAX, HANDED_ON_MAX, LINKS_MAX, Plan, PlanError};
pub use run::{Input, Inputs, Needs, Role, Run, When};
pub use shape::{Callback, DagStep, Shape};

/// A started workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    /// Its name for ever, from which the ids of its jobs follow.
    pub id: WorkflowId,
    /// How it was written down.
    pub form: Form,
    /// What its client calls it.
    pub name: Option<Box<str>>,
    /// Where it stands.
    pub state: WorkflowState,
    /// What its steps wait for.
    pub runs: Vec<Run>,
    /// Where each step stands.
    pub marks: Vec<Mark>,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When its first job began, as far as that is known: from the first that ended.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// The form in which a workflow was written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One after the other.
    Chain,
    /// All at once.
    Group,
    /// All at once, and then the callbacks.
    Batch,
    /// Each after those that it names.
    Dag,
}

/// Where a workflow stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkflowState {
    /// Something is left to do.
    Running,
    /// Everything is done.
    Completed,
    /// Everything has ended, and not all of it well.
    Failed,
    /// Somebody called it off.
    Cancelled,
}

/// What has to happen to the job of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Nothing stands in its way any more.
    Release(u32),
    /// What it waits for went wrong.
    Cancel(u32),
    /// A callback that is not needed.
    Withdraw(u32),
}

impl Form {
    /// All forms.
    pub const ALL: [Form; 4] = [Form::Chain, Form::Group, Form::Batch, Form::Dag];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Form::Chain => "chain",
            Form::Group => "group",
            Form::Batch => "batch",
            Form::Dag => "dag",
        }
    }
}

impl WorkflowState {
    /// All states.
    pub const ALL: [WorkflowState; 4] =
        [WorkflowState::Running, WorkflowState::Completed, WorkflowState::Failed, WorkflowState::Cancelled];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            WorkflowState::Running => "running",
            WorkflowState::Completed => State::Completed.name(),
            WorkflowState::Failed => "failed",
            WorkflowState::Cancelled => State::Cancelled.name(),
        }
    }
}

impl Workflow {
    /// The run to which a step belongs.
    pub fn run_of(&self, step: u32) -> Option<&Run> {
        let at = self.runs.partition_point(|run| run.last < step);
        self.runs.get(at).filter(|run| run.first <= step)
    }

    /// Whether the step is a job of the workflow and not a callback.
    pub fn is_callback(&self, step: u32) -> bool {
        self.run_of(step).is_some_and(|run| run.role == Role::Callback)
    }

    /// How many jobs stand under this mark, callbacks aside.
    pub fn count(&self, mark: Mark) -> usize {
        let jobs = self.runs.iter().filter(|run| run.role == Role::Job);
        jobs.flat_map(Run::steps).filter(|step| self.mark(*step) == Some(mark)).count()
    }

    /// How many jobs there are, callbacks aside.
    pub fn jobs(&self) -> usize {
        self.runs.iter().filter(|run| run.role == Role::Job).map(|run| run.steps().len()).sum()
    }

    fn mark(&self, step: u32) -> Option<Mark> {
        self.marks.get(step as usize).copied()
    }

    fn set(&mut self, step: u32, mark: Mark) {
        if let Some(slot) = self.marks.get_mut(step as usize) {
            *slot = mark;
        }
    }

    /// Lets everything go that waits for nothing.
    pub(crate) fn start(&mut self) -> Vec<Deed> {
        let all: Vec<u32> = self.runs.iter().flat_map(Run::steps).collect();
        self.settle(all)
    }

    /// The job of a step has ended, well or not. Nothing follows if that was known, or if the workflow has ended.
    #[must_use]
    pub fn ended(
        &mut self,
        step: u32,
        mark: Mark,
        started_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Vec<Deed> {
        if self.mark(step).is_none_or(Mark::is_end) {
            return Vec::new();
        }
        self.set(step, mark);
        // What still runs in a workflow that was called off may begin anew after its end.
        if self.ended_at.is_none() {
            self.started_at = self.started_at.or(started_at);
        }
        if self.state != WorkflowState::Running {
            return Vec::new();
        }
        let deeds = self.settle(self.waiting_for(step));
        self.end_if_over(now);
        deeds
    }

    /// Calls it off: what waits will not run, what runs may end. Nothing if it has ended.
    #[must_use]
    pub fn cancel(&mut self, now: Timestamp) -> Option<Vec<Deed>> {
        if self.state != WorkflowState::Running {
            return None;
        }
        self.state = WorkflowState::Cancelled;
        self.ended_at = Some(now);
        let open = self
            .runs
            .iter()
            .flat_map(Run::steps)
            .filter(|step| self.mark(*step).is_some_and(|mark| !mark.is_end()));
        Some(open.map(Deed::Cancel).collect::<Vec<Deed>>())
    }

    /// The job of a step of a cancelled workflow will not run.
    pub fn called_off(&mut self, step: u32) {
        self.set(step, Mark::Cancelled);
    }

    /// The steps that wait for this one.
    fn waiting_for(&self, step: u32) -> Vec<u32> {
        let waiting = |other: &u32| self.mark(*other) == Some(Mark::Waiting);
        self.runs.iter().flat_map(|run| run.steps_after(step)).filter(waiting).collect()
    }

    /// Looks at steps that wait, and at those whose turn comes by that.
    fn settle(&mut self, mut open: Vec<u32>) -> Vec<Deed> {
        let mut deeds = Vec::new();
        while let Some(step) = open.pop() {
            let Some(mark) = self.outlook(step) else { continue };
            self.set(step, mark);
            deeds.push(match mark {
                Mark::Released => Deed::Release(step),
                Mark::Skipped => Deed::Withdraw(step),
                Mark::Waiting | Mark::Completed | Mark::Failed | Mark::Cancelled => Deed::Cancel(step),
            });
            if mark.is_end() {
                open.extend(self.waiting_for(step));
            }
        }
        deeds.sort_unstable_by_key(|deed| deed.step());
        deeds
    }

    /// What becomes of a step that waits; nothing if it has to wait on.
    fn outlook(&self, step: u32) -> Option<Mark> {
        let run = self.run_of(step).filter(|_| self.mark(step) == Some(Mark::Waiting))?;
        let needed = || run.needs.of(step).filter_map(|needed| self.mark(needed));
        let all_ended = || needed().all(Mark::is_end);
        // A callback that was not needed is done with for the chain around it. Whoever names it in a graph waits for its end.
        let is_named = self.form == Form::Dag;
        let was_skipped = || is_named && needed().any(|mark| mark == Mark::Skipped);
        let all_well = || needed().all(Mark::is_well) && !was_skipped();
        let behind = || run.behind.iter().flat_map(|(first, last)| *first..=*last);
        let never_began = || behind().filter_map(|before| self.mark(before)).any(Mark::is_ill);
        match run.when {
            When::AllWell if all_well() => Some(Mark::Released),
            When::AllWell if needed().any(Mark::is_ill) => Some(Mark::Cancelled),
            When::AllWell if was_skipped() => Some(Mark::Skipped),
            When::AllWell => None,
            When::Success | When::Failure | When::End if !all_ended() => None,
            When::Success | When::Failure | When::End if never_began() => Some(Mark::Cancelled),
            When::End => Some(Mark::Released),
            When::Success if all_well() => Some(Mark::Released),
            When::Failure if needed().any(Mark::is_ill) => Some(Mark::Released),
            When::Success | When::Failure => Some(Mark::Skipped),
        }
    }

    fn end_if_over(&mut self, now: Timestamp) {
        if !self.marks.iter().all(|mark| mark.is_end()) {
            return;
        }
        // Whoever has callbacks deals with failures there: then only theirs count.
        let counting = self.runs.iter().filter(|run| !run.answered).flat_map(Run::steps);
        let mut ill = counting.filter(|step| self.mark(*step).is_some_and(Mark::is_ill));
        self.state = if ill.next().is_some() { WorkflowState::Failed } else { WorkflowState::Completed };
        self.ended_at = Some(now);
    }
}

impl Deed {
    /// Whose job it concerns.
    pub const fn step(self) -> u32 {
        match self {
            Deed::Release(step) | Deed::Cancel(step) | Deed::Withdraw(step) => step,
        }
    }
}

#[cfg(test)]
mod tests;
