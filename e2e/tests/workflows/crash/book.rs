//! The book: every workflow that was asked for, and what is known about it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use e2e::{Answer, Delivery};
use serde_json::Value;

use super::case::Case;
use super::record::{CalledOff, Record};

/// Everything the clients know together.
#[derive(Debug, Default)]
pub(crate) struct Book {
    workflows: Mutex<BTreeMap<String, Record>>,
    now: AtomicUsize,
    pub(crate) counters: Counters,
}

/// How often what happened.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) answered: AtomicUsize,
    pub(crate) started: AtomicUsize,
    pub(crate) starts_unanswered: AtomicUsize,
    pub(crate) reports_unanswered: AtomicUsize,
    pub(crate) delivered: AtomicUsize,
    pub(crate) redelivered: AtomicUsize,
    pub(crate) acknowledged: AtomicUsize,
    pub(crate) lease_lost: AtomicUsize,
    pub(crate) called_off: AtomicUsize,
    pub(crate) unanswered_had_happened: AtomicUsize,
}

pub(crate) fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Book {
    /// A moment in the order of the book.
    pub(crate) fn moment(&self) -> usize {
        self.now.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn workflows(&self) -> MutexGuard<'_, BTreeMap<String, Record>> {
        self.workflows.lock().unwrap_or_else(|_| panic!("another client failed"))
    }

    /// Somebody is about to ask for the workflow.
    pub(crate) fn intend(&self, case: &Case) {
        self.workflows().insert(case.name.clone(), Record::new(case.clone()));
    }

    /// The server says that it has started the workflow, for the first time or again.
    #[track_caller]
    pub(crate) fn started(&self, case: &Case, answer: &Answer) {
        let id = answer.is(201).text("/workflow/id");
        let mut workflows = self.workflows();
        let Some(record) = workflows.get_mut(&case.name) else { panic!("{case:?} was never asked for") };
        let known = record.id.get_or_insert_with(|| id.to_owned());
        assert_eq!(known, id, "{} became two workflows", case.name);
        count(&self.counters.started);
    }

    /// A worker received a step from a fetch that began at this moment. Which step of which workflow it is.
    #[track_caller]
    pub(crate) fn delivered(&self, delivery: &Delivery, since: usize) -> (Case, usize) {
        let Delivery { id, fence, job, .. } = delivery;
        count(if *fence == 1 { &self.counters.delivered } else { &self.counters.redelivered });
        let name = job["args"][0]["workflow"].as_str().unwrap_or_default();
        let step = job["args"][0]["step"].as_u64().and_then(|step| usize::try_from(step).ok());
        let step = step.unwrap_or_else(|| panic!("no step: {job}"));
        let mut workflows = self.workflows();
        let Some(Record { case, id: workflow, called_off, steps }) = workflows.get_mut(name) else {
            panic!("nobody asked for {job}")
        };
        let its_workflow = job["workflow_id"].as_str().unwrap_or_default();
        let known = workflow.get_or_insert_with(|| its_workflow.to_owned());
        assert_eq!(known, its_workflow, "{name} became two workflows");
        let known = steps[step].job.get_or_insert_with(|| id.clone());
        assert_eq!(known, id, "step {step} of {name} became two jobs");
        assert!(steps[step].fences.insert(*fence), "{id} was delivered twice with the fence {fence}");
        if let Some(moment) = steps[step].acknowledged {
            assert!(moment > since, "step {step} of {name} had ended and was delivered");
        }
        let fate = case.fate(step);
        assert!(
            ["completed", "failed"].contains(&fate),
            "step {step} of {case:?} is {fate}, and was delivered"
        );
        for needed in case.needs(step) {
            assert!(
                steps[*needed].is_reported,
                "step {step} of {case:?} came before the end of step {needed}"
            );
        }
        assert_eq!(job["parent_results"], case.parent_results(step), "step {step} of {case:?}");
        if let CalledOff::At(moment) = *called_off {
            // What ran may be retried and end.
            assert!(*fence > 1 || moment > since, "{name} was called off, and step {step} began");
        }
        (case.clone(), step)
    }

    /// A worker is about to report the end of a step.
    pub(crate) fn reports(&self, name: &str, step: usize) {
        self.on(name, step, |step| step.is_reported = true);
    }

    /// The report had no answer.
    pub(crate) fn may_have_ended(&self, name: &str, step: usize) {
        count(&self.counters.reports_unanswered);
        self.on(name, step, |step| step.is_unanswered = true);
    }

    /// The report was acknowledged.
    #[track_caller]
    pub(crate) fn ended(&self, name: &str, step: usize) {
        count(&self.counters.acknowledged);
        let moment = self.moment();
        let before = self.on(name, step, |step| step.acknowledged.replace(moment));
        assert_eq!(before, None, "the end of step {step} of {name} was acknowledged twice");
    }

    /// Somebody asks for the end of a workflow, or was answered.
    pub(crate) fn called_off(&self, name: &str, called_off: CalledOff) {
        if let Some(record) = self.workflows().get_mut(name) {
            record.called_off = called_off;
        }
    }

    #[track_caller]
    fn on<T>(&self, name: &str, step: usize, change: impl FnOnce(&mut super::record::Step) -> T) -> T {
        let mut workflows = self.workflows();
        let step = workflows.get_mut(name).and_then(|record| record.steps.get_mut(step));
        change(step.unwrap_or_else(|| panic!("{name} was never asked for")))
    }
}

impl Record {
    /// The server shows the workflow: what it says of each step agrees with what was answered.
    #[track_caller]
    pub(crate) fn agrees_with(&self, shown: &Value) {
        let Record { case, steps, called_off, .. } = self;
        for (number, step) in steps.iter().enumerate() {
            let state = shown["steps"][number]["state"].as_str().unwrap_or_default();
            let fate = case.fate(number);
            if step.acknowledged.is_some() {
                assert_eq!(state, fate, "the end of step {number} was acknowledged: {shown}");
            }
            if ["completed", "failed"].contains(&state) {
                assert!(step.is_reported && state == fate, "nobody ended step {number} like this: {shown}");
            }
            if ["cancelled", "skipped"].contains(&state) && *called_off == CalledOff::Never {
                assert_eq!(state, fate, "step {number} of {case:?}: {shown}");
            }
        }
    }
}

impl Counters {
    pub(crate) fn print(&self) {
        eprintln!("{self:?}");
    }

    /// A run in which something never happened has tested less than it says.
    #[track_caller]
    pub(crate) fn every_sometimes_happened(&self) {
        let Counters { started, delivered, redelivered, acknowledged, called_off, .. } = self;
        for counter in [started, delivered, redelivered, acknowledged, called_off] {
            assert!(counter.load(Ordering::Relaxed) > 0, "something never happened: {self:?}");
        }
    }

    /// Some kills came in the midst of requests.
    #[track_caller]
    pub(crate) fn some_had_no_answer(&self) {
        let unanswered = [&self.starts_unanswered, &self.reports_unanswered];
        let sum: usize = unanswered.iter().map(|counter| counter.load(Ordering::Relaxed)).sum();
        assert!(sum > 0, "every request was answered: {self:?}");
    }
}
