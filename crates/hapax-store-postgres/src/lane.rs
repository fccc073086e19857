//! Lanes: tasks that take all requests that wait and carry them out together.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use hapax_store::{CommitFacts, StoreError};
use tokio::sync::mpsc::Receiver;
use tokio::task::{self, JoinSet};

use crate::Fault;
use crate::claim;
use crate::commit::{self, Fate};
use crate::crowd::wait_apart;
use crate::locks::Lock;
use crate::request::{Commit, Fetch, are_simple};
use crate::store::Engine;
use crate::transaction::Patience;
use crate::waiting::{Group, JOBS_MAX, Waiting};

/// How many requests a lane looks at at a time.
const REQUESTS_MAX: usize = 1024;
/// How many groups are under way at a time: while the database works on one, answers are given and the next is gathered.
const GROUPS_MAX: usize = 4;
/// A group that goes beside another has at least so many jobs: two small ones cost the database more than one larger
/// one.
const JOBS_BESIDE_MIN: usize = 64;

/// Carries out operations until nobody can ask any more.
pub(crate) async fn commits(engine: Arc<Engine>, mut inbox: Receiver<Commit>) {
    let mut waiting = Waiting::default();
    let mut under_way = JoinSet::new();
    let mut locks_of: HashMap<task::Id, Vec<Lock>> = HashMap::new();
    let mut arrived = Vec::with_capacity(REQUESTS_MAX);
    let mut is_open = true;
    while is_open || !waiting.is_empty() || !under_way.is_empty() {
        tokio::select! {
            biased;
            Some(ended) = under_way.join_next_with_id() => {
                let id = ended.map_or_else(|broken| broken.id(), |(id, ())| id);
                waiting.end(&locks_of.remove(&id).unwrap_or_default());
            }
            count = inbox.recv_many(&mut arrived, REQUESTS_MAX), if is_open => is_open = count > 0,
            else => return,
        }
        for request in arrived.drain(..) {
            if are_simple(&request.ops) {
                waiting.push(request);
            } else {
                wait_apart(&engine, request);
            }
        }
        while under_way.len() < GROUPS_MAX
            && (under_way.is_empty() || waiting.jobs() >= JOBS_BESIDE_MIN)
            && let Some(Group { requests, locks }) = waiting.next_group()
        {
            let engine = Arc::clone(&engine);
            let task = under_way.spawn(async move { commit_group(&engine, requests).await });
            locks_of.insert(task.id(), locks);
        }
    }
}

async fn commit_group(engine: &Arc<Engine>, group: Vec<Commit>) {
    let (ops, callers): (Vec<_>, Vec<_>) =
        group.into_iter().map(|Commit { ops, caller }| (ops, caller)).unzip();
    match carry_out(engine, &ops).await {
        Ok(fates) => {
            for ((ops, caller), fate) in ops.into_iter().zip(callers).zip(fates) {
                match fate {
                    // One that does not wait any more misses nothing: it will ask again.
                    Fate::Answered(answers) => drop(caller.send(Ok(answers))),
                    Fate::Held => wait_apart(engine, Commit { ops, caller }),
                }
            }
        }
        Err(Undone::Together) => {
            for (ops, caller) in ops.into_iter().zip(callers) {
                wait_apart(engine, Commit { ops, caller });
            }
        }
        Err(Undone::Failed(error)) => {
            for caller in callers {
                drop(caller.send(Err(error.clone())));
            }
        }
    }
}

/// Why a group came to nothing.
enum Undone {
    /// One of its requests stood in the way of the others: each goes its own way.
    Together,
    Failed(StoreError),
}

async fn carry_out(engine: &Engine, requests: &[Vec<hapax_store::Op>]) -> Result<Vec<Fate>, Undone> {
    let operations = requests.iter().map(Vec::len).sum();
    // A connection may have died of old age since it was used last, before anything was sent over it.
    for is_last in [false, true] {
        let link = engine.pool.connection().await.map_err(|fault| Undone::Failed(fault.failed()))?;
        #[expect(clippy::disallowed_methods, reason = "measures the work on a group")]
        let start = Instant::now();
        let error = match commit::together(engine, &link, requests, Patience::None).await {
            Ok(fates) => {
                link.keep();
                (engine.settings.observer)(CommitFacts {
                    operations,
                    apply: start.elapsed(),
                    sync: std::time::Duration::ZERO,
                });
                return Ok(fates);
            }
            Err(error) => error,
        };
        let fault = fault(&error);
        if let Some(fault) = fault {
            link.give_up(fault);
        }
        match fault {
            Some(fault) if fault.is_of_the_moment() || fault.is_of_a_lock() || fault.is_of_room() => {
                return Err(Undone::Together);
            }
            Some(fault) if fault.is_of_the_connection() && !is_last => {}
            _ => return Err(Undone::Failed(error)),
        }
    }
    Err(Undone::Together)
}

/// The fault after which nothing was done.
pub(crate) fn fault(error: &StoreError) -> Option<&Fault> {
    match error {
        StoreError::Failed(source) => source.downcast_ref::<Fault>(),
        StoreError::Unknown(_) | StoreError::Closed | StoreError::Damaged { .. } => None,
    }
}

/// Hands out jobs until nobody can ask any more.
pub(crate) async fn claims(engine: Arc<Engine>, mut inbox: Receiver<Fetch>) {
    let mut waiting = Vec::with_capacity(REQUESTS_MAX);
    while inbox.recv_many(&mut waiting, REQUESTS_MAX).await > 0 {
        while let Some(first) = waiting.first() {
            let (queues, tenant) = (first.claim.queues.clone(), first.claim.tenant.clone());
            let mut jobs: usize = 0;
            let (group, rest): (Vec<Fetch>, Vec<Fetch>) = waiting.drain(..).partition(|fetch| {
                let is_first = jobs == 0;
                jobs = jobs.saturating_add(fetch.claim.count.max(1));
                fetch.claim.queues == queues && fetch.claim.tenant == tenant && (is_first || jobs <= JOBS_MAX)
            });
            waiting = rest;
            claim_group(&engine, group).await;
        }
    }
}

async fn claim_group(engine: &Engine, group: Vec<Fetch>) {
    let (claims, callers): (Vec<_>, Vec<_>) =
        group.into_iter().map(|Fetch { claim, caller }| (claim, caller)).unzip();
    let mut result = Err(StoreError::Closed);
    let mut looks = 0;
    let mut tries = 0;
    while tries < 2 {
        tries += 1;
        let is_last = tries == 2;
        let link = match engine.pool.connection().await {
            Ok(link) => link,
            Err(fault) => {
                result = Err(fault.failed());
                break;
            }
        };
        result = Box::pin(claim::together(engine, &link, &claims)).await;
        let error = match &result {
            Ok(taken) => {
                link.keep();
                let is_empty = taken.claimed.iter().all(|claimed| claimed.changes.is_empty());
                if !(taken.missed && is_empty && looks < LOOKS_MAX) {
                    break;
                }
                // Whoever decides about a rate limit is done in a moment.
                looks += 1;
                tries = 0;
                pause().await;
                continue;
            }
            Err(error) => error,
        };
        let fault = fault(error);
        if let Some(fault) = fault {
            link.give_up(fault);
        }
        let is_worth_another =
            fault.is_some_and(|fault| fault.is_of_the_connection() || fault.is_of_the_moment());
        if !is_worth_another || is_last {
            break;
        }
    }
    match result {
        Ok(taken) => {
            callers.into_iter().zip(taken.claimed).for_each(|(caller, taken)| drop(caller.send(Ok(taken))));
        }
        Err(error) => callers.into_iter().for_each(|caller| drop(caller.send(Err(error.clone())))),
    }
}

/// How often a claim looks again that found nothing but a rate limit about which somebody else decided.
const LOOKS_MAX: usize = 25;
/// How long it waits before that.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

#[expect(clippy::disallowed_methods, reason = "nothing tells when another server lets go of a lock")]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}
