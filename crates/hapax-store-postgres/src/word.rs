//! Word between servers: which queues have jobs that were not there before.
//!
//! It is sent after the commit, on its own, many at a time: a notification inside of a transaction makes all that
//! commit wait for each other. Word may get lost with a server; who waits for jobs looks now and then anyway.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hapax_core::{Job, QueueName, State};
use hapax_store::Listener;
use hapax_store::desk::Moved;
use tokio::sync::{Notify, mpsc};
use tokio_postgres::types::ToSql;

use crate::Fault;
use crate::connect;
use crate::store::Engine;

/// Word of one queue is sent so often at most.
const SENT_EVERY: Duration = Duration::from_millis(5);
/// How many words may wait to be heard.
const WORDS_MAX: usize = 1024;
/// Until a lost connection is tried again.
const RETRIED_EVERY: Duration = Duration::from_secs(1);

/// What is to be said, and to whom what is heard is told.
#[derive(Default)]
pub(crate) struct Word {
    queues: Mutex<BTreeSet<QueueName>>,
    spoken: Notify,
    listener: Mutex<Option<Listener>>,
    /// Queues with limits of their own, as far as claims met them.
    limited: Mutex<BTreeSet<QueueName>>,
}

impl Word {
    /// Notes the queues in which these changes made jobs available.
    pub(crate) fn spread(&self, moved: &[Moved]) {
        let became_available = |moved: &&Moved| {
            let is_available =
                moved.after.as_ref().is_some_and(|stored| stored.job.state() == State::Available);
            is_available && moved.before.as_ref().is_none_or(|job| job.state() != State::Available)
        };
        let mut found =
            moved.iter().filter(became_available).filter_map(|moved| moved.after.as_ref()).peekable();
        if found.peek().is_none() {
            return;
        }
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        for stored in found {
            if !queues.contains(&stored.job.spec.queue) {
                queues.insert(stored.job.spec.queue.clone());
            }
        }
        drop(queues);
        self.spoken.notify_one();
    }

    /// Notes the queues in which a rate limit may leave room: those that are named, and those with limits of their own in
    /// which jobs stopped running. Whoever waits here is called at once.
    pub(crate) fn room_in(&self, named: &BTreeSet<QueueName>, moved: &[Moved]) {
        let limited = self.limited.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = named.clone();
        if !limited.is_empty() {
            let runs = |job: &Job| job.state() == State::Active;
            let stopped = moved.iter().filter_map(|Moved { before, after }| {
                let before = before.as_ref().filter(|job| runs(job))?;
                let is_over = !after.as_ref().is_some_and(|stored| runs(&stored.job));
                Some(&before.spec.queue).filter(|queue| is_over && limited.contains(*queue))
            });
            found.extend(stopped.cloned());
        }
        drop(limited);
        if found.is_empty() {
            return;
        }
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for queue in &found {
            if let Some(listener) = &listener {
                listener(queue, 1);
            }
        }
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).append(&mut found);
        self.spoken.notify_one();
    }

    /// The queue has a limit of its own, or had one.
    pub(crate) fn note_limited(&self, queue: &QueueName) {
        self.limited.lock().unwrap_or_else(PoisonError::into_inner).insert(queue.clone());
    }

    pub(crate) fn listen(&self, listener: Listener) {
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
    }

    /// Tells whoever listens.
    fn hear(&self, payload: &str, own_name: &str) {
        let (queue, sender) = payload.split_once(' ').unwrap_or((payload, ""));
        // Whoever waits here has been called already.
        if sender == own_name {
            return;
        }
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let (Some(listener), Ok(queue)) = (listener, QueueName::parse(queue)) {
            // How many there are is not known: all who wait look, and those who find nothing wait on.
            listener(&queue, usize::MAX);
        }
    }
}

/// Sends word for as long as the engine runs.
#[expect(clippy::disallowed_methods, reason = "word is gathered for a moment before it is sent")]
pub(crate) async fn send(engine: Arc<Engine>) {
    loop {
        engine.word.spoken.notified().await;
        tokio::time::sleep(SENT_EVERY).await;
        let queues = std::mem::take(&mut *engine.word.queues.lock().unwrap_or_else(PoisonError::into_inner));
        let queues: Vec<&str> = queues.iter().map(QueueName::as_str).collect();
        let Ok(link) = engine.pool.connection().await else { continue };
        let Ok(statement) = link.prepare(&engine.statements.notify).await else { continue };
        let params: [&(dyn ToSql + Sync); 3] = [&engine.settings.schema.as_str(), &engine.name, &queues];
        // Lost word is no error: see above.
        if link.client().query(&statement, &params).await.is_ok() {
            link.keep();
        }
    }
}

/// Hears word for as long as the engine runs, on a connection of its own.
#[expect(clippy::disallowed_methods, reason = "nothing tells when the database is back")]
pub(crate) async fn hear(engine: Arc<Engine>) {
    loop {
        // An end without an error is one as well.
        drop(hear_once(&engine).await);
        tokio::time::sleep(RETRIED_EVERY).await;
    }
}

async fn hear_once(engine: &Engine) -> Result<(), Fault> {
    let database = engine.settings.listen.as_ref().unwrap_or(&engine.settings.database);
    let (heard, mut words) = mpsc::channel(WORDS_MAX);
    let link = connect::open(database, Some(heard)).await?;
    let listen = format!("LISTEN {}", engine.settings.schema.as_str());
    link.client().batch_execute(&listen).await.map_err(Fault::of("be listened to"))?;
    // It ends with the connection.
    while let Some(word) = words.recv().await {
        engine.word.hear(word.payload(), &engine.name);
    }
    Ok(())
}
