//! What follows from a change: events, jobs that workers wait for, a next moment for the chores.

use hapax_core::{Admission, Job, QueueName, Rules, State, Timestamp, Verdict, next_due};
use hapax_store::{Action, Advance, Answer, Change, Done, QueueFacts};

use crate::events::{self, Unnumbered};
use crate::fetch::hand_back;

/// What follows from one answer of the store.
#[derive(Debug)]
pub(crate) struct Consequences<'r> {
    rules: &'r Rules,
    at: Timestamp,
    /// In the order in which it happened.
    pub(crate) events: Vec<Unnumbered>,
    /// Jobs that became available, by queue; a queue may stand here more than once.
    pub(crate) available: Vec<(QueueName, usize)>,
    /// When something is due next.
    pub(crate) due: Option<Timestamp>,
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
        for done in self.iter().flatten() {
            match done {
                Done::Enqueued(admission) => consequences.admitted(admission),
                Done::EnqueuedAll(admissions) => admissions.iter().for_each(|a| consequences.admitted(a)),
                Done::EnqueuedEach(answers) => {
                    answers.iter().flatten().for_each(|a| consequences.admitted(a));
                }
                Done::Stepped(change) => consequences.stepped(change),
                Done::SteppedHolders(changes) => changes.iter().for_each(|c| consequences.gave_up_key(c)),
                Done::Queue(facts) => consequences.queue_changed(facts),
                Done::Remembered(_) => {}
            }
        }
    }
}

/// The answer to a claim.
impl Outcome for Vec<Change> {
    fn follow(&self, consequences: &mut Consequences<'_>) {
        for change in self {
            if let Change::To { before: _, job, successors } = change {
                events::claimed(job, consequences.at, &mut consequences.events);
                consequences.note_due(job);
                consequences.let_go(successors);
            }
        }
    }

    fn abandoned(&self) -> Vec<Action> {
        hand_back(self)
    }
}

impl Outcome for Advance {
    fn follow(&self, consequences: &mut Consequences<'_>) {
        self.changes.iter().for_each(|change| consequences.stepped(change));
        consequences.due = earlier(consequences.due, self.next_due);
    }
}

impl<'r> Consequences<'r> {
    pub(crate) fn new(rules: &'r Rules, at: Timestamp) -> Consequences<'r> {
        Consequences { rules, at, events: Vec::new(), available: Vec::new(), due: None }
    }

    fn admitted(&mut self, admission: &Admission) {
        let Admission { verdict, job, changed, rule: _, is_abridged: _ } = admission;
        match verdict {
            // The holder's ledger grew; where it stands did not change.
            Verdict::Existing | Verdict::Rejected => {}
            Verdict::Created | Verdict::Replaced(_) => {
                self.holders_changed(changed);
                events::created(job, self.at, &mut self.events);
                self.note_available(job);
                self.note_due(job);
            }
            Verdict::Updated(_) => self.holders_changed(changed),
        }
    }

    /// Holders were called off, or took over values that may have moved them in time or to another queue; or somebody
    /// who waited for one of them was let go.
    fn holders_changed(&mut self, changed: &[(State, Job)]) {
        for (before, holder) in changed {
            events::taken_over(*before, holder, self.at, &mut self.events);
            self.note_available(holder);
            self.note_due(holder);
        }
    }

    fn stepped(&mut self, change: &Change) {
        match change {
            Change::To { before, job, successors } => {
                events::stepped(*before, job, self.at, &mut self.events);
                self.note_available(job);
                self.note_due(job);
                self.let_go(successors);
            }
            Change::Removed { job } => events::removed(job, self.at, &mut self.events),
        }
    }

    /// The job goes on where it stands, so nothing is said about it. It may be removed earlier than it was to be.
    fn gave_up_key(&mut self, change: &Change) {
        match change {
            Change::To { before, job, successors } => {
                events::taken_over(*before, job, self.at, &mut self.events);
                self.note_due(job);
                self.let_go(successors);
            }
            Change::Removed { job } => events::removed(job, self.at, &mut self.events),
        }
    }

    /// Jobs that waited for the end of another go on, as if somebody had activated them.
    fn let_go(&mut self, successors: &[Job]) {
        for job in successors {
            events::stepped(State::Pending, job, self.at, &mut self.events);
            self.note_available(job);
            self.note_due(job);
        }
    }

    fn queue_changed(&mut self, facts: &QueueFacts) {
        events::queue_changed(facts, self.at, &mut self.events);
        let waiting = facts.counts.of(State::Available);
        if !facts.paused && waiting > 0 {
            self.available.push((facts.name.clone(), usize::try_from(waiting).unwrap_or(usize::MAX)));
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
