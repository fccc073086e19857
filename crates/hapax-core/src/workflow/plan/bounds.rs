//! What a plan may ask for: whatever the end of one job leads to happens in one commit.

use super::super::run::{Input, Inputs, Needs, Run};
use super::PlanError;

/// Most links of a workflow: ranges of steps for which others wait, and entries of lists of results. They are read and
/// written at the end of every job.
pub const LINKS_MAX: usize = 50_000;

/// Most results that the end of one job may hand on. Each counts once for every step that gets it.
pub const HANDED_ON_MAX: usize = 1_000_000;

pub(super) fn check(runs: &[Run], steps: usize) -> Result<(), PlanError> {
    if runs.iter().map(links).sum::<usize>() > LINKS_MAX {
        return Err(PlanError::TooManyLinks);
    }
    let most = most_handed_on(runs, steps);
    if most > HANDED_ON_MAX { Err(PlanError::TooMuchHandedOn(most)) } else { Ok(()) }
}

/// The links of one run.
pub(super) fn links(run: &Run) -> usize {
    let needs = if let Needs::Ranges(ranges) = &run.needs { ranges.len() } else { 0 };
    let inputs = if let Inputs::List(inputs) = &run.inputs { inputs.iter().map(words).sum() } else { 0 };
    needs + run.behind.len() + inputs
}

fn words(input: &Input) -> usize {
    match input {
        Input::Of(_) | Input::Range(..) => 1,
        Input::List(inputs) => 1 + inputs.iter().map(words).sum::<usize>(),
    }
}

/// The most results that go to those who wait for one and the same step.
fn most_handed_on(runs: &[Run], steps: usize) -> usize {
    // What begins with a step, and what is over before it: the sum up to a step is what goes to those who wait for it.
    let (mut begins, mut is_over) = (vec![0; steps + 1], vec![0; steps + 1]);
    let mut note = |first: u32, last: u32, count: usize| {
        begins[first as usize] += count;
        is_over[last as usize + 1] += count;
    };
    for run in runs {
        match &run.needs {
            Needs::Nothing => {}
            Needs::Previous => {
                for step in run.steps().filter(|step| *step > 0) {
                    note(step - 1, step - 1, results(&run.inputs, step));
                }
            }
            Needs::Ranges(ranges) => {
                let count = run.steps().len() * results(&run.inputs, run.last);
                for (first, last) in ranges {
                    note(*first, *last, count);
                }
            }
        }
    }
    let mut open = 0_usize;
    let sums = begins.iter().zip(&is_over).map(|(begins, is_over)| {
        open = open + begins - is_over;
        open
    });
    sums.max().unwrap_or(0)
}

/// How many results a step gets.
fn results(inputs: &Inputs, step: u32) -> usize {
    match inputs {
        Inputs::Nothing => 0,
        Inputs::Since(first) => step.saturating_sub(*first) as usize,
        Inputs::Range(first, last) => (last - first) as usize + 1,
        Inputs::List(inputs) => inputs.iter().map(results_of).sum(),
    }
}

fn results_of(input: &Input) -> usize {
    match input {
        Input::Of(_) => 1,
        Input::Range(first, last) => (last - first) as usize + 1,
        Input::List(inputs) => inputs.iter().map(results_of).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, Position};
    use super::*;
    use crate::workflow::Shape;

    #[test]
    fn a_short_text_with_too_many_links_is_refused_before_they_are_made() {
        let job = || Shape::Job(());
        // Every second result is a list of one, so that they do not make one range.
        let results = |count| (0..count).map(|n| if n % 2 == 0 { job() } else { Shape::Group(vec![job()]) });
        let chains = |count| (0..count).map(|_| Shape::Chain(vec![job(), job()]));
        let shape =
            Shape::Chain(vec![Shape::Group(results(4000).collect()), Shape::Group(chains(2000).collect())]);
        let mut builder = Builder::new();
        let refused = builder.place(shape, &Position::first()).err();
        assert_eq!(refused, Some(PlanError::TooManyLinks));
        let made: usize = builder.runs.iter().map(links).sum();
        assert!(made < LINKS_MAX + 10_000, "{made}");
    }
}
