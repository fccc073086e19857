//! The workflows of the load, and what has to become of each of their steps.

use e2e::{Random, job};
use serde_json::{Value, json};

/// Where all steps wait for a worker.
pub(crate) const QUEUE: &str = "steps";
/// Attempts enough for every worker that is never heard of again.
const ATTEMPTS_MAX: u32 = 100;
const RETRIED_AFTER_MS: u32 = 20;

/// How the steps hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Four steps, one after the other.
    Chain,
    /// A step, two at once, and one more.
    Fork,
    /// Three at once, and then the callbacks of all three kinds.
    Batch,
}

/// A workflow of the load.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) form: Form,
    /// The step that fails for good, if one does.
    pub(crate) ill: Option<usize>,
}

impl Case {
    pub(crate) fn any(name: String, random: &mut Random) -> Case {
        let form = *random.pick(&[Form::Chain, Form::Fork, Form::Batch]);
        let ill = (random.below(2) == 0).then(|| random.below(3));
        Case { name, form, ill }
    }

    /// How many steps it has, callbacks included.
    pub(crate) fn steps(&self) -> usize {
        if self.form == Form::Batch { 6 } else { 4 }
    }

    /// The steps that end before this one begins.
    pub(crate) fn needs(&self, step: usize) -> &'static [usize] {
        match (self.form, step) {
            (Form::Chain | Form::Fork, 1) | (Form::Fork, 2) => &[0],
            (Form::Chain, 2) => &[1],
            (Form::Chain, 3) => &[2],
            (Form::Fork, 3) => &[1, 2],
            (Form::Batch, 3..) => &[0, 1, 2],
            _ => &[],
        }
    }

    /// How the step ends if nobody calls the workflow off, in the words of the workflow.
    pub(crate) fn fate(&self, step: usize) -> &'static str {
        let is_callback = self.form == Form::Batch && step >= 3;
        let has_failed = self.ill.is_some();
        match step {
            _ if self.ill == Some(step) => "failed",
            4 if is_callback && has_failed => "skipped",
            5 if is_callback && !has_failed => "skipped",
            _ if is_callback => "completed",
            _ if self.needs(step).iter().all(|needed| self.fate(*needed) == "completed") => "completed",
            _ => "cancelled",
        }
    }

    /// How the workflow ends. Callbacks answer for what failed.
    pub(crate) fn end(&self) -> &'static str {
        if self.form == Form::Batch || self.ill.is_none() { "completed" } else { "failed" }
    }

    /// What the worker of a step reports.
    pub(crate) fn result(&self, step: usize) -> Value {
        if self.ill == Some(step) { Value::Null } else { json!({"workflow": self.name, "step": step}) }
    }

    /// What the step is told of those before it.
    pub(crate) fn parent_results(&self, step: usize) -> Value {
        let result = |step| self.result(step);
        match (self.form, step) {
            (_, 0) | (Form::Batch, 1 | 2) => Value::Null,
            (Form::Fork, 1 | 2) => json!([result(0)]),
            (Form::Fork, _) => json!([result(0), [result(1), result(2)]]),
            (Form::Chain, _) => (0..step).map(result).collect(),
            (Form::Batch, _) => (0..3).map(result).collect(),
        }
    }

    /// The request for it.
    pub(crate) fn body(&self) -> Value {
        let step = |step: usize| {
            let args = json!([{"workflow": self.name, "step": step}]);
            job("step").on(QUEUE).args(args).retried(RETRIED_AFTER_MS, ATTEMPTS_MAX).json()
        };
        let steps = |range: std::ops::Range<usize>| range.map(step).collect::<Value>();
        match self.form {
            Form::Chain => json!({"type": "chain", "name": self.name, "steps": steps(0..4)}),
            Form::Fork => {
                let fork = json!([step(0), {"jobs": steps(1..3)}, step(3)]);
                json!({"type": "chain", "name": self.name, "steps": fork})
            }
            Form::Batch => {
                let callbacks = json!({"on_complete": step(3), "on_success": step(4), "on_failure": step(5)});
                json!({"type": "batch", "name": self.name, "jobs": steps(0..3), "callbacks": callbacks})
            }
        }
    }
}
