//! How an incoming job becomes a stored one, or does not.

use std::sync::Arc;

use crate::unique::{Field, FieldSet, Key, Ledger, LedgerEntry, Resolution, Takeover, resolve};
use crate::{Event, History, Job, JobId, Phase, Refusal, Rules, Spec, State, Timestamp, Transition, decide};

/// A job on its way in.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// The id it will have if it is created.
    pub id: JobId,
    /// What the client asks for.
    pub spec: Spec,
    /// Its key, if it has a policy.
    pub key: Option<Key>,
    /// Whether it waits for activation.
    pub pending: bool,
    /// The request that brought it, for the ledger of a holder.
    pub request_id: Option<Box<str>>,
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
    /// Holders that changed, with the state they were in. The holder that the answer shows is among them.
    pub changed: Vec<(State, Job)>,
}

impl Admission {
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
    /// Decides about the job. `holders` are all stored jobs with its key; none if it has no policy.
    pub fn admit(self, mut holders: Vec<Job>, now: Timestamp, rules: &Rules) -> Admission {
        let resolution = match &self.spec.unique {
            Some(policy) => resolve(policy, &holders, now),
            None => Resolution::Create,
        };
        match resolution {
            Resolution::Create => self.create(Verdict::Created, Vec::new(), now),
            Resolution::Replace(ids) => {
                let cancelled =
                    ids.iter().filter_map(|id| cancelled(&take(&mut holders, *id), now, rules)).collect();
                self.create(Verdict::Replaced(ids), cancelled, now)
            }
            Resolution::Existing(id) => self.turn_away(Verdict::Existing, take(&mut holders, id), now),
            Resolution::Reject(id) => self.turn_away(Verdict::Rejected, take(&mut holders, id), now),
            Resolution::Update { holder, takeover } => {
                let mut holder = take(&mut holders, holder);
                let before = holder.state();
                let fields = take_over(&mut holder, &self.spec, takeover, now);
                let mut admission = self.turn_away(Verdict::Updated(fields), holder, now);
                admission.changed[0].0 = before;
                admission
            }
        }
    }

    fn create(self, verdict: Verdict, changed: Vec<(State, Job)>, now: Timestamp) -> Admission {
        let mut job = Job {
            id: self.id,
            key: self.key,
            created_at: now,
            enqueued_at: None,
            activated_at: None,
            started_at: None,
            attempt: 0,
            fence: 0,
            phase: Phase::Pending,
            history: History::default(),
            retry_delay: None,
            ledger: Ledger::default(),
            reentered_beside: None,
            spec: Arc::new(self.spec),
        };
        if !self.pending {
            job.wait_for_start(now);
        }
        Admission { verdict, job, changed }
    }

    /// The holder notes whom it stood against, in the same commit as the answer.
    fn turn_away(self, verdict: Verdict, mut holder: Job, now: Timestamp) -> Admission {
        let before = holder.state();
        let outcome = verdict.name();
        holder.ledger.enter(LedgerEntry { at: now, outcome, request_id: self.request_id });
        Admission { verdict, changed: vec![(before, holder.clone())], job: holder }
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

/// Writes the new values into the holder and names them.
fn take_over(holder: &mut Job, incoming: &Spec, takeover: Takeover, now: Timestamp) -> Vec<&'static str> {
    match takeover {
        Takeover::Fields(fields) => {
            let mut spec = (*holder.spec).clone();
            fields.iter().for_each(|field| copy_field(&mut spec, incoming, field));
            holder.spec = Arc::new(spec);
            if fields.contains(Field::ScheduledAt) {
                reschedule(holder, now);
            }
            names(fields)
        }
        Takeover::AllButSchedule => {
            let mut spec = incoming.clone();
            spec.scheduled_at.clone_from(&holder.spec.scheduled_at);
            let changed = differences(&holder.spec, &spec);
            holder.spec = Arc::new(spec);
            changed
        }
    }
}

fn names(fields: FieldSet) -> Vec<&'static str> {
    fields.iter().map(Field::name).collect()
}

fn copy_field(spec: &mut Spec, incoming: &Spec, field: Field) {
    match field {
        Field::Args => spec.args = incoming.args.clone(),
        Field::Meta => spec.meta = incoming.meta.clone(),
        Field::Priority => spec.priority = incoming.priority,
        Field::Queue => spec.queue = incoming.queue.clone(),
        Field::ScheduledAt => spec.scheduled_at.clone_from(&incoming.scheduled_at),
        Field::Tags => spec.tags.clone_from(&incoming.tags),
        Field::MaxAttempts => spec.retry.max_attempts = incoming.retry.max_attempts,
        Field::Type => spec.kind = incoming.kind.clone(),
    }
}

/// A new start time moves a job between scheduled and available, and the next attempt of one that waits
/// for it. A running, pending or finished job only remembers it.
fn reschedule(job: &mut Job, now: Timestamp) {
    let at = job.spec.scheduled_at.as_ref().map(|given| given.at).filter(|at| *at > now);
    match (&job.phase, at) {
        (Phase::Scheduled { .. } | Phase::Available { .. }, Some(at)) => {
            job.phase = Phase::Scheduled { at };
            job.enqueued_at = None;
        }
        (Phase::Scheduled { .. }, None) => job.become_available(now),
        (Phase::Retryable { .. }, at) => job.phase = Phase::Retryable { at: at.unwrap_or(now) },
        (
            Phase::Available { .. }
            | Phase::Pending
            | Phase::Active { .. }
            | Phase::Completed { .. }
            | Phase::Cancelled { .. }
            | Phase::Discarded { .. },
            _,
        ) => {}
    }
}

/// The attributes in which two jobs differ, by their names on the wire.
fn differences(old: &Spec, new: &Spec) -> Vec<&'static str> {
    let Spec {
        kind,
        queue,
        priority,
        args,
        meta,
        tags,
        schema,
        scheduled_at,
        expires_at,
        timeout,
        visibility_timeout,
        retry,
        unique,
        delivery,
        extra,
    } = old;
    let pairs = [
        ("type", *kind != new.kind),
        ("queue", *queue != new.queue),
        ("priority", *priority != new.priority),
        ("args", *args != new.args),
        ("meta", *meta != new.meta),
        ("tags", *tags != new.tags),
        ("schema", *schema != new.schema),
        ("scheduled_at", *scheduled_at != new.scheduled_at),
        ("expires_at", *expires_at != new.expires_at),
        ("timeout_ms", *timeout != new.timeout),
        ("visibility_timeout_ms", *visibility_timeout != new.visibility_timeout),
        ("retry", *retry != new.retry),
        ("unique", *unique != new.unique),
        ("delivery", *delivery != new.delivery),
        ("extensions", *extra != new.extra),
    ];
    pairs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests;
