//! A workflow on its way in: a chain, a group, a batch, what is nested in them, or steps that name each other.

use hapax_broker::{Draft, WorkflowDraft};
use hapax_core::json::Node;
use hapax_core::unique::{Strategy, Uniqueness};
use hapax_core::workflow::{Callback, DEPTH_MAX, DagStep, Plan, PlanError, Shape};
use hapax_core::{Delivery, State};
use hapax_wire::error::Code;

use super::draft::{OF_STEPS, one_of, step};
use super::{Fault, Given, Intake, Place};

pub(crate) const NAME_BYTES_MAX: usize = 255;
pub(crate) const FORMS: &[&str] = &["chain", "group", "batch"];

/// What the builder of the official admin UI calls the jobs of a group or a batch. It puts the callback of a batch beside
/// them.
pub(crate) const BUILT_JOBS: &str = "tasks";

const BUILT_OF_BATCH: &[&str] = &[BUILT_JOBS, Callback::OnComplete.name()];

/// Members of a workflow whose form is told, besides those that its form has.
const OF_ALL: &[&str] = &["type", "name", "options"];

/// What every job of the request is read with.
#[derive(Clone, Copy)]
struct Reader<'r> {
    intake: &'r Intake,
    job_bytes_max: usize,
    /// Options of all jobs that do not say otherwise.
    defaults: Option<&'r Given<'r, 'r>>,
}

/// Reads the body of `POST /workflows`.
pub(crate) fn workflow(
    body: &Node<'_>,
    intake: &Intake,
    job_bytes_max: usize,
) -> Result<WorkflowDraft, Fault> {
    let body = Given::body(body)?;
    if let Some(id) = body.member("id") {
        let problem = "is chosen by the server, and stands in its answer; leave it out, or call it the name";
        return Err(Fault::coded(Code::InvalidWorkflow, id.place, problem));
    }
    let name = body.member("name").map(read_name).transpose()?;
    let defaults = body.member("options");
    if let Some(defaults) = &defaults {
        defaults.expect_object("an object with options for all jobs")?;
        refuse_for_all(defaults)?;
    }
    let reader = Reader { intake, job_bytes_max, defaults: defaults.as_ref() };
    let form = body.member("type").map(|given| read_form(&given)).transpose()?;
    let shape = if let Some(form) = form {
        expect_members(&body, &[OF_ALL, built_members_of(form)].concat(), form)?;
        reader.form(form, &body, 0)?
    } else {
        let graph = reader.graph(&body)?;
        let known = ["name", "options", "steps"];
        body.expect_only(&known).map_err(|fault| fault.with_code(Code::InvalidWorkflow))?;
        graph
    };
    let plan = Plan::of(shape).map_err(|error| {
        let member = match error {
            PlanError::NoCallback(_) => "callbacks",
            _ if body.member("jobs").is_some() => "jobs",
            _ if body.member(BUILT_JOBS).is_some() => BUILT_JOBS,
            _ => "steps",
        };
        let list = Place::Member(&body.place, member);
        match error.at() {
            Some((index, member)) => {
                let place = Place::Member(&Place::Item(&list, index), member);
                Fault::coded(Code::InvalidWorkflow, place, error)
            }
            None => Fault::coded(Code::InvalidWorkflow, list, error),
        }
    })?;
    Ok(WorkflowDraft { name, plan })
}

fn read_name(given: Given<'_, '_>) -> Result<Box<str>, Fault> {
    let name = given.text("a name for people")?;
    if name.len() > NAME_BYTES_MAX {
        return Err(Fault::new(given.place, format_args!("must have at most {NAME_BYTES_MAX} bytes")));
    }
    Ok(name.into())
}

fn read_step_name(given: Given<'_, '_>) -> Result<Box<str>, Fault> {
    let place = given.place;
    let name = read_name(given)?;
    if name.is_empty() || name.chars().any(char::is_control) {
        let problem = "must have at least one character, and no control characters";
        return Err(Fault::coded(Code::InvalidWorkflow, place, problem));
    }
    Ok(name)
}

/// The members that belong to a form alone.
fn members_of(form: &str) -> &'static [&'static str] {
    match form {
        "chain" => &["steps"],
        "group" => &["jobs"],
        _ => &["jobs", "callbacks"],
    }
}

/// The names that the official admin UI has for them.
fn built_members_of(form: &str) -> &'static [&'static str] {
    match form {
        "chain" => &[],
        "group" => &[BUILT_JOBS],
        _ => BUILT_OF_BATCH,
    }
}

/// One of two members that mean the same.
fn one_of_two<'m, 'a>(
    usual: Option<Given<'m, 'a>>,
    built: Option<Given<'m, 'a>>,
) -> Result<Option<Given<'m, 'a>>, Fault> {
    match (&usual, &built) {
        (Some(usual), Some(built)) => {
            let problem = format_args!("says the same as {}; send one of the two", usual.place);
            Err(Fault::coded(Code::InvalidWorkflow, built.place, problem))
        }
        _ => Ok(usual.or(built)),
    }
}

/// Nothing but what the form has: what would be passed over is refused.
fn expect_members(given: &Given<'_, '_>, others: &[&str], form: &str) -> Result<(), Fault> {
    let known = [others, members_of(form)].concat();
    given.expect_only(&known).map_err(|fault| fault.with_code(Code::InvalidWorkflow))
}

fn read_form(given: &Given<'_, '_>) -> Result<&'static str, Fault> {
    let text = given.text("\"chain\", \"group\" or \"batch\"")?;
    let known = FORMS.iter().copied().find(|form| *form == text);
    known.ok_or_else(|| {
        Fault::unknown(given.place, "form of workflow", text, FORMS).with_code(Code::InvalidWorkflow)
    })
}

impl Reader<'_> {
    fn form(self, form: &str, given: &Given<'_, '_>, depth: usize) -> Result<Shape<Draft>, Fault> {
        if depth > DEPTH_MAX {
            let problem = format_args!("is nested more than {DEPTH_MAX} levels deep");
            return Err(Fault::coded(Code::InvalidWorkflow, given.place, problem));
        }
        Ok(match form {
            "chain" => Shape::Chain(self.items(given, "steps", depth)?),
            "group" => Shape::Group(self.items(given, "jobs", depth)?),
            _ => Shape::Batch { jobs: self.items(given, "jobs", depth)?, callbacks: self.callbacks(given)? },
        })
    }

    fn items(self, given: &Given<'_, '_>, name: &str, depth: usize) -> Result<Vec<Shape<Draft>>, Fault> {
        let list = match one_of_two(given.member(name), given.member(BUILT_JOBS))? {
            Some(list) => list,
            None => given
                .required(name, "an array of jobs")
                .map_err(|fault| fault.with_code(Code::InvalidWorkflow))?,
        };
        list.items("an array of jobs")?.map(|item| self.item(item, depth + 1)).collect()
    }

    /// A job, or a workflow in its place: that has steps or jobs of its own.
    fn item(self, item: Given<'_, '_>, depth: usize) -> Result<Shape<Draft>, Fault> {
        item.expect_object("a job or a workflow")?;
        let has = |name| item.member(name).is_some();
        let form = match (has("steps"), has("jobs"), has("callbacks")) {
            (true, _, _) => "chain",
            (false, _, true) => "batch",
            (false, true, false) => "group",
            (false, false, false) => {
                refuse_order(&item, if depth > 1 { INSIDE } else { BY_FORM })?;
                return Ok(Shape::Job(self.job(item)?));
            }
        };
        expect_members(&item, &["type", "name"], form)?;
        if let Some(told) = item.member("type").filter(|told| told.node.as_str() != Some(form)) {
            let problem = format_args!("must be \"{form}\", the form of a workflow with these members");
            return Err(Fault::coded(Code::InvalidWorkflow, told.place, problem));
        }
        self.form(form, &item, depth)
    }

    fn callbacks(self, given: &Given<'_, '_>) -> Result<Vec<(Callback, Draft)>, Fault> {
        let built = given.member(Callback::OnComplete.name());
        let Some(callbacks) = given.member("callbacks") else {
            let job =
                built.map(|job| refuse_order(&job, BY_FORM).and_then(|()| self.job(job))).transpose()?;
            return Ok(job.into_iter().map(|job| (Callback::OnComplete, job)).collect());
        };
        one_of_two(Some(callbacks), built)?;
        callbacks.expect_object("an object with on_complete, on_success or on_failure")?;
        callbacks.expect_only(&Callback::ALL.map(Callback::name))?;
        let named = Callback::ALL.into_iter().filter_map(|callback| {
            let given = callbacks.member(callback.name())?;
            Some(refuse_order(&given, BY_FORM).and_then(|()| self.job(given)).map(|job| (callback, job)))
        });
        named.collect()
    }

    /// Steps that name those for which they wait.
    fn graph(self, body: &Given<'_, '_>) -> Result<Shape<Draft>, Fault> {
        let Some(steps) = body.member("steps") else {
            let place = Place::Member(&body.place, "type");
            let wanted = "\"chain\", \"group\" or \"batch\"; or send steps that depend on each other";
            return Err(Fault::missing(place, wanted).with_code(Code::InvalidWorkflow));
        };
        let steps =
            steps.items("an array of steps")?.enumerate().map(|(index, item)| self.named_step(item, index));
        Ok(Shape::Dag(steps.collect::<Result<_, _>>()?))
    }

    fn named_step(self, item: Given<'_, '_>, index: usize) -> Result<DagStep<Draft>, Fault> {
        item.expect_object("a step")?;
        if let Some(given) = ["steps", "jobs", "callbacks"].iter().find_map(|name| item.member(name)) {
            let problem = "cannot be inside of a graph; let each job be a step that names those before it";
            return Err(Fault::coded(Code::InvalidWorkflow, given.place, problem));
        }
        let options = item.member("options");
        let own = |name| one_of(item.member(name), options.as_ref().and_then(|options| options.member(name)));
        let name = match own("id")? {
            Some(id) => read_step_name(id)?,
            None => format!("step-{index}").into(),
        };
        let needs = match own("depends_on")? {
            Some(given) => given.texts()?,
            None => Vec::new(),
        };
        // The Python SDK marks callbacks like this.
        let callback = own("callback_type")?.map(|given| callback_type(&given)).transpose()?;
        Ok(DagStep { name, needs, callback, job: self.job(item)? })
    }

    fn job(self, item: Given<'_, '_>) -> Result<Draft, Fault> {
        if item.node.raw.len() > self.job_bytes_max {
            let problem = format_args!("must have at most {} bytes", self.job_bytes_max);
            return Err(Fault::coded(Code::PayloadTooLarge, item.place, problem));
        }
        let draft = step(item, self.intake, self.defaults)?.draft;
        refuse_stand_ins(&draft, &item)?;
        if draft.pending {
            let problem = "cannot be true for the step of a workflow, which lets its steps go itself";
            // The attribute has the name of the state.
            let place = Place::Member(&item.place, State::Pending.name());
            return Err(Fault::coded(Code::InvalidWorkflow, place, problem));
        }
        if draft.spec.delivery == Delivery::AtMostOnce {
            let problem = "is at_most_once, by which nobody hears how the step ended; a step of a workflow is acknowledged";
            return Err(Fault::coded(Code::InvalidWorkflow, Place::Member(&item.place, "delivery"), problem));
        }
        if draft.spec.ordering_key.is_some() {
            let problem =
                "cannot be given to the step of a workflow, which decides itself when its steps run";
            return Err(Fault::coded(
                Code::InvalidWorkflow,
                Place::Member(&item.place, "ordering_key"),
                problem,
            ));
        }
        Ok(draft)
    }
}

/// What to do instead where a form is told.
const BY_FORM: &str = "send steps without a type to name and order them yourself";
/// The same inside of another workflow.
const INSIDE: &str = "a graph cannot be inside of another workflow, so let all of it be one graph";

/// In a form that is told, the form says what waits for what, and what the steps are called.
fn refuse_order(item: &Given<'_, '_>, instead: &str) -> Result<(), Fault> {
    let options = item.member("options");
    for object in [Some(item), options.as_ref()].into_iter().flatten() {
        if let Some(given) = object.member("id") {
            let problem = format_args!("cannot be chosen in this form, which numbers its steps; {instead}");
            return Err(Fault::coded(Code::InvalidWorkflow, given.place, problem));
        }
        if let Some(given) = ["depends_on", "callback_type"].iter().find_map(|name| object.member(name)) {
            let problem = format_args!("says what the form of the workflow says already; {instead}");
            return Err(Fault::coded(Code::InvalidWorkflow, given.place, problem));
        }
    }
    Ok(())
}

/// What tells a step from others cannot be said for all of them.
fn refuse_for_all(defaults: &Given<'_, '_>) -> Result<(), Fault> {
    let own = || OF_STEPS.iter().chain(&["id"]);
    match own().find_map(|name| defaults.member(name)) {
        Some(given) => {
            let problem = "cannot be said for all steps; send it with the step that it is about";
            Err(Fault::coded(Code::InvalidWorkflow, given.place, problem))
        }
        None => Ok(()),
    }
}

fn callback_type(given: &Given<'_, '_>) -> Result<Callback, Fault> {
    let text = given.text("the kind of callback")?;
    let known = Callback::ALL.map(Callback::name);
    Callback::named(text).ok_or_else(|| Fault::unknown(given.place, "kind of callback", text, &known))
}

/// Each step is a job of its own: one for which a stored job stands would end when that ends, in whatever workflow.
fn refuse_stand_ins(draft: &Draft, item: &Given<'_, '_>) -> Result<(), Fault> {
    let stands_in = match &draft.spec.unique {
        None => return Ok(()),
        Some(Uniqueness::JobKey(_)) => "job_key",
        Some(Uniqueness::Policy(policy)) => {
            let is_new = matches!(policy.on_conflict, Strategy::Reject | Strategy::Replace);
            if is_new
                && policy.replace.is_none()
                && policy.debounce.is_none()
                && policy.while_active.is_none()
            {
                return Ok(());
            }
            "unique"
        }
    };
    let problem = "may let a stored job stand for the step of a workflow, which has to be a job of its own; \
                   use unique with on_conflict reject or replace";
    Err(Fault::coded(Code::InvalidWorkflow, Place::Member(&item.place, stands_in), problem))
}
