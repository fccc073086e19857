//! Workflows.

use hapax_core::State;
use hapax_core::workflow::{Callback, Form, WorkflowState};

use super::admission::warnings;
use super::{Named, one_of};
use crate::from_wire::RUNNING_ALIAS;
use crate::from_wire::bounds::{WORKFLOW_BUILT_JOBS, WORKFLOW_FORMS, WORKFLOW_NAME_BYTES_MAX};
use crate::openapi::shape::{
    Member, Shape, all, any, choice, count, either, flag, list, may, moment, named, needs, number, object,
    text, texts, twice,
};

pub(super) fn shapes() -> Vec<Named> {
    let steps = object([
        needs("steps", list(step())),
        may("failed_step_index", count().about("Of a chain.")),
        may("failed_job_ids", texts()),
        may("errors", list(error()).about("The last error of each of them.")),
        may("replaced", texts().about("At its start: the stored jobs in whose place its steps came.")),
    ]);
    let workflows = [
        needs("workflows", list(named("WorkflowHead"))),
        needs("items", list(named("WorkflowHead")).about("The same, where `running` is called `active`.")),
        needs("pagination", named("Pagination")),
    ];
    vec![
        ("WorkflowWish", wish()),
        ("WorkflowItem", either([named("Envelope"), nested()]).about("A job, or a workflow in its place.")),
        ("WorkflowStep", all([named("Envelope"), object([may("depends_on", texts())])])),
        ("WorkflowHead", object(head())),
        ("Workflow", all([named("WorkflowHead"), steps])),
        ("Workflows", object(workflows)),
        ("StartedWorkflow", all([twice("workflow", &named("Workflow")), object([warnings()])])),
        ("ShownWorkflow", twice("workflow", &named("Workflow"))),
        ("CancelledWorkflow", cancelled()),
        ("WorkflowProgress", progress()),
    ]
}

fn items() -> Shape {
    list(named("WorkflowItem")).items_min(1)
}

fn callbacks() -> Shape {
    object(Callback::ALL.map(|callback| may(callback.name(), named("Envelope")))).only()
}

fn wish() -> Shape {
    object([
        may(
            "type",
            choice(WORKFLOW_FORMS.iter().copied())
                .about("Left out, `steps` name each other in `depends_on`."),
        ),
        may("name", text().chars_max(WORKFLOW_NAME_BYTES_MAX)),
        may("options", named("Options").about("Attributes of all jobs that do not have their own.")),
        may(
            "steps",
            list(either([named("WorkflowStep"), named("WorkflowItem")]))
                .items_min(1)
                .about("Of a chain: one after the other."),
        ),
        may("jobs", items().about("Of a group or a batch: side by side.")),
        may("callbacks", callbacks().about("Of a batch: what follows its end.")),
        may(WORKFLOW_BUILT_JOBS, items().about("The same as `jobs`.")),
        may(Callback::OnComplete.name(), named("Envelope").about("The same as in `callbacks`.")),
    ])
    .only()
}

fn nested() -> Shape {
    let forms = choice(WORKFLOW_FORMS.iter().copied());
    object([
        may("type", forms),
        may("name", text()),
        may("steps", items()),
        may("jobs", items()),
        may("callbacks", callbacks()),
    ])
    .only()
}

fn state() -> Shape {
    let names = WorkflowState::ALL.map(WorkflowState::name).into_iter().chain([RUNNING_ALIAS]);
    choice(names)
        .about("In `workflow`, and for clients that send `OJS-Version`, it is `running` and never `active`.")
}

fn head() -> Vec<Member> {
    let metadata = object([
        needs("created_at", moment()),
        may("started_at", moment()),
        may("completed_at", moment()),
        needs("job_count", count()),
        needs("completed_count", count()),
        needs("failed_count", count()),
    ]);
    vec![
        needs("id", text()),
        needs("type", one_of(Form::ALL, Form::name)),
        needs("name", text().or_null()),
        needs("state", state()),
        needs("steps_total", count()),
        needs("steps_completed", count()),
        needs("jobs_total", count().about("The same as `steps_total`.")),
        needs("jobs_completed", count().about("The same as `steps_completed`.")),
        needs("created_at", moment()),
        may("started_at", moment()),
        may("completed_at", moment()),
        needs("metadata", metadata),
    ]
}

fn step_state() -> Shape {
    let of_jobs = [State::Pending, State::Active, State::Completed, State::Cancelled].map(State::name);
    choice(["waiting", "failed", "skipped"].into_iter().chain(of_jobs))
}

fn error() -> Shape {
    object([
        needs("job_id", text()),
        needs("step_id", text()),
        needs("type", text()),
        needs("code", text()),
        needs("message", text()),
        needs("attempt", count()),
        needs("occurred_at", moment()),
    ])
}

fn step() -> Shape {
    object([
        needs("id", text()),
        needs("index", count()),
        needs("type", text()),
        needs("state", step_state()),
        needs("job_id", text()),
        needs("job_ids", texts().about("`job_id` alone.")),
        needs("depends_on", texts()),
        may("callback", flag()),
        may("started_at", moment()),
        may("completed_at", moment()),
        may("result", any()),
    ])
}

fn cancelled() -> Shape {
    let own = object([
        may("cancelled_at", moment()),
        needs("steps_cancelled", count()),
        needs("steps_already_completed", count()),
        needs("steps_already_complete", count().about("The same as `steps_already_completed`.")),
        needs("steps", list(any()).items_max(0)),
    ]);
    twice("workflow", &all([named("WorkflowHead"), own]))
}

fn progress() -> Shape {
    let step = object([
        needs("id", text()),
        needs("job_id", text()),
        needs("type", text()),
        needs("state", step_state()),
        needs("progress", number().or_null()),
        may("data", any()),
    ]);
    object([
        needs("workflow_id", text()),
        needs("type", one_of(Form::ALL, Form::name)),
        needs("state", state()),
        needs("progress", number().about("The mean of its steps.")),
        needs(State::Completed.name(), count()),
        needs("total", count()),
        needs("steps", list(step)),
    ])
}
