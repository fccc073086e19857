//! Workflows in a store: what the end of a job means for others, in the same commit.

use hapax_core::workflow::{Begun, Deed, Mark, Plan, Workflow, WorkflowId, WorkflowState};
use hapax_core::{Admission, Bound, Event, Incoming, Job, Refusal, Rules, State, Timestamp, kept_on};

use crate::parent_results::Parcels;
use crate::record::workflow as record;
use crate::{Change, Entry, EntryKey, Ground, Register, Written};

/// A workflow that is to start.
#[derive(Debug, Clone)]
pub struct NewWorkflow {
    /// Its id, from which the ids of its jobs follow.
    pub id: WorkflowId,
    /// What its client calls it.
    pub name: Option<Box<str>>,
    /// Its steps, with their jobs.
    pub plan: Plan<Incoming>,
}

/// A workflow that has started.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    /// Where it stands.
    pub workflow: Workflow,
    /// The names and job types of its steps.
    pub steps: Vec<(Box<str>, Box<str>)>,
    /// Its jobs, and what became of others by them.
    pub admissions: Vec<Admission>,
}

/// What the end of a job, or somebody's wish, led to in a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Followed {
    /// Where the workflow stands since.
    pub workflow: Workflow,
    /// Its jobs that changed by that, with the states they were in.
    pub followers: Vec<(State, Job)>,
}

/// The entry of a workflow.
pub fn key(id: WorkflowId) -> EntryKey {
    EntryKey::new(Register::Workflow, id.to_string())
}

/// The entry with the names of its steps.
pub fn steps_key(id: WorkflowId) -> EntryKey {
    EntryKey::new(Register::Steps, id.to_string())
}

/// Stores all jobs of a workflow. One that cannot be stored refuses the whole, and the caller takes back what is there.
pub fn start<G: Ground>(
    ground: &mut G,
    new: NewWorkflow,
    now: Timestamp,
) -> Result<Result<Started, Refusal>, G::Trouble> {
    let NewWorkflow { id, name, plan } = new;
    let Begun { workflow, deeds, jobs } = plan.start(id, name, now);
    let names: Vec<(Box<str>, Box<str>)> =
        jobs.iter().map(|(name, job)| (name.clone(), job.spec.kind.as_str().into())).collect();
    let mut released = vec![false; jobs.len()];
    for deed in deeds {
        released[deed.step() as usize] = matches!(deed, Deed::Release(_));
    }
    let mut admissions: Vec<Admission> = Vec::with_capacity(jobs.len());
    for (index, ((_, mut incoming), released)) in jobs.into_iter().zip(released).enumerate() {
        incoming.pending |= !released;
        let bound = incoming.bound;
        let admitted = ground.admit(incoming, now)?;
        let refused = match &admitted {
            Ok(admission) => admission.refusal().or_else(|| ends_own_step(admission, id, bound)),
            Err(refusal) => Some(refusal.clone()),
        };
        if let Some(refusal) = refused {
            return Ok(Err(refusal.in_workflow(index, &admissions)));
        }
        admissions.extend(admitted);
    }
    save(ground, &workflow)?;
    let body = record::steps(&names).into();
    ground.put_entry(steps_key(id), Some(Written { body, due_at: None }))?;
    Ok(Ok(Started { workflow, steps: names, admissions }))
}

/// A step that takes the place of an earlier one of its own workflow would leave a workflow that cannot go on.
fn ends_own_step(admission: &Admission, id: WorkflowId, bound: Option<Bound>) -> Option<Refusal> {
    let is_own = |job: &&Job| job.spec.workflow == Some(id) && job.state().is_terminal();
    let ended = admission.changed.iter().map(|(_, job)| job).find(is_own)?;
    Some(match (bound, admission.job.key) {
        (Some(Bound { max, .. }), _) if ended.state() == State::Discarded => {
            Refusal::QueueFull { queue: admission.job.spec.queue.clone(), depth: max, max }
        }
        (_, Some(key)) => Refusal::Duplicate { existing: ended.id, state: ended.state(), key },
        (_, None) => Refusal::IdTaken { id: ended.id, state: ended.state() },
    })
}

/// What follows from a change of a job for its workflow; nothing if it has none or has not ended by it.
pub fn follow<G: Ground>(
    ground: &mut G,
    before: State,
    job: &Job,
    now: Timestamp,
) -> Result<Option<Followed>, G::Trouble> {
    let mark = match job.state() {
        State::Completed => Mark::Completed,
        State::Cancelled => Mark::Cancelled,
        State::Discarded => Mark::Failed,
        State::Scheduled | State::Available | State::Pending | State::Active | State::Retryable => {
            return Ok(None);
        }
    };
    let Some((id, step)) = place(job).filter(|_| !before.is_terminal()) else { return Ok(None) };
    let Some(mut workflow) = load(ground, id)? else { return Ok(None) };
    let deeds = workflow.ended(step, mark, job.started_at, now);
    save(ground, &workflow)?;
    let followers = carry_out(ground, &workflow, deeds, now)?;
    Ok(Some(Followed { workflow, followers }))
}

/// Calls a workflow off: what waits will not run, what runs may end.
pub fn cancel<G: Ground>(
    ground: &mut G,
    id: WorkflowId,
    now: Timestamp,
) -> Result<Result<Followed, Refusal>, G::Trouble> {
    let Some(mut workflow) = load(ground, id)? else { return Ok(Err(key(id).missing())) };
    let Some(deeds) = workflow.cancel(now) else {
        return Ok(Err(Refusal::WorkflowEnded { id, state: workflow.state }));
    };
    let mut waiting = Vec::new();
    for deed in deeds {
        match ground.job(id.job(deed.step()))? {
            // What runs goes on until it ends, as often as it takes. What has ended in a transaction of a user is what it is, and
            // is seen to when its note is read.
            Some(job) if job.state() == State::Active || job.state().is_terminal() => {}
            Some(_) => waiting.push(deed),
            None => {}
        }
    }
    for deed in &waiting {
        workflow.called_off(deed.step());
    }
    save(ground, &workflow)?;
    let followers = carry_out(ground, &workflow, waiting, now)?;
    Ok(Ok(Followed { workflow, followers }))
}

/// Keeps an ended step whose time is over, as long as its workflow goes on: others may still want its result. Whether it did.
pub fn keep<G: Ground>(ground: &mut G, job: &Job, now: Timestamp) -> Result<bool, G::Trouble> {
    let Some((id, _)) = place(job).filter(|_| job.state().is_terminal()) else { return Ok(false) };
    let goes_on = load(ground, id)?.is_some_and(|workflow| workflow.state == WorkflowState::Running);
    if goes_on && let Some(kept) = kept_on(job, now) {
        ground.put(kept, now)?;
        return Ok(true);
    }
    Ok(false)
}

/// A workflow that ended long ago is forgotten.
pub fn forget<G: Ground>(ground: &mut G, id: WorkflowId) -> Result<(), G::Trouble> {
    ground.put_entry(key(id), None)?;
    ground.put_entry(steps_key(id), None)
}

/// Whether an entry that comes from elsewhere says what it should: workflows are read in places that cannot refuse them.
pub fn is_readable(entry: &Entry) -> bool {
    let body = &entry.written.body;
    match entry.key.register {
        Register::Workflow => entry.key.name.parse().is_ok_and(|id| record::read(id, body).is_ok()),
        Register::Steps => record::read_steps(body).is_ok(),
        Register::Cron => crate::record::cron::read(&entry.key.name, body).is_ok(),
        Register::Queue => crate::record::queue::read(body).is_ok(),
        Register::Limit => crate::record::limit::read(body).is_ok(),
        Register::Webhook | Register::Courier | Register::Delivery | Register::Schema | Register::Pool => {
            true
        }
    }
}

/// The workflow of which a job is a step, and which one.
fn place(job: &Job) -> Option<(WorkflowId, u32)> {
    WorkflowId::of_job(job.id).filter(|(id, _)| job.spec.workflow == Some(*id))
}

fn load<G: Ground>(ground: &mut G, id: WorkflowId) -> Result<Option<Workflow>, G::Trouble> {
    let key = key(id);
    let Some(entry) = ground.entry(&key)? else { return Ok(None) };
    record::read(id, &entry.written.body).map(Some).map_err(|_| ground.unreadable(&key))
}

fn save<G: Ground>(ground: &mut G, workflow: &Workflow) -> Result<(), G::Trouble> {
    let body = record::write(workflow).into();
    let due_at = kept_until(workflow, ground.rules());
    ground.put_entry(key(workflow.id), Some(Written { body, due_at }))
}

/// As long as a job that ended like it.
fn kept_until(workflow: &Workflow, rules: &Rules) -> Option<Timestamp> {
    let state = match workflow.state {
        WorkflowState::Running => return None,
        WorkflowState::Completed => State::Completed,
        WorkflowState::Failed => State::Discarded,
        WorkflowState::Cancelled => State::Cancelled,
    };
    Some(workflow.ended_at? + rules.retention.of(state)?)
}

fn carry_out<G: Ground>(
    ground: &mut G,
    workflow: &Workflow,
    deeds: Vec<Deed>,
    now: Timestamp,
) -> Result<Vec<(State, Job)>, G::Trouble> {
    let mut followers = Vec::new();
    let mut parcels = Parcels::of(deeds.iter().filter(|deed| matches!(deed, Deed::Release(_))).count());
    for deed in deeds {
        let event = match deed {
            Deed::Release(step) => Event::LetGo { parent_results: parcels.pack(ground, workflow, step)? },
            Deed::Cancel(_) => Event::Cancel,
            Deed::Withdraw(_) => Event::Withdraw,
        };
        match ground.step_alone(workflow.id.job(deed.step()), event, now)? {
            Ok(Change::To { before, job, followers: others, said: _, workflow: _ }) => {
                followers.push((before, job));
                followers.extend(others);
            }
            Ok(Change::Removed { job: _, followers: others }) => followers.extend(others),
            // A job that somebody called off by hand is where it is.
            Err(_) => {}
        }
    }
    Ok(followers)
}
