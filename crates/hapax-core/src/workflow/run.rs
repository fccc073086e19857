//! Steps in a row that wait for others in the same way.

/// Steps `first` to `last`. A group of ten thousand jobs is one run, and so is a chain but for its first step.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The first of them.
    pub first: u32,
    /// The last of them.
    pub last: u32,
    /// What each of them waits for.
    pub needs: Needs,
    /// How that has to end.
    pub when: When,
    /// What stood before their batch, if they are its callbacks: unless it ended well, the batch never began, and they are
    /// called off like its jobs.
    pub behind: Vec<(u32, u32)>,
    /// What they are to the workflow.
    pub role: Role,
    /// Whether callbacks answer for their failures, so that those are not the workflow's.
    pub answered: bool,
    /// Whose results they get.
    pub inputs: Inputs,
}

/// What a step waits for.
#[derive(Debug, Clone, PartialEq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// The step before it.
    Previous,
    /// All steps of these ranges, both ends included.
    Ranges(Vec<(u32, u32)>),
}

/// How that has to end for the step to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Well, all of it. As soon as something does not, the step is called off.
    AllWell,
    /// Well, all of it. Otherwise the step is not needed.
    Success,
    /// At least one not well. Otherwise the step is not needed.
    Failure,
    /// In any way.
    End,
}

/// What a step is to its workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A job.
    Job,
    /// A job that waits for how others end, and is counted apart from them.
    Callback,
}

/// The results that a step gets, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Inputs {
    /// None.
    Nothing,
    /// Those of all steps from that one up to the one before it.
    Since(u32),
    /// Those of all steps of a range, both ends included.
    Range(u32, u32),
    /// These.
    List(Vec<Input>),
}

/// One entry of the results that a step gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The result of a step.
    Of(u32),
    /// The results of several, as a list.
    List(Vec<Input>),
    /// The results of all steps of a range, both ends included, as a list.
    Range(u32, u32),
}

impl Run {
    /// Its steps.
    pub fn steps(&self) -> std::ops::Range<u32> {
        self.first..self.last + 1
    }

    /// Those of its steps that wait for this one.
    pub(super) fn steps_after(&self, step: u32) -> std::ops::Range<u32> {
        match &self.needs {
            Needs::Previous if self.steps().contains(&(step + 1)) => step + 1..step + 2,
            Needs::Ranges(ranges) if ranges.iter().any(|(a, b)| (*a..=*b).contains(&step)) => self.steps(),
            Needs::Nothing | Needs::Previous | Needs::Ranges(_) => 0..0,
        }
    }

    /// The entries that a step of it gets.
    pub fn inputs_of(&self, step: u32) -> Vec<Input> {
        match &self.inputs {
            Inputs::Nothing => Vec::new(),
            Inputs::Since(first) => (*first..step).map(Input::Of).collect(),
            Inputs::Range(first, last) => (*first..=*last).map(Input::Of).collect(),
            Inputs::List(inputs) => inputs.clone(),
        }
    }
}

impl Needs {
    /// What this step waits for.
    pub fn of(&self, step: u32) -> impl Iterator<Item = u32> + '_ {
        let (previous, ranges): (_, &[(u32, u32)]) = match self {
            Needs::Nothing => (None, &[]),
            Needs::Previous => (step.checked_sub(1), &[]),
            Needs::Ranges(ranges) => (None, ranges),
        };
        previous.into_iter().chain(ranges.iter().flat_map(|(first, last)| *first..=*last))
    }
}

impl Input {
    /// The steps whose results it shows.
    pub fn steps(&self) -> Vec<u32> {
        match self {
            Input::Of(step) => vec![*step],
            Input::Range(first, last) => (*first..=*last).collect(),
            Input::List(inputs) => inputs.iter().flat_map(Input::steps).collect(),
        }
    }
}
