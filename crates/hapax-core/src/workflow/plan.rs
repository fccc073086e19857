//! From the form of a workflow to one flat list of steps.

mod bounds;
mod dag;

use super::run::{Input, Inputs, Needs, Role, Run, When};
use super::{Callback, Deed, Form, Mark, STEPS_MAX, Shape, Workflow, WorkflowId, WorkflowState};
use crate::Timestamp;

pub use bounds::{HANDED_ON_MAX, LINKS_MAX};

/// Most steps of one chain. Each gets the results of all before it.
pub const CHAIN_MAX: usize = 1000;
/// How deep workflows may be nested.
pub const DEPTH_MAX: usize = 8;
/// How many steps of a circle are named.
const CIRCLE_SHOWN_MAX: usize = 10;

/// A flat workflow: what each step waits for, and its job.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan<J> {
    /// How it was written down.
    pub form: Form,
    /// What the steps wait for.
    pub runs: Vec<Run>,
    /// The job of each step.
    pub jobs: Vec<J>,
    /// The name of each step, once each.
    pub names: Vec<Box<str>>,
}

/// A workflow at its start.
#[derive(Debug)]
pub struct Begun<J> {
    /// The workflow.
    pub workflow: Workflow,
    /// What has to happen first.
    pub deeds: Vec<Deed>,
    /// The jobs, with the names of their steps.
    pub jobs: Vec<(Box<str>, J)>,
}

/// Why there can be no such workflow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is nothing to do.
    #[error("{0} has nothing to do: at least one job is needed")]
    Empty(Box<str>),
    /// A batch without callbacks.
    #[error(
        "{0} has no callback: a batch needs on_complete, on_success or on_failure; without one it is a group"
    )]
    NoCallback(Box<str>),
    /// Too many steps.
    #[error("a workflow has at most {STEPS_MAX} steps")]
    TooManySteps,
    /// Too many steps in one chain.
    #[error("{0} is longer than {CHAIN_MAX} steps, the most that a chain has")]
    ChainTooLong(Box<str>),
    /// Nested too deep.
    #[error("{0} is nested more than {DEPTH_MAX} levels deep")]
    TooDeep(Box<str>),
    /// Two steps of one name.
    #[error("two steps have the id \"{name}\"; each needs its own")]
    Twice {
        /// The name.
        name: Box<str>,
        /// Where the second of them stands.
        index: usize,
    },
    /// A step waits for one that is not there.
    #[error("step \"{step}\" depends on \"{needs}\", and there is no such step")]
    UnknownStep {
        /// Who waits.
        step: Box<str>,
        /// For whom.
        needs: Box<str>,
        /// Where the one stands who waits.
        index: usize,
    },
    /// Steps wait for each other.
    #[error("these steps wait for each other, so none of them could start: {}", circle(.names))]
    Cycle {
        /// Their names, the first once more at the end.
        names: Vec<Box<str>>,
        /// Where the first of them stands.
        index: usize,
    },
    /// A callback that waits for nobody.
    #[error("step \"{name}\" is a callback and names no step in depends_on whose end it could tell of")]
    CallbackOfNobody {
        /// Its name.
        name: Box<str>,
        /// Where it stands.
        index: usize,
    },
    /// Too many links between steps.
    #[error(
        "the steps have more than {LINKS_MAX} links between them, the most that a workflow has: let many wait for one step in between"
    )]
    TooManyLinks,
    /// Too many results at a time.
    #[error(
        "the end of one step would hand on {0} results, and at most {HANDED_ON_MAX} are: let one step in between sum them up"
    )]
    TooMuchHandedOn(usize),
}

impl PlanError {
    /// Which of the named steps it is about, and which of its members.
    pub fn at(&self) -> Option<(usize, &'static str)> {
        match self {
            PlanError::Twice { index, .. } => Some((*index, "id")),
            PlanError::UnknownStep { index, .. }
            | PlanError::Cycle { index, .. }
            | PlanError::CallbackOfNobody { index, .. } => Some((*index, "depends_on")),
            PlanError::Empty(_)
            | PlanError::NoCallback(_)
            | PlanError::TooManySteps
            | PlanError::ChainTooLong(_)
            | PlanError::TooDeep(_)
            | PlanError::TooManyLinks
            | PlanError::TooMuchHandedOn(_) => None,
        }
    }
}

fn circle(names: &[Box<str>]) -> String {
    match names.get(..CIRCLE_SHOWN_MAX) {
        Some(first) if names.len() > CIRCLE_SHOWN_MAX + 1 => {
            format!("{} -> ... ({} steps)", first.join(" -> "), names.len() - 1)
        }
        _ => names.join(" -> "),
    }
}

impl<J> Plan<J> {
    /// The plan of a workflow.
    pub fn of(shape: Shape<J>) -> Result<Plan<J>, PlanError> {
        let form = match &shape {
            Shape::Job(_) | Shape::Chain(_) => Form::Chain,
            Shape::Group(_) => Form::Group,
            Shape::Batch { .. } => Form::Batch,
            Shape::Dag(_) => Form::Dag,
        };
        if let Shape::Dag(steps) = shape {
            return dag::plan(steps);
        }
        let mut builder = Builder::new();
        builder.place(shape, &Position::first())?;
        let Builder { runs, jobs, names, links: _ } = builder;
        bounds::check(&runs, jobs.len())?;
        Ok(Plan { form, runs, jobs, names })
    }

    /// Starts it.
    pub fn start(self, id: WorkflowId, name: Option<Box<str>>, now: Timestamp) -> Begun<J> {
        let Plan { form, runs, jobs, names } = self;
        let marks = vec![Mark::Waiting; jobs.len()];
        let state = WorkflowState::Running;
        let mut workflow = Workflow {
            id,
            form,
            name,
            state,
            runs,
            marks,
            created_at: now,
            started_at: None,
            ended_at: None,
        };
        let deeds = workflow.start();
        Begun { workflow, deeds, jobs: names.into_iter().zip(jobs).collect() }
    }
}

struct Builder<J> {
    runs: Vec<Run>,
    jobs: Vec<J>,
    names: Vec<Box<str>>,
    /// Those of all runs so far. A short text can ask for more of them than there is memory.
    links: usize,
}

/// Where in the workflow something stands.
#[derive(Clone)]
struct Position {
    /// Its name.
    path: String,
    /// What has to end well before it.
    needs: Vec<(u32, u32)>,
    inputs: Inputs,
    answered: bool,
    depth: usize,
}

/// What was placed: the steps at whose end it has ended, and the result that it has for others.
struct Placed {
    exits: Vec<(u32, u32)>,
    result: Input,
}

impl Position {
    fn first() -> Position {
        Position {
            path: String::new(),
            needs: Vec::new(),
            inputs: Inputs::Nothing,
            answered: false,
            depth: 0,
        }
    }

    fn inner(&self, part: &str, index: usize) -> Position {
        let path = if self.path.is_empty() {
            format!("{part}-{index}")
        } else {
            format!("{}.{part}-{index}", self.path)
        };
        Position { path, depth: self.depth + 1, ..self.clone() }
    }

    fn title(&self, what: &str) -> Box<str> {
        if self.path.is_empty() { format!("the {what}") } else { format!("the {what} at {}", self.path) }
            .into()
    }
}

impl<J> Builder<J> {
    fn new() -> Builder<J> {
        Builder { runs: Vec::new(), jobs: Vec::new(), names: Vec::new(), links: 0 }
    }

    fn place(&mut self, shape: Shape<J>, at: &Position) -> Result<Placed, PlanError> {
        if at.depth > DEPTH_MAX {
            return Err(PlanError::TooDeep(at.title("workflow")));
        }
        match shape {
            Shape::Job(job) => self.place_job(job, at, needs_of(&at.needs), When::AllWell, Role::Job),
            Shape::Chain(steps) => self.place_chain(steps, at),
            Shape::Group(jobs) => self.place_group(jobs, at, "group"),
            Shape::Batch { jobs, callbacks } => self.place_batch(jobs, callbacks, at),
            // A reader of nested forms never makes one.
            Shape::Dag(_) => Err(PlanError::Empty(at.title("graph"))),
        }
    }

    fn place_job(
        &mut self,
        job: J,
        at: &Position,
        needs: Needs,
        when: When,
        role: Role,
    ) -> Result<Placed, PlanError> {
        if self.jobs.len() >= STEPS_MAX {
            return Err(PlanError::TooManySteps);
        }
        let step = u32::try_from(self.jobs.len()).unwrap_or(u32::MAX);
        self.jobs.push(job);
        self.names.push(at.path.as_str().into());
        let (answered, inputs) = (at.answered, at.inputs.clone());
        let behind = match role {
            Role::Job => Vec::new(),
            Role::Callback => at.needs.clone(),
        };
        let run = Run { first: step, last: step, needs, when, behind, role, answered, inputs };
        let links = bounds::links(&run);
        if add(&mut self.runs, run) {
            self.links += links;
        }
        if self.links > LINKS_MAX {
            return Err(PlanError::TooManyLinks);
        }
        Ok(Placed { exits: vec![(step, step)], result: Input::Of(step) })
    }

    fn place_chain(&mut self, steps: Vec<Shape<J>>, at: &Position) -> Result<Placed, PlanError> {
        if steps.len() > CHAIN_MAX {
            return Err(PlanError::ChainTooLong(at.title("chain")));
        }
        let mut results: Vec<Input> = Vec::new();
        let mut exits = at.needs.clone();
        for (index, shape) in steps.into_iter().enumerate() {
            let mut here = at.inner("step", index);
            here.needs = exits;
            if index > 0 {
                here.inputs = match shape {
                    Shape::Job(_) => chain_inputs(&results),
                    // The steps of what is nested here get the same, however many there are.
                    Shape::Chain(_) | Shape::Group(_) | Shape::Batch { .. } | Shape::Dag(_) => {
                        entries(&list(results.clone()))
                    }
                };
            }
            let placed = match shape {
                Shape::Job(job) if index > 0 => {
                    let needs = self.needs_previous(&here.needs);
                    self.place_job(job, &here, needs, When::AllWell, Role::Job)?
                }
                shape @ (Shape::Job(_)
                | Shape::Chain(_)
                | Shape::Group(_)
                | Shape::Batch { .. }
                | Shape::Dag(_)) => self.place(shape, &here)?,
            };
            results.push(placed.result);
            exits = placed.exits;
        }
        if results.is_empty() {
            return Err(PlanError::Empty(at.title("chain")));
        }
        Ok(Placed { exits, result: list(results) })
    }

    /// A step that waits for the one before it says so in a way that is the same for all of its chain.
    fn needs_previous(&self, needs: &[(u32, u32)]) -> Needs {
        let next = u32::try_from(self.jobs.len()).unwrap_or(u32::MAX);
        match needs {
            [(first, last)] if first == last && last + 1 == next => Needs::Previous,
            _ => needs_of(needs),
        }
    }

    fn place_group(&mut self, jobs: Vec<Shape<J>>, at: &Position, what: &str) -> Result<Placed, PlanError> {
        let mut results = Vec::new();
        let mut exits: Vec<(u32, u32)> = Vec::new();
        for (index, shape) in jobs.into_iter().enumerate() {
            let placed = self.place(shape, &at.inner("job", index))?;
            for range in placed.exits {
                join(&mut exits, range);
            }
            results.push(placed.result);
        }
        if results.is_empty() {
            return Err(PlanError::Empty(at.title(what)));
        }
        Ok(Placed { exits, result: list(results) })
    }

    fn place_batch(
        &mut self,
        jobs: Vec<Shape<J>>,
        callbacks: Vec<(Callback, J)>,
        at: &Position,
    ) -> Result<Placed, PlanError> {
        if callbacks.is_empty() {
            return Err(PlanError::NoCallback(at.title("batch")));
        }
        let answered = Position { answered: true, ..at.clone() };
        let placed = self.place_group(jobs, &answered, "batch")?;
        let mut exits = Vec::new();
        for (callback, job) in callbacks {
            let name = callback.name();
            let path = if at.path.is_empty() { name.to_owned() } else { format!("{}.{name}", at.path) };
            let inputs = entries(&placed.result);
            let here = Position { path, inputs, ..at.clone() };
            let ended =
                self.place_job(job, &here, needs_of(&placed.exits), callback.when(), Role::Callback)?;
            ended.exits.into_iter().for_each(|range| join(&mut exits, range));
        }
        Ok(Placed { exits, result: placed.result })
    }
}

fn needs_of(ranges: &[(u32, u32)]) -> Needs {
    if ranges.is_empty() { Needs::Nothing } else { Needs::Ranges(ranges.to_vec()) }
}

/// What a step of a chain gets: one entry for each step before it.
fn chain_inputs(results: &[Input]) -> Inputs {
    let plain = results.iter().map(|result| if let Input::Of(step) = result { Some(*step) } else { None });
    match plain.collect::<Option<Vec<u32>>>() {
        Some(steps) if steps.windows(2).all(|pair| pair[0] + 1 == pair[1]) => Inputs::Since(steps[0]),
        _ => Inputs::List(results.to_vec()),
    }
}

/// What a step gets of a list of results: each as an entry.
fn entries(result: &Input) -> Inputs {
    match result {
        Input::Range(first, last) => Inputs::Range(*first, *last),
        Input::List(inputs) => Inputs::List(inputs.clone()),
        Input::Of(_) => Inputs::List(vec![result.clone()]),
    }
}

/// A list of results, short if they are those of steps in a row.
fn list(results: Vec<Input>) -> Input {
    let mut range: Option<(u32, u32)> = None;
    for result in &results {
        range = match (result, range) {
            (Input::Of(step), None) => Some((*step, *step)),
            (Input::Of(step), Some((first, last))) if last + 1 == *step => Some((first, *step)),
            _ => return Input::List(results),
        };
    }
    range.map_or(Input::List(Vec::new()), |(first, last)| Input::Range(first, last))
}

/// Adds a range to others that lie before it.
fn join(ranges: &mut Vec<(u32, u32)>, range: (u32, u32)) {
    match ranges.last_mut() {
        Some((_, last)) if *last + 1 == range.0 => *last = range.1,
        _ => ranges.push(range),
    }
}

/// Adds a run, to the last one if it is like it; whether there is one more.
fn add(runs: &mut Vec<Run>, run: Run) -> bool {
    if let Some(last) = runs.last_mut() {
        let is_alike = Run { first: last.first, last: last.last, ..run.clone() } == *last;
        if is_alike && last.last + 1 == run.first {
            last.last = run.last;
            return false;
        }
    }
    runs.push(run);
    true
}
