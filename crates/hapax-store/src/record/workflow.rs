//! How a workflow is written down: a few words about its steps, and a letter for each of them.

use std::borrow::Cow;

use hapax_core::Timestamp;
use hapax_core::workflow::{
    Form, Input, Inputs, Mark, Needs, Role, Run, When, Workflow, WorkflowId, WorkflowState,
};
use serde::{Deserialize, Serialize};

use super::{Unreadable, json, named};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head<'a> {
    form: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    state: Cow<'a, str>,
    marks: String,
    runs: Vec<RunRecord<'a>>,
    created_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    started_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended_at: Option<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunRecord<'a> {
    steps: (u32, u32),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    needs: Option<NeedsRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    when: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    behind: Vec<(u32, u32)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    callback: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    answered: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inputs: Option<InputsRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NeedsRecord {
    Previous,
    Ranges(Vec<(u32, u32)>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InputsRecord {
    Since(u32),
    Range(u32, u32),
    List(Vec<InputRecord>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InputRecord {
    Of(u32),
    Range(u32, u32),
    List(Vec<InputRecord>),
}

/// The text of a workflow.
pub fn write(workflow: &Workflow) -> String {
    let Workflow { id: _, form, name, state, runs, marks, created_at, started_at, ended_at } = workflow;
    json(&Head {
        form: form.name().into(),
        name: name.as_deref().map(Cow::Borrowed),
        state: state.name().into(),
        marks: marks.iter().map(|mark| mark.letter()).collect(),
        runs: runs.iter().map(write_run).collect(),
        created_at: created_at.millis(),
        started_at: started_at.map(Timestamp::millis),
        ended_at: ended_at.map(Timestamp::millis),
    })
}

fn write_run(run: &Run) -> RunRecord<'static> {
    let Run { first, last, needs, when, behind, role, answered, inputs } = run;
    RunRecord {
        steps: (*first, *last),
        needs: match needs {
            Needs::Nothing => None,
            Needs::Previous => Some(NeedsRecord::Previous),
            Needs::Ranges(ranges) => Some(NeedsRecord::Ranges(ranges.clone())),
        },
        when: Some(when_name(*when)).filter(|_| *when != When::AllWell).map(Cow::Borrowed),
        behind: behind.clone(),
        callback: *role == Role::Callback,
        answered: *answered,
        inputs: match inputs {
            Inputs::Nothing => None,
            Inputs::Since(first) => Some(InputsRecord::Since(*first)),
            Inputs::Range(first, last) => Some(InputsRecord::Range(*first, *last)),
            Inputs::List(inputs) => Some(InputsRecord::List(inputs.iter().map(write_input).collect())),
        },
    }
}

fn write_input(input: &Input) -> InputRecord {
    match input {
        Input::Of(step) => InputRecord::Of(*step),
        Input::Range(first, last) => InputRecord::Range(*first, *last),
        Input::List(inputs) => InputRecord::List(inputs.iter().map(write_input).collect()),
    }
}

const fn when_name(when: When) -> &'static str {
    match when {
        When::AllWell => "all_well",
        When::Success => "success",
        When::Failure => "failure",
        When::End => "end",
    }
}

/// The name of a step, and the type of its job.
pub type StepName = (Box<str>, Box<str>);

/// The text with the names and job types of its steps.
pub fn steps(names: &[StepName]) -> String {
    json(&names)
}

/// The names and job types of the steps.
pub fn read_steps(text: &str) -> Result<Vec<StepName>, Unreadable> {
    Ok(serde_json::from_str(text)?)
}

/// The workflow that the text tells of.
pub fn read(id: WorkflowId, text: &str) -> Result<Workflow, Unreadable> {
    let Head { form, name, state, marks, runs, created_at, started_at, ended_at } =
        serde_json::from_str(text)?;
    Ok(Workflow {
        id,
        form: named(Some(form), &Form::ALL, Form::name)?.ok_or(Unreadable)?,
        name: name.map(Into::into),
        state: named(Some(state), &WorkflowState::ALL, WorkflowState::name)?.ok_or(Unreadable)?,
        runs: runs.into_iter().map(read_run).collect::<Result<_, _>>()?,
        marks: marks
            .chars()
            .map(|letter| Mark::of_letter(letter).ok_or(Unreadable))
            .collect::<Result<_, _>>()?,
        created_at: Timestamp::from_millis(created_at),
        started_at: started_at.map(Timestamp::from_millis),
        ended_at: ended_at.map(Timestamp::from_millis),
    })
}

fn read_run(record: RunRecord<'_>) -> Result<Run, Unreadable> {
    let RunRecord { steps: (first, last), needs, when, behind, callback, answered, inputs } = record;
    let all = [When::AllWell, When::Success, When::Failure, When::End];
    Ok(Run {
        first,
        last,
        needs: match needs {
            None => Needs::Nothing,
            Some(NeedsRecord::Previous) => Needs::Previous,
            Some(NeedsRecord::Ranges(ranges)) => Needs::Ranges(ranges),
        },
        when: named(when, &all, when_name)?.unwrap_or(When::AllWell),
        behind,
        role: if callback { Role::Callback } else { Role::Job },
        answered,
        inputs: match inputs {
            None => Inputs::Nothing,
            Some(InputsRecord::Since(first)) => Inputs::Since(first),
            Some(InputsRecord::Range(first, last)) => Inputs::Range(first, last),
            Some(InputsRecord::List(inputs)) => Inputs::List(inputs.into_iter().map(read_input).collect()),
        },
    })
}

fn read_input(record: InputRecord) -> Input {
    match record {
        InputRecord::Of(step) => Input::Of(step),
        InputRecord::Range(first, last) => Input::Range(first, last),
        InputRecord::List(inputs) => Input::List(inputs.into_iter().map(read_input).collect()),
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::workflow::{Callback, Plan, Shape};

    use super::*;

    #[test]
    fn a_workflow_reads_back() {
        let chain = Shape::Chain(vec![Shape::Job(()), Shape::Job(())]);
        let jobs = vec![Shape::Job(()), chain, Shape::Job(())];
        let batch = Shape::Batch { jobs, callbacks: Callback::ALL.map(|callback| (callback, ())).to_vec() };
        let shape = Shape::Chain(vec![Shape::Job(()), batch, Shape::Job(())]);
        let now = Timestamp::from_millis(1_700_000_000_123);
        let id = WorkflowId::new(now, [3; 10]);
        let mut workflow = Plan::of(shape).unwrap().start(id, Some("nightly".into()), now).workflow;
        assert_eq!(read(id, &write(&workflow)).unwrap(), workflow);
        let _ = (workflow.ended(0, Mark::Failed, Some(now), now), workflow.cancel(now));
        assert_eq!(read(id, &write(&workflow)).unwrap(), workflow);
        assert!(read(id, "{}").is_err() && read(id, &write(&workflow).replace("fx", "f?")).is_err());
    }
}
