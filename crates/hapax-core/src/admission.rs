//! How an incoming job becomes a stored one, or does not.

use std::collections::HashMap;
use std::sync::Arc;

use crate::unique::{
    Decision, Key, Ledger, LedgerEntry, Releaser, Resolution, Rule, Uniqueness, resolve, supersede, take_over,
};
use crate::workflow::Workflow;
use crate::{
    Bound, Event, GivenTime, History, Job, JobId, Phase, QueueName, Refusal, Rules, Spec, State, Timestamp,
    Transition, decide,
};

/// How many holders one job may take the place of. All of them are called off in one step, and everybody waits for it.
pub const REPLACED_MAX: usize = 10_000;

/// A job on its way in.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// The id it will have if it is created.
    pub id: JobId,
    /// What the client asks for.
    pub spec: Box<Spec>,
    /// Its key, if it is to be unique.
    pub key: Option<Key>,
    /// Whether it waits for activation.
    pub pending: bool,
    /// The job whose end it waits for.
    pub after: Option<JobId>,
    /// How many jobs may wait in its queue.
    pub bound: Option<Bound>,
    /// Why it is not accepted, if that was known before.
    pub barred: Option<Box<Refusal>>,
    /// The request that brought it, for the ledger of a holder.
    pub request_id: Option<Arc<str>>,
}

/// How an incoming job was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It was created.
    Created,
    /// It was created in the place of these.
    Replaced(Vec<JobId>),
    /// A holder stands for it.
    Existing,
    /// A holder took over these attributes.
    Updated(Vec<&'static str>),
    /// It was refused.
    Rejected,
}

impl Verdict {
    /// The name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Verdict::Created => "created",
            Verdict::Replaced(_) => "replaced",
            Verdict::Existing => "existing",
            Verdict::Updated(_) => "updated",
            Verdict::Rejected => "rejected",
        }
    }

    /// Whether a new job came to be.
    pub const fn is_new(&self) -> bool {
        matches!(self, Verdict::Created | Verdict::Replaced(_))
    }
}

/// What admitting a job changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Admission {
    /// The answer.
    pub verdict: Verdict,
    /// The job that the answer shows: the new one, or the holder.
    pub job: Job,
    /// Stored jobs that changed, with the state they were in. The holder that the answer shows is among them.
    pub changed: Vec<(State, Job)>,
    /// Where workflows stand whose jobs are among those.
    pub workflows: Vec<Workflow>,
    /// How many jobs wait in its queue with it, if their number is bounded.
    pub depth: Option<u64>,
    /// What decided; nothing if no holder counted.
    pub rule: Option<Rule>,
    /// Whether its jobs are without their texts, because the answer to which it belongs would grow too large.
    pub is_abridged: bool,
}

impl Admission {
    /// How many jobs that waited in the queue it called off.
    pub fn freed(&self, queue: &QueueName) -> u64 {
        let left = |(before, job): &&(State, Job)| {
            before.is_waiting() && !job.state().is_waiting() && job.spec.queue == *queue
        };
        self.changed.iter().filter(left).count() as u64
    }

    /// How many bytes of text the job that the answer shows has.
    pub fn text_bytes(&self) -> usize {
        let Spec { args, meta, extra, .. } = &*self.job.spec;
        args.as_str().len() + meta.as_str().len() + extra.as_str().len()
    }

    /// Lets go of the texts. What is left says what happened to which jobs.
    pub fn abridge(&mut self) {
        self.is_abridged = true;
        for job in self.changed.iter_mut().map(|(_, job)| job).chain([&mut self.job]) {
            job.forget_texts();
        }
    }

    /// What a rejected job's client is told. A rejection is a commit like any other, for the holder's ledger; to
    /// the client it is a refusal.
    pub fn refusal(&self) -> Option<Refusal> {
        let rejected = self.verdict == Verdict::Rejected;
        // Only a job with a key can stand against another.
        let key = self.job.key.filter(|_| rejected)?;
        Some(Refusal::Duplicate { existing: self.job.id, state: self.job.state(), key })
    }
}

impl Incoming {
    /// Decides about the job. `holders` are all stored jobs with its key; none if it has none.
    pub fn admit(
        mut self,
        mut holders: Vec<Job>,
        now: Timestamp,
        rules: &Rules,
    ) -> Result<Admission, Refusal> {
        let Decision { resolution, rule } = match &self.spec.unique {
            Some(uniqueness) => resolve(uniqueness, &holders, now),
            None => Decision { resolution: Resolution::Create, rule: None },
        };
        self.start_when_debounced(now);
        let admission = match resolution {
            Resolution::Create => {
                let after = self.after;
                self.create(Verdict::Created, after, Vec::new(), now)
            }
            Resolution::Queue(after) => self.create(Verdict::Created, Some(after), Vec::new(), now),
            Resolution::Replace(ids) if ids.len() > REPLACED_MAX => {
                return Err(Refusal::TooManyHolders { count: ids.len(), max: REPLACED_MAX });
            }
            Resolution::Replace(ids) => {
                let mut holders: HashMap<JobId, Job> = holders.into_iter().map(|job| (job.id, job)).collect();
                let replaced = ids.iter().filter_map(|id| holders.remove(id));
                let cancelled = replaced.filter_map(|job| cancelled(&job, now, rules)).collect();
                // One that it replaces has ended by that.
                let after = self.after.filter(|after| !ids.contains(after));
                self.create(Verdict::Replaced(ids), after, cancelled, now)
            }
            Resolution::Supersede(id) => {
                let holder = take(&mut holders, id);
                let before = holder.state();
                let superseded = supersede(&holder, Releaser::NewerJob, now);
                let after = self.after;
                self.create(Verdict::Created, after, vec![(before, superseded)], now)
            }
            Resolution::Existing(id) => {
                let holder = take(&mut holders, id);
                self.turn_away(Verdict::Existing, holder.state(), holder, now)
            }
            Resolution::Reject(id) => {
                let holder = take(&mut holders, id);
                self.turn_away(Verdict::Rejected, holder.state(), holder, now)
            }
            Resolution::Update { holder, takeover } => {
                let mut holder = take(&mut holders, holder);
                let before = holder.state();
                let fields = take_over(&mut holder, &self, takeover, now, rules)?;
                self.turn_away(Verdict::Updated(fields), before, holder, now)
            }
        };
        Ok(Admission { rule, ..admission })
    }

    /// A debounced job gives others like it the time to come.
    fn start_when_debounced(&mut self, now: Timestamp) {
        if let Some(wait) = self.debounce_wait()
            && self.spec.scheduled_at.is_none()
        {
            self.spec.scheduled_at = Some(GivenTime::computed(now + wait));
        }
    }

    fn debounce_wait(&self) -> Option<std::time::Duration> {
        let policy = self.spec.unique.as_ref().and_then(Uniqueness::policy)?;
        policy.debounce.map(|debounce| debounce.wait)
    }

    fn create(
        self,
        verdict: Verdict,
        after: Option<JobId>,
        changed: Vec<(State, Job)>,
        now: Timestamp,
    ) -> Admission {
        let is_debounced = self.debounce_wait().is_some();
        let mut job = Job {
            id: self.id,
            key: self.key,
            created_at: now,
            enqueued_at: None,
            activated_at: None,
            started_at: None,
            attempt: 0,
            fence: 0,
            phase: Phase::Pending { after },
            history: History::default(),
            retry_delay: None,
            ledger: Ledger::default(),
            reentered_beside: None,
            released: None,
            first_start: self.spec.scheduled_at.as_ref().map(|given| given.at).filter(|_| is_debounced),
            progress: None,
            checkpoint: None,
            begun_at: None,
            spec: Arc::new(*self.spec),
        };
        if !self.pending && after.is_none() {
            job.wait_for_start(now);
        }
        Admission {
            verdict,
            job,
            changed,
            workflows: Vec::new(),
            depth: None,
            rule: None,
            is_abridged: false,
        }
    }

    /// The holder notes whom it stood against, in the same commit as the answer.
    fn turn_away(self, verdict: Verdict, before: State, mut holder: Job, now: Timestamp) -> Admission {
        let outcome = verdict.name();
        holder.ledger.enter(LedgerEntry { at: now, outcome, request_id: self.request_id });
        Admission {
            verdict,
            changed: vec![(before, holder.clone())],
            job: holder,
            workflows: Vec::new(),
            depth: None,
            rule: None,
            is_abridged: false,
        }
    }
}

#[expect(clippy::expect_used, reason = "resolve names only jobs that it was given")]
fn take(holders: &mut Vec<Job>, id: JobId) -> Job {
    let at = holders.iter().position(|job| job.id == id).expect("resolve names one of the holders");
    holders.swap_remove(at)
}

/// The holder called off, with the state it was in; nothing if it had ended.
fn cancelled(holder: &Job, now: Timestamp, rules: &Rules) -> Option<(State, Job)> {
    match decide(holder, Event::Cancel, now, rules) {
        Ok(Transition::To(next)) => Some((holder.state(), next)),
        Ok(Transition::Removed) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests;
