//! What steps of a workflow get from those before them.

use hapax_core::workflow::{Input, Inputs, Workflow, WorkflowId};
use hapax_core::{Job, Json, ParentResults};

use crate::Ground;

/// How many bytes of results a step gets from those before it.
pub const PARENT_RESULTS_BYTES_MAX: usize = 4 << 20;

/// How many bytes of results one end hands on, to all steps together that it lets go: all of it is written in one commit.
pub const HANDED_ON_BYTES_MAX: usize = 64 << 20;

/// What one end hands on. Results beyond the limits are left out and counted, so that neither a job nor the work on it can
/// grow without end; whoever gets the list sees that, and finds them in the jobs that had them.
#[derive(Debug)]
pub(crate) struct Parcels {
    bytes_max: usize,
    /// The last one, for the next step of the same run.
    last: Option<(u32, ParentResults)>,
}

impl Parcels {
    /// For so many steps.
    pub(crate) fn of(receivers: usize) -> Parcels {
        Parcels { bytes_max: share(receivers), last: None }
    }

    /// What a step gets.
    pub(crate) fn pack<G: Ground>(
        &mut self,
        ground: &mut G,
        workflow: &Workflow,
        step: u32,
    ) -> Result<Option<ParentResults>, G::Trouble> {
        let Some(run) = workflow.run_of(step) else { return Ok(None) };
        if let Some((_, packed)) = self.last.as_ref().filter(|(first, _)| *first == run.first) {
            return Ok(Some(packed.clone()));
        }
        let inputs = run.inputs_of(step);
        if inputs.is_empty() {
            return Ok(None);
        }
        let mut list = List { text: String::new(), omitted: 0, bytes_max: self.bytes_max };
        list.write_all(ground, workflow.id, &inputs)?;
        let packed = ParentResults { list: Json::from_trusted(&list.text), omitted: list.omitted };
        let is_alike = !matches!(run.inputs, Inputs::Since(_));
        self.last = is_alike.then(|| (run.first, packed.clone()));
        Ok(Some(packed))
    }
}

const fn share(receivers: usize) -> usize {
    let each = match receivers {
        0 => HANDED_ON_BYTES_MAX,
        _ => HANDED_ON_BYTES_MAX / receivers,
    };
    if each < PARENT_RESULTS_BYTES_MAX { each } else { PARENT_RESULTS_BYTES_MAX }
}

struct List {
    text: String,
    omitted: usize,
    bytes_max: usize,
}

impl List {
    fn write_all<G: Ground>(
        &mut self,
        ground: &mut G,
        id: WorkflowId,
        inputs: &[Input],
    ) -> Result<(), G::Trouble> {
        self.text.push('[');
        for (index, input) in inputs.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            match input {
                Input::Of(step) => self.write(ground, id, *step)?,
                Input::List(inputs) => self.write_all(ground, id, inputs)?,
                Input::Range(first, last) => {
                    let steps: Vec<Input> = (*first..=*last).map(Input::Of).collect();
                    self.write_all(ground, id, &steps)?;
                }
            }
        }
        self.text.push(']');
        Ok(())
    }

    fn write<G: Ground>(&mut self, ground: &mut G, id: WorkflowId, step: u32) -> Result<(), G::Trouble> {
        let job = ground.job(id.job(step))?;
        match job.as_ref().and_then(Job::result).map(Json::as_str) {
            Some(result) if self.text.len() + result.len() <= self.bytes_max => self.text.push_str(result),
            Some(_) => {
                self.omitted += 1;
                self.text.push_str("null");
            }
            None => self.text.push_str("null"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_steps_get_much_and_many_share_what_there_is() {
        assert_eq!((share(0), share(1), share(16)), (4 << 20, 4 << 20, 4 << 20));
        assert_eq!((share(64), share(10_000)), (1 << 20, 6710));
    }
}
