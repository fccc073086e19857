//! Workflows whose steps name those for which they wait.

use std::collections::{HashMap, HashSet};

use super::super::run::{Input, Inputs, Needs, Role, Run, When};
use super::super::{Callback, DagStep, Form, STEPS_MAX};
use super::{Plan, PlanError, add, bounds, entries, join, list};

pub(super) fn plan<J>(steps: Vec<DagStep<J>>) -> Result<Plan<J>, PlanError> {
    if steps.is_empty() {
        return Err(PlanError::Empty("the workflow".into()));
    }
    if steps.len() > STEPS_MAX {
        return Err(PlanError::TooManySteps);
    }
    let needs = resolve(&steps)?;
    refuse_cycles(&steps, &needs)?;
    let callbacks = callbacks(&steps, &needs);
    refuse_idle_callbacks(&steps, &needs, &callbacks)?;
    let form = form(&needs, &callbacks);
    let answered = answered(&needs, &callbacks);
    let mut runs = Vec::new();
    for (index, (needs, callback)) in needs.iter().zip(&callbacks).enumerate() {
        let step = number(index);
        let inputs = match needs.as_slice() {
            [] => Inputs::Nothing,
            needs => entries(&list(needs.iter().copied().map(Input::Of).collect())),
        };
        let run = Run {
            first: step,
            last: step,
            needs: ranges(needs),
            when: callback.map_or(When::AllWell, Callback::when),
            behind: Vec::new(),
            role: if callback.is_some() { Role::Callback } else { Role::Job },
            answered: answered[index] && callback.is_none(),
            inputs,
        };
        add(&mut runs, run);
    }
    bounds::check(&runs, steps.len())?;
    let (names, jobs) = steps.into_iter().map(|step| (step.name, step.job)).unzip();
    Ok(Plan { form, runs, jobs, names })
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// For each step the numbers of those for which it waits, in the order in which it names them.
fn resolve<J>(steps: &[DagStep<J>]) -> Result<Vec<Vec<u32>>, PlanError> {
    let mut numbers: HashMap<&str, u32> = HashMap::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        if numbers.insert(&step.name, number(index)).is_some() {
            return Err(PlanError::Twice { name: step.name.clone(), index });
        }
    }
    let of_step = |(index, step): (usize, &DagStep<J>)| {
        let mut seen = HashSet::new();
        let unknown =
            |needs: &str| PlanError::UnknownStep { step: step.name.clone(), needs: needs.into(), index };
        let named = step.needs.iter().map(AsRef::as_ref).filter(|name: &&str| seen.insert(*name));
        named.map(|name| numbers.get(name).copied().ok_or_else(|| unknown(name))).collect()
    };
    steps.iter().enumerate().map(of_step).collect()
}

/// Takes steps away that wait for nothing that is left; whatever remains waits for itself.
fn refuse_cycles<J>(steps: &[DagStep<J>], needs: &[Vec<u32>]) -> Result<(), PlanError> {
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
    for (index, needs) in needs.iter().enumerate() {
        for needed in needs {
            followers[*needed as usize].push(index);
        }
    }
    let mut free: Vec<usize> = (0..steps.len()).filter(|index| open[*index] == 0).collect();
    let mut left = steps.len();
    while let Some(index) = free.pop() {
        left -= 1;
        for follower in &followers[index] {
            open[*follower] -= 1;
            if open[*follower] == 0 {
                free.push(*follower);
            }
        }
    }
    if left == 0 { Ok(()) } else { Err(cycle(steps, needs, &open)) }
}

/// A callback answers for others. One that names nobody would have nothing to wait for, and nothing to tell of.
fn refuse_idle_callbacks<J>(
    steps: &[DagStep<J>],
    needs: &[Vec<u32>],
    callbacks: &[Option<Callback>],
) -> Result<(), PlanError> {
    let is_idle = |index: &usize| callbacks[*index].is_some() && needs[*index].is_empty();
    match (0..steps.len()).find(is_idle) {
        Some(index) => Err(PlanError::CallbackOfNobody { name: steps[index].name.clone(), index }),
        None => Ok(()),
    }
}

/// One of the circles among the steps that are left: each of them waits for another of them.
fn cycle<J>(steps: &[DagStep<J>], needs: &[Vec<u32>], open: &[usize]) -> PlanError {
    let mut path: Vec<usize> = Vec::new();
    let mut at = open.iter().position(|open| *open > 0).unwrap_or(0);
    while !path.contains(&at) {
        path.push(at);
        at = needs[at].iter().map(|needed| *needed as usize).find(|needed| open[*needed] > 0).unwrap_or(at);
    }
    let start = path.iter().position(|step| *step == at).unwrap_or(0);
    let names = path[start..].iter().chain([&at]).map(|step| steps[*step].name.clone()).collect();
    PlanError::Cycle { names, index: at }
}

/// Which steps a callback answers for: those for which it waits, itself or through others.
fn answered(needs: &[Vec<u32>], callbacks: &[Option<Callback>]) -> Vec<bool> {
    let mut answered = vec![false; needs.len()];
    let mut open: Vec<usize> = (0..needs.len()).filter(|index| callbacks[*index].is_some()).collect();
    while let Some(index) = open.pop() {
        for needed in &needs[index] {
            let needed = *needed as usize;
            if !std::mem::replace(&mut answered[needed], true) {
                open.push(needed);
            }
        }
    }
    answered
}

/// Which steps are callbacks: those that say so, and those that have the name of one and wait for all others.
fn callbacks<J>(steps: &[DagStep<J>], needs: &[Vec<u32>]) -> Vec<Option<Callback>> {
    let by_name = |step: &DagStep<J>| step.callback.or_else(|| Callback::named(&step.name));
    let jobs = steps.iter().filter(|step| by_name(step).is_none()).count();
    let is_job = |needed: &&u32| steps.get(**needed as usize).is_some_and(|step| by_name(step).is_none());
    let of_step = |(step, needs): (&DagStep<J>, &Vec<u32>)| {
        let waits_for_all = jobs > 0 && needs.iter().filter(is_job).count() == jobs;
        step.callback.or_else(|| Callback::named(&step.name).filter(|_| waits_for_all))
    };
    steps.iter().zip(needs).map(of_step).collect()
}

fn form(needs: &[Vec<u32>], callbacks: &[Option<Callback>]) -> Form {
    let jobs =
        || needs.iter().zip(callbacks).filter(|(_, callback)| callback.is_none()).map(|(needs, _)| needs);
    let has_callbacks = callbacks.iter().any(Option::is_some);
    let is_flat = jobs().all(Vec::is_empty);
    let is_chain = || {
        needs.iter().enumerate().all(|(index, needs)| match index.checked_sub(1) {
            Some(previous) => *needs == [number(previous)],
            None => needs.is_empty(),
        })
    };
    match (has_callbacks, is_flat) {
        (true, true) => Form::Batch,
        (false, true) => Form::Group,
        (false, false) if is_chain() => Form::Chain,
        _ => Form::Dag,
    }
}

fn ranges(needs: &[u32]) -> Needs {
    if needs.is_empty() {
        return Needs::Nothing;
    }
    let mut sorted = needs.to_vec();
    sorted.sort_unstable();
    let mut ranges = Vec::new();
    for step in sorted {
        join(&mut ranges, (step, step));
    }
    Needs::Ranges(ranges)
}
