//! Seeing a call to the store through: what follows from its answer happens whether or not the caller stays.
//!
//! A client may hang up at any time. Then the future of its request is dropped, perhaps between the commit and the
//! answer; the job is in the store all the same, and somebody may wait for it.

mod announce;

use std::mem;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use hapax_core::{JobId, Timestamp};
use hapax_store::{Op, Reply, Store, StoreError};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinSet};

use crate::broker::Shared;
use crate::consequences::{Consequences, Outcome};
use crate::events::{Ticket, Unnumbered};
use crate::{Broker, Error};

/// A call to the store, made when it is first polled. Dropped after that, it goes on without its caller.
pub(crate) struct Settling<T: Outcome, F> {
    shared: Arc<Shared>,
    at: Timestamp,
    progress: Progress<T, F>,
}

enum Progress<T, F> {
    Planned(F),
    UnderWay(Ticket, Reply<T>),
    Over,
}

impl<T: Outcome, F: FnOnce(&dyn Store) -> Reply<T>> Settling<T, F> {
    /// Plans the call.
    pub(crate) fn new(shared: &Arc<Shared>, at: Timestamp, call: F) -> Settling<T, F> {
        Settling { shared: Arc::clone(shared), at, progress: Progress::Planned(call) }
    }

    /// Some stores do their work when called, others take it in when the answer is first polled for: both must
    /// happen in turn, for the order of events.
    fn poll_answer(&mut self, context: &mut Context<'_>) -> Poll<(Ticket, Result<T, StoreError>)> {
        let (ticket, mut reply, answer) = match mem::replace(&mut self.progress, Progress::Over) {
            Progress::Planned(call) => {
                let (ticket, (reply, answer)) = self.shared.events.in_turn(|| {
                    let mut reply = call(&*self.shared.store);
                    let answer = reply.as_mut().poll(context);
                    (reply, answer)
                });
                (ticket, reply, Some(answer))
            }
            Progress::UnderWay(ticket, reply) => (ticket, reply, None),
            Progress::Over => return Poll::Pending,
        };
        match answer.unwrap_or_else(|| reply.as_mut().poll(context)) {
            Poll::Ready(answer) => Poll::Ready((ticket, answer)),
            Poll::Pending => {
                self.progress = Progress::UnderWay(ticket, reply);
                Poll::Pending
            }
        }
    }
}

impl<T: Outcome, F: FnOnce(&dyn Store) -> Reply<T> + Unpin> Future for Settling<T, F> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (ticket, answer) = ready!(self.poll_answer(context));
        let outcome = answer?;
        self.shared.settle(ticket, self.at, &outcome);
        Poll::Ready(Ok(outcome))
    }
}

impl<T: Outcome, F> Drop for Settling<T, F> {
    fn drop(&mut self) {
        if let Progress::UnderWay(ticket, reply) = mem::replace(&mut self.progress, Progress::Over) {
            self.shared.orphans.adopt(finish_alone(Arc::clone(&self.shared), ticket, self.at, reply));
        }
    }
}

async fn finish_alone<T: Outcome>(shared: Arc<Shared>, ticket: Ticket, at: Timestamp, reply: Reply<T>) {
    let finish = async {
        let outcome = reply.await?;
        shared.settle(ticket, at, &outcome);
        let now = shared.clock.now();
        let ops: Vec<Op> = outcome.abandoned().into_iter().map(|action| Op { now, action }).collect();
        if !ops.is_empty() {
            Settling::new(&shared, now, |store: &dyn Store| store.commit(ops)).await?;
        }
        Ok::<(), Error>(())
    };
    if let Err(error) = finish.await {
        tracing::warn!(%error, "what a client that has gone had asked for was not done");
    }
}

impl Broker {
    /// Does something in several steps, of which the later ones must follow even if whoever asked hangs up.
    pub(crate) async fn see_through<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let (told, answer) = oneshot::channel();
        self.shared.orphans.adopt(async move {
            // Whoever asked may have gone.
            drop(told.send(work.await));
        });
        answer.await.unwrap_or(Err(Error::Busy))
    }
}

impl Shared {
    /// Lets happen what follows from an answer. Events come first: who is called by the rest may cause more of them.
    fn settle<T: Outcome>(&self, ticket: Ticket, at: Timestamp, outcome: &T) {
        let mut consequences = Consequences::new(&self.rules, at);
        consequences.follows_traces = self.follows_traces.load(Ordering::Relaxed);
        outcome.follow(&mut consequences);
        let Consequences { mut events, available, due, held, .. } = consequences;
        // What is added after this only this server knows, and the log alone tells it.
        self.outbox.expect_mail(&events);
        self.held_back.tell(held, at, &mut events);
        let ended: Vec<JobId> = events.iter().filter_map(Unnumbered::ended_job).collect();
        // Those who wait for room ask again and again: what changed nothing must not call them.
        if !events.is_empty() {
            self.room.may_be();
        }
        ticket.publish(events);
        self.endings.call(ended.into_iter());
        for (queue, jobs) in &available {
            self.wakeups.call(queue, *jobs);
        }
        if let Some(due) = due {
            self.alarm.set(due);
        }
    }
}

/// Most calls that go on without their callers at a time: clients that ask and hang up must not fill the memory of
/// a server whose disk has stalled.
const ORPHANS_MAX: usize = 10_000;

/// Calls that go on without their callers. The chores own them and wait for them in the end.
#[derive(Debug, Default)]
pub(crate) struct Orphans(Mutex<JoinSet<()>>);

impl Orphans {
    /// Sees a call through, unless there are too many already. One beyond [`ORPHANS_MAX`] is dropped: what the
    /// store took in it still does, but without events and without a call for workers, and jobs that were claimed
    /// come back only when their leases run out.
    fn adopt(&self, orphan: impl Future<Output = ()> + Send + 'static) {
        // Without a runtime the server is gone, and everything that the call could lead to with it.
        let Ok(runtime) = Handle::try_current() else { return };
        let mut orphans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(finished) = orphans.try_join_next() {
            report(finished);
        }
        if orphans.len() < ORPHANS_MAX {
            orphans.spawn_on(orphan, &runtime);
        } else {
            drop(orphans);
            tracing::warn!(
                "more than {ORPHANS_MAX} clients have gone without their answers; one was forgotten"
            );
        }
    }

    /// Waits for all of them, and for those that come while it waits.
    pub(crate) async fn finish(&self) {
        loop {
            let mut orphans = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
            if orphans.is_empty() {
                return;
            }
            while let Some(finished) = orphans.join_next().await {
                report(finished);
            }
        }
    }
}

fn report(finished: Result<(), JoinError>) {
    if let Err(error) = finished {
        tracing::error!(%error, "seeing a call to the store through without its caller went wrong");
    }
}

#[cfg(test)]
mod tests;
