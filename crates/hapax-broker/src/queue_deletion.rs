//! Deleting queues: at once if nothing waits or runs in them, else some jobs at a time, over any number of restarts.
//!
//! That a queue is being deleted stands among its settings, and it takes no jobs from then on. Its jobs are treated in small
//! commits, by whoever asked and then by every server beside its chores; the note goes when none is left. So a crash leaves a
//! queue that is being deleted, and nothing else.

mod progress;

use std::sync::Arc;

use hapax_core::limit::LimitKey;
use hapax_core::{Deletion, Event, JobId, QueueName, QueueSettings, Refusal};
use hapax_store::record::queue as record;
use hapax_store::settings::key;
use hapax_store::{
    Action, DEFAULT_SETTINGS, Edit, JobQuery, JointEdit, ListOrder, QueueFacts, Revision, Written,
};
use tokio::task::yield_now;

use crate::queue_settings::read;
use crate::{Broker, Error, answer};
pub(crate) use progress::Deletions;
use progress::Pass;

/// How many jobs are treated in one commit: others get their turn in between.
const ROUND: usize = 100;
/// How often the store is looked into before somebody else gets a turn: whoever asked, or the next queue.
const ROUNDS_MAX: usize = 10;

/// How far the deletion of a queue has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deleting {
    /// How many jobs waited when it began.
    pub jobs: u64,
    /// Whether nothing is left of the queue.
    pub is_done: bool,
}

/// What a turn at a deletion came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nothing is left.
    Done,
    /// There is more to do.
    GoOn,
    /// What is left runs, or waits for what runs.
    Wait,
}

impl Broker {
    /// Deletes a queue and does this about the jobs that wait in it. Without a word about those, it is refused while there are
    /// any, or any that run.
    pub async fn delete_queue(
        &self,
        queue: &QueueName,
        deletion: Option<Deletion>,
    ) -> Result<Deleting, Error> {
        let (broker, queue) = (self.clone(), queue.clone());
        self.see_through(async move { broker.take_away(&queue, deletion).await }).await
    }

    async fn take_away(&self, queue: &QueueName, deletion: Option<Deletion>) -> Result<Deleting, Error> {
        let facts = self.known_queue(queue).await?;
        let Some(deletion) = deletion else {
            self.forget_queue(queue, |_| None).await?;
            return Ok(Deleting { jobs: 0, is_done: true });
        };
        let jobs = facts.map_or(0, |facts| facts.counts.waiting());
        if let Some(target) = deletion.target() {
            self.expect_room_in(target, jobs).await?;
        }
        self.note_deletion(queue, deletion.clone()).await?;
        // From here on it happens, whatever becomes of this request.
        let turn = self.begin(queue, &deletion).await;
        if let Err(error) = &turn {
            tracing::warn!(%queue, %error, "the deletion of a queue goes on later");
        }
        self.shared.deletions.wake();
        Ok(Deleting { jobs, is_done: matches!(turn, Ok(Turn::Done)) })
    }

    async fn begin(&self, queue: &QueueName, deletion: &Deletion) -> Result<Turn, Error> {
        self.learn_settings().await?;
        self.take_turn(queue, deletion).await
    }

    /// Goes on with all deletions, for ever.
    pub(crate) async fn run_deletions(&self) {
        loop {
            if self.go_on_deleting().await {
                yield_now().await;
            } else {
                self.shared.deletions.rest().await;
            }
        }
    }

    /// A turn at every queue that is being deleted; whether there is more to do at once. One that cannot be treated now holds
    /// up no other.
    async fn go_on_deleting(&self) -> bool {
        let mut goes_on = false;
        for (queue, deletion) in self.shared.settings.deletions() {
            match self.take_turn_if_due(&queue, &deletion).await {
                Ok(turn) => goes_on |= turn == Turn::GoOn,
                Err(error) => tracing::warn!(%queue, %error, "the deletion of a queue goes on later"),
            }
        }
        goes_on
    }

    /// A turn, unless the last one found nothing to do and nothing has changed since.
    async fn take_turn_if_due(&self, queue: &QueueName, deletion: &Deletion) -> Result<Turn, Error> {
        let counts = self.queue(queue.clone()).await?.map(|facts| facts.counts);
        let now = self.now();
        if self.shared.deletions.rests(queue, counts.as_ref(), now) {
            return Ok(Turn::Wait);
        }
        let turn = self.take_turn(queue, deletion).await?;
        if turn == Turn::Wait {
            self.shared.deletions.let_rest(queue, counts, now);
        }
        Ok(turn)
    }

    async fn known_queue(&self, queue: &QueueName) -> Result<Option<QueueFacts>, Error> {
        let facts = self.queue(queue.clone()).await?;
        if facts.is_none() && self.entry(key(queue.as_str())).await?.is_none() {
            return Err(key(queue.as_str()).missing().into());
        }
        Ok(facts)
    }

    /// Refuses to move more jobs into a queue than it may have.
    async fn expect_room_in(&self, target: &QueueName, jobs: u64) -> Result<(), Error> {
        let Some(bound) = self.settings_of(target).bound() else { return Ok(()) };
        let depth = self.queue(target.clone()).await?.map_or(0, |facts| facts.counts.waiting());
        if depth.saturating_add(jobs) <= bound.max {
            return Ok(());
        }
        Err(Refusal::QueueFull { queue: target.clone(), depth, max: bound.max }.into())
    }

    /// Writes down what is to become of the jobs, unless they are to go where no jobs are taken. That is seen and written in one
    /// step, so that no two queues are ever moved into each other.
    async fn note_deletion(&self, queue: &QueueName, deletion: Deletion) -> Result<(), Error> {
        let target = deletion.target().cloned();
        let noted = move |before: Option<&Written>| -> Revision {
            let after = QueueSettings { deletion: Some(deletion.clone()), ..read(before) };
            Some(Written { body: record::write(&after).into(), due_at: None })
        };
        let action = match target {
            None => {
                Action::Edit { key: key(queue.as_str()), edit: Edit::new(move |before| Ok(noted(before))) }
            }
            Some(target) => Action::EditTogether {
                keys: [queue.as_str(), target.as_str(), DEFAULT_SETTINGS].map(key).into(),
                edit: JointEdit::new(move |[own, other, defaults]: [Option<&Written>; 3]| {
                    if read(other).or(&read(defaults)).is_draining() {
                        return Err(Refusal::QueueDraining(target.clone()));
                    }
                    Ok([noted(own), other.cloned(), defaults.cloned()])
                }),
            },
        };
        self.commit_one(self.now(), action).await.map(drop)
    }

    /// Treats some of the jobs that wait, or takes the queue away if nothing is left in it.
    async fn take_turn(&self, queue: &QueueName, deletion: &Deletion) -> Result<Turn, Error> {
        for _ in 0..ROUNDS_MAX {
            let counts = self.queue(queue.clone()).await?.map(|facts| facts.counts).unwrap_or_default();
            if counts.living() == 0 {
                return self.finish(queue, deletion).await;
            }
            if counts.waiting() == 0 {
                return Ok(Turn::Wait);
            }
            let pass = self.treat_some(queue, deletion, self.shared.deletions.take(queue)).await?;
            let (is_over, has_treated) = (pass.after.is_none(), pass.has_treated);
            if !is_over {
                self.shared.deletions.keep(queue, pass);
            } else if !has_treated {
                // A pass that changes nothing is not worth another before something else has changed.
                return Ok(Turn::Wait);
            }
        }
        Ok(Turn::GoOn)
    }

    /// Treats the next jobs of a pass, and those behind them in their lines that came by earlier.
    async fn treat_some(
        &self,
        queue: &QueueName,
        deletion: &Deletion,
        mut pass: Pass,
    ) -> Result<Pass, Error> {
        let filter = Deletion::concerns(queue.clone());
        let meant = Arc::new(filter.clone());
        let query = JobQuery { filter, order: ListOrder::OldestFirst, after: pass.after, limit: ROUND };
        let page = self.shared.store.jobs(query).await?;
        // After the list: a job of a queue that was deleted by another server and made anew since is not among those that are
        // seen while the note still stands.
        if !self.is_noted(queue, deletion).await? {
            return Ok(Pass::default());
        }
        let event = Event::OnlyIf { filter: meant, event: Box::new(deletion.event()) };
        let ids: Vec<JobId> = page.jobs.iter().map(|job| job.id).collect();
        let treated = self.step_each(&ids, &event).await?;
        for (job, _) in page.jobs.iter().zip(&treated).filter(|(_, treated)| !**treated) {
            pass.note_behind(job.id, job.waits_for());
        }
        let done = || page.jobs.iter().zip(&treated).filter(|(_, treated)| **treated);
        pass.has_treated |= done().next().is_some();
        let behind: Vec<JobId> = done().flat_map(|(job, _)| pass.take_behind(job.id)).collect();
        for some in behind.chunks(ROUND) {
            self.step_each(some, &event).await?;
        }
        pass.after = page.next;
        Ok(pass)
    }

    /// Lets this happen to each job, in one commit; whether it did. If the store cannot, because somebody holds one of them, each
    /// has a commit of its own, and the one that is held is left for later.
    async fn step_each(&self, ids: &[JobId], event: &Event) -> Result<Vec<bool>, Error> {
        let step = |id: &JobId| Action::Step { id: *id, event: event.clone() };
        match self.commit(self.now(), ids.iter().map(step).collect()).await {
            Ok(answers) => return Ok(answers.iter().map(Result::is_ok).collect()),
            Err(Error::Store(_)) if ids.len() > 1 && self.shared.store.is_shared() => {}
            Err(error) => return Err(error),
        }
        let mut treated = Vec::with_capacity(ids.len());
        for id in ids {
            let answers = self.commit(self.now(), vec![step(id)]).await;
            treated.push(answers.is_ok_and(|answers| answers.iter().all(Result::is_ok)));
        }
        Ok(treated)
    }

    /// Whether the store says that the queue is being deleted in this way. What this server knows may be a second old.
    async fn is_noted(&self, queue: &QueueName, deletion: &Deletion) -> Result<bool, Error> {
        let settings = self.queue_settings(queue.as_str()).await?;
        Ok(settings.and_then(|settings| settings.deletion).as_ref() == Some(deletion))
    }

    async fn finish(&self, queue: &QueueName, deletion: &Deletion) -> Result<Turn, Error> {
        if !self.is_noted(queue, deletion).await? {
            return Ok(Turn::Wait);
        }
        // Somebody may have finished it already and made it anew.
        let unless_anew = |before: QueueSettings| before.deletion.is_none().then_some(before);
        match self.forget_queue(queue, unless_anew).await {
            Ok(()) => Ok(Turn::Done),
            Err(Error::Refused(Refusal::QueueInUse { .. })) => Ok(Turn::GoOn),
            Err(error) => Err(error),
        }
    }

    /// Forgets the queue first and then its settings, among which it stands that it is to be forgotten.
    async fn forget_queue(
        &self,
        queue: &QueueName,
        left: impl Fn(QueueSettings) -> Option<QueueSettings> + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let now = self.now();
        answer::queue_removed(&self.commit_one(now, Action::RemoveQueue(queue.clone())).await?)?;
        self.decide_limit(LimitKey::of_queue(queue), None).await?;
        let edit = Edit::new(move |before: Option<&Written>| {
            let left = before.and_then(|_| left(read(before)));
            Ok(left.map(|left| Written { body: record::write(&left).into(), due_at: None }))
        });
        self.edit(now, key(queue.as_str()), edit).await?;
        self.shared.deletions.forget(queue);
        self.learn_settings().await
    }
}

#[cfg(test)]
mod tests;
