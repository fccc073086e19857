//! Crowds: requests that wait for the same locks wait as one, so that however many there are, one place and one
//! connection are enough for them and the others are left to others.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use hapax_store::{Op, StoreError};

use crate::Fault;
use crate::commit::{self, Fate};
use crate::lane::fault;
use crate::locks::{self, Lock};
use crate::patient;
use crate::request::{Commit, are_simple};
use crate::store::Engine;
use crate::transaction::Patience;
use crate::waiting::Waiting;

/// Who waits, by what for.
#[derive(Default)]
pub(crate) struct Crowds(Mutex<HashMap<BTreeSet<Lock>, Vec<Commit>>>);

impl Crowds {
    /// Adds a request to its crowd. Says whether it is the first there, on whom it is to see the crowd through.
    fn join(&self, locks: &BTreeSet<Lock>, request: Commit) -> bool {
        let mut crowds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(crowd) = crowds.get_mut(locks) {
            crowd.push(request);
            return false;
        }
        crowds.insert(locks.clone(), vec![request]);
        true
    }

    /// Those who have come since the last look. A crowd in which nobody is left is no more.
    fn take(&self, locks: &BTreeSet<Lock>) -> Vec<Commit> {
        let mut crowds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match crowds.get_mut(locks) {
            Some(crowd) if !crowd.is_empty() => std::mem::take(crowd),
            _ => {
                crowds.remove(locks);
                Vec::new()
            }
        }
    }
}

/// Lets a request wait for its locks, beside those who need none of them.
pub(crate) fn wait_apart(engine: &Arc<Engine>, request: Commit) {
    let locks = locks::met_by(&request.ops);
    if locks.is_empty() || !are_simple(&request.ops) {
        wait_alone(engine, request);
    } else if engine.crowds.join(&locks, request) {
        let apart = Arc::clone(engine);
        engine.tasks.spawn(async move { Box::pin(see_through(&apart, &locks)).await });
    }
}

fn wait_alone(engine: &Arc<Engine>, request: Commit) {
    let apart = Arc::clone(engine);
    engine.tasks.spawn(async move {
        let Commit { ops, caller } = request;
        drop(caller.send(patient::alone(&apart, ops).await));
    });
}

/// Lets all who have come wait together, until nobody comes any more.
async fn see_through(engine: &Arc<Engine>, locks: &BTreeSet<Lock>) {
    loop {
        let place = engine.patient.acquire().await;
        let crowd = engine.crowds.take(locks);
        if crowd.is_empty() {
            return;
        }
        if place.is_err() {
            refuse(crowd, &StoreError::Closed);
            continue;
        }
        let mut waiting = Waiting::default();
        for request in crowd {
            waiting.push(request);
        }
        while let Some(group) = waiting.next_group() {
            waiting.end(&group.locks);
            if let Err(held) = wait_together(engine, group.requests).await {
                // Nobody waits longer than the first of them did.
                refuse(engine.crowds.take(locks), &held);
            }
        }
    }
}

/// One transaction for all of a group. An error says that somebody else held on to their locks for too long.
async fn wait_together(engine: &Arc<Engine>, group: Vec<Commit>) -> Result<(), StoreError> {
    let ops: Vec<Vec<Op>> = group.iter().map(|request| request.ops.clone()).collect();
    let error = match carry_out(engine, &ops).await {
        Ok(fates) => {
            for (request, fate) in group.into_iter().zip(fates) {
                match fate {
                    Fate::Answered(answers) => drop(request.caller.send(Ok(answers))),
                    // A row that was found and went before it could be locked.
                    Fate::Held => wait_alone(engine, request),
                }
            }
            return Ok(());
        }
        Err(error) => error,
    };
    match fault(&error) {
        Some(fault) if fault.is_of_the_moment() => {
            for request in group {
                wait_alone(engine, request);
            }
            Ok(())
        }
        Some(fault) if fault.is_of_a_lock() => {
            let held = Fault::Held.failed();
            refuse(group, &held);
            Err(held)
        }
        _ => {
            refuse(group, &error);
            Ok(())
        }
    }
}

async fn carry_out(engine: &Engine, requests: &[Vec<Op>]) -> Result<Vec<Fate>, StoreError> {
    let link = engine.pool.connection().await.map_err(Fault::failed)?;
    let fates = commit::together(engine, &link, requests, Patience::UntilTimeout).await?;
    link.keep();
    Ok(fates)
}

fn refuse(requests: Vec<Commit>, error: &StoreError) {
    for request in requests {
        // One that does not wait any more misses nothing: it will ask again.
        drop(request.caller.send(Err(error.clone())));
    }
}
