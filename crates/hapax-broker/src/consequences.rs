//! What follows from a change: events, jobs that workers wait for, a next moment for the chores.

use std::sync::Arc;

use hapax_core::workflow::Workflow;
use hapax_core::{Admission, Job, QueueName, Rules, Said, State, Timestamp, Verdict, next_due};
use hapax_store::{
    Action, Advance, Answer, Change, Claimed, Done, Entry, Followed, HeldBack, QueueFacts, Started, Tick,
};

use crate::events::{self, Traced, Unnumbered};
use crate::fetch::hand_back;

/// What follows from one answer of the store.
#[derive(Debug)]
pub(crate) struct Consequences<'r> {
    rules: &'r Rules,
    pub(crate) at: Timestamp,
    /// In the order in which it happened.
    pub(crate) events: Vec<Unnumbered>,
    /// Jobs that became available, by queue; a queue may stand here more than once.
    pub(crate) available: Vec<(QueueName, usize)>,
    /// When something is due next.
    pub(crate) due: Option<Timestamp>,
    /// For whom a rate limit left no room.
    pub(crate) held: Vec<HeldBack>,
    /// Whether events say to which trace their job belongs.
    pub(crate) follows_traces: bool,
}

/// An answer of the store that tells of changes.
pub(crate) trait Outcome: Send + 'static {
    /// Adds what follows from it.
    fn follow(&self, consequences: &mut Consequences<'_>);

    /// What to do if there is nobody any more to take the answer.
    fn abandoned(&self) -> Vec<Action> {
        Vec::new()
    }
}

impl Outcome for Vec<Answer> {
    fn follow(&self, consequences: &mut Consequences<'_>) {
        for answer in self {
            consequences.answered(answer);
        }
    }
}

/// The answer to a claim.
impl Outcome for Claimed {
    fn follow(&self, consequences: &mut Consequences<'_>) {
        consequences.claimed(&self.changes);
        for held in &self.held {
            consequences.due = earlier(consequences.due, held.closed.until);
            consequences.held.push(held.clone());
        }
    }

    fn abandoned(&self) -> Vec<Action> {
        hand_back(&self.changes)
    }
}

impl Outcome for Advance {
    fn follow(&self, consequences: &mut Consequences<'_>) {
        self.changes.iter().for_each(|change| consequences.stepped(change));
        events::pruned(&self.changes, consequences.at, &mut consequences.events);
        self.ticks.iter().for_each(|tick| consequences.ticked(tick));
        consequences.due = earlier(consequences.due, self.next_due);
    }
}

impl<'r> Consequences<'r> {
    pub(crate) fn new(rules: &'r Rules, at: Timestamp) -> Consequences<'r> {
        let (events, available, held) = (Vec::new(), Vec::new(), Vec::new());
        Consequences { rules, at, events, available, due: None, held, follows_traces: false }
    }

    /// An operation was carried out.
    pub(crate) fn answered(&mut self, answer: &Answer) {
        let Ok(done) = answer else { return };
        match done {
            Done::Enqueued(admission) => self.admitted(admission),
            Done::EnqueuedAll(admissions) => admissions.iter().for_each(|a| self.admitted(a)),
            Done::EnqueuedEach(answers) => answers.iter().flatten().for_each(|a| self.admitted(a)),
            Done::Stepped(change) => {
                self.stepped(change);
                events::forgotten(change, self.at, &mut self.events);
            }
            Done::SteppedHolders(changes) => changes.iter().for_each(|c| self.gave_up_key(c)),
            Done::Queue(facts) => self.queue_changed(facts),
            Done::QueueRemoved(name) => events::queue_deleted(name, self.at, &mut self.events),
            Done::WorkflowStarted(started) => self.started(started),
            Done::WorkflowCancelled(followed) => {
                let Followed { workflow, followers } = &**followed;
                self.followed(followers);
                self.progressed(Some(workflow), None);
            }
            Done::CronRan(tick) => self.ticked(tick),
            Done::Edited { entry, .. } => self.rewritten(entry.as_ref()),
            Done::EditedTogether(entries) => entries.iter().for_each(|entry| self.rewritten(entry.as_ref())),
            Done::Remembered(_) => {}
        }
    }

    /// An entry may be due at another time.
    fn rewritten(&mut self, entry: Option<&Entry>) {
        self.due = earlier(self.due, entry.and_then(|entry| entry.written.due_at));
    }

    /// Jobs were given to a worker.
    pub(crate) fn claimed(&mut self, changes: &[Change]) {
        for change in changes {
            if let Change::To { before, job, said: _, followers, workflow } = change {
                self.tell(job, |at, events| events::claimed(*before, job, at, events));
                self.note_due(job);
                self.followed(followers);
                self.progressed(workflow.as_deref(), Some(job));
            }
        }
    }

    fn admitted(&mut self, admission: &Admission) {
        let Admission { verdict, job, changed, workflows, depth: _, rule: _, is_abridged: _ } = admission;
        match verdict {
            // The holder's ledger grew; where it stands did not change.
            Verdict::Existing | Verdict::Rejected => {}
            Verdict::Created | Verdict::Replaced(_) => {
                self.holders_changed(changed);
                self.tell(job, |at, events| events::created(job, at, events));
                self.note_available(job);
                self.note_due(job);
            }
            Verdict::Updated(_) => self.holders_changed(changed),
        }
        for workflow in workflows {
            self.progressed(Some(workflow), None);
        }
    }

    /// Holders were called off, or took over values that may have moved them in time or to another queue; or somebody
    /// who waited for one of them was let go.
    fn holders_changed(&mut self, changed: &[(State, Job)]) {
        for (before, holder) in changed {
            self.tell(holder, |at, events| events::taken_over(*before, holder, at, events));
            self.note_available(holder);
            self.note_due(holder);
        }
    }

    fn stepped(&mut self, change: &Change) {
        match change {
            Change::To { before, job, said, followers, workflow } => {
                self.tell(job, |at, events| events::stepped(*before, job, *said, at, events));
                if let Said::LimitClosed { until } = said {
                    self.due = earlier(self.due, Some(*until));
                }
                self.note_available(job);
                self.note_due(job);
                self.followed(followers);
                self.progressed(workflow.as_deref(), Some(job));
            }
            Change::Removed { job, followers } => {
                self.tell(job, |at, events| events::removed(job, at, events));
                self.followed(followers);
            }
        }
    }

    /// The job goes on where it stands, so nothing is said about it. It may be removed earlier than it was to be.
    fn gave_up_key(&mut self, change: &Change) {
        match change {
            Change::To { before, job, said: _, followers, workflow } => {
                self.tell(job, |at, events| events::taken_over(*before, job, at, events));
                self.note_due(job);
                self.followed(followers);
                self.progressed(workflow.as_deref(), Some(job));
            }
            Change::Removed { job, followers } => {
                self.tell(job, |at, events| events::removed(job, at, events));
                self.followed(followers);
            }
        }
    }

    /// Jobs that waited for the end of another go on, as if somebody had activated them, or were called off with it.
    fn followed(&mut self, followers: &[(State, Job)]) {
        for (before, job) in followers {
            self.tell(job, |at, events| events::stepped(*before, job, Said::Nothing, at, events));
            self.note_available(job);
            self.note_due(job);
        }
    }

    /// A workflow went on by the end of a job, or ended.
    fn progressed(&mut self, workflow: Option<&Workflow>, job: Option<&Job>) {
        let Some(workflow) = workflow else { return };
        events::progressed(workflow, job, self.at, &mut self.events);
        self.note_end(workflow);
    }

    /// A recurring job was due, or was run by hand.
    fn ticked(&mut self, tick: &Tick) {
        events::ticked(tick, self.at, &mut self.events);
        if let Some(change) = &tick.cancelled {
            self.stepped(change);
        }
        if let Some(admission) = &tick.admission {
            self.admitted(admission);
        }
    }

    fn started(&mut self, started: &Started) {
        let Started { workflow, steps: _, admissions } = started;
        events::workflow_started(workflow, admissions, self.at, &mut self.events);
        for admission in admissions {
            self.admitted(admission);
        }
    }

    /// One that ended is forgotten after a while.
    fn note_end(&mut self, workflow: &Workflow) {
        let kept = workflow.ended_at.map(|at| at + self.rules.retention.shortest());
        self.due = earlier(self.due, kept);
    }

    fn queue_changed(&mut self, facts: &QueueFacts) {
        events::queue_changed(facts, self.at, &mut self.events);
        let waiting = facts.counts.of(State::Available);
        if !facts.paused && waiting > 0 {
            self.available.push((facts.name.clone(), usize::try_from(waiting).unwrap_or(usize::MAX)));
        }
    }

    /// Adds what there is to tell of a job.
    fn tell(&mut self, job: &Job, derive: impl FnOnce(Timestamp, &mut Vec<Unnumbered>)) {
        let known = self.events.len();
        derive(self.at, &mut self.events);
        if self.follows_traces && known < self.events.len() {
            let traced = Arc::new(Traced::of(job));
            self.events[known..].iter_mut().for_each(|event| event.traced = Some(Arc::clone(&traced)));
        }
    }

    fn note_available(&mut self, job: &Job) {
        if job.state() != State::Available {
            return;
        }
        match self.available.last_mut() {
            Some((queue, jobs)) if *queue == job.spec.queue => *jobs += 1,
            _ => self.available.push((job.spec.queue.clone(), 1)),
        }
    }

    fn note_due(&mut self, job: &Job) {
        self.due = earlier(self.due, next_due(job, self.rules));
    }
}

fn earlier(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    a.into_iter().chain(b).min()
}
