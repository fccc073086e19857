//! Why a workflow failed (Workflows 9.6).

use hapax_broker::WorkflowView;
use hapax_core::workflow::{Form, Mark};
use hapax_wire::writer::{self, Object};

/// Most failed jobs that are named.
const FAILED_SHOWN_MAX: usize = 100;

/// The jobs that failed, and their last errors as far as they were looked up; nothing while none has.
pub(super) fn members(o: &mut Object<'_>, view: &WorkflowView) {
    let WorkflowView { workflow, steps, jobs, replaced: _ } = view;
    let marks = (0..).zip(&workflow.marks);
    let failed: Vec<u32> = marks.filter(|(_, mark)| **mark == Mark::Failed).map(|(step, _)| step).collect();
    let Some(first) = failed.first() else { return };
    let shown = &failed[..failed.len().min(FAILED_SHOWN_MAX)];
    if workflow.form == Form::Chain {
        o.number("failed_step_index", first);
    }
    o.array("failed_job_ids", shown, |step, out| writer::plain(out, workflow.id.job(*step)));
    let errors = shown.iter().filter_map(|step| Some((*step, jobs.get(step)?.history.entries().last()?)));
    o.array("errors", errors, |(step, error), out| {
        writer::object(out, |o| {
            o.plain("job_id", workflow.id.job(step));
            o.text("step_id", steps.get(step as usize).map_or("", |(name, _)| name));
            o.text("type", &error.kind);
            o.text("code", &error.code);
            o.text("message", &error.message);
            o.number("attempt", error.attempt);
            o.moment("occurred_at", error.occurred_at);
        });
    });
}
