//! Handing out jobs: the claims of many workers on the same queues in one transaction.

use hapax_core::unique::Uniqueness;
use hapax_core::{Delivery, Job, QueueName, State, StateSet, Timestamp, next_due};
use hapax_store::desk::Desk;
use hapax_store::{CLAIM_BYTES_MAX, Change, Claim, EXPIRED_PER_CLAIM_MAX, StoreError};
use tokio_postgres::Statement;

use crate::Fault;
use crate::commit::{Ready, lay_free};
use crate::connect::Link;
use crate::load::Wanted;
use crate::row;
use crate::save::{Numbers, Rest, Then, save};
use crate::store::Engine;
use crate::transaction::{Patience, Transaction};

/// Carries out claims on the same queues one after the other, and commits what they took.
pub(crate) async fn together(
    engine: &Engine,
    link: &Link,
    claims: &[Claim],
) -> Result<Vec<Vec<Change>>, StoreError> {
    let transaction = Transaction::new(link, Patience::None);
    let failed = Fault::failed;
    let ready = Ready::prepare(engine, &transaction).await.map_err(failed)?;
    let round = Round {
        engine,
        transaction: &transaction,
        ready: &ready,
        line: transaction.prepare(&engine.statements.line).await.map_err(failed)?,
        now: claims.last().map_or(Timestamp::from_millis(0), |claim| claim.now),
    };
    let mut desk = Desk::new(engine.settings.rules.clone());
    let mut trays: Vec<Tray> = claims.iter().map(|_| Tray::default()).collect();
    if let Some([queue]) = claims.first().map(|claim| claim.queues.as_slice()) {
        // One line needs no look at which lines have jobs: it comes with the beginning.
        let (begun, laid) = tokio::join! {
            biased;
            transaction.begin(),
            round.lay_line(&mut desk, queue, room(claims, &trays)),
        };
        begun.and(laid).map_err(failed)?;
        fill(&mut trays, claims, queue, &mut desk);
    } else {
        for queue in round.begin(claims).await.map_err(failed)? {
            let wanted = room(claims, &trays);
            if wanted == 0 {
                break;
            }
            round.lay_line(&mut desk, &queue, wanted).await.map_err(failed)?;
            fill(&mut trays, claims, &queue, &mut desk);
        }
    }
    let mut moved = desk.take_moved();
    Numbers::default().give(&mut moved, &transaction, &ready.numbers).await.map_err(failed)?;
    let rest = Rest { now: round.now, desk: &desk, memos: &[] };
    save(&transaction, &ready.writers, &engine.settings.rules, &moved, rest, Then::Commit).await?;
    engine.word.spread(&moved);
    Ok(trays.into_iter().map(|tray| tray.changes).collect())
}

/// How many more jobs the claims may take.
fn room(claims: &[Claim], trays: &[Tray]) -> usize {
    claims.iter().zip(trays).map(|(claim, tray)| tray.room(claim)).sum()
}

fn fill(trays: &mut [Tray], claims: &[Claim], queue: &QueueName, desk: &mut Desk) {
    for (claim, tray) in claims.iter().zip(trays) {
        tray.fill(claim, queue, desk);
    }
}

/// What one claim has got.
#[derive(Debug, Default)]
struct Tray {
    changes: Vec<Change>,
}

impl Tray {
    /// How many more jobs the claim may take.
    fn room(&self, claim: &Claim) -> usize {
        let is_expired = |change: &&Change| change.job().state() == State::Discarded;
        let expired = self.changes.iter().filter(is_expired).count();
        let texts = |job: &Job| job.spec.args.as_str().len() + job.spec.meta.as_str().len();
        let bytes: usize = self.changes.iter().map(|change| texts(change.job())).sum();
        if expired >= EXPIRED_PER_CLAIM_MAX || bytes >= CLAIM_BYTES_MAX {
            return 0;
        }
        claim.count.saturating_sub(self.changes.len() - expired)
    }

    fn fill(&mut self, claim: &Claim, queue: &QueueName, desk: &mut Desk) {
        let count = self.room(claim);
        if count > 0 {
            let rest = Claim { queues: vec![queue.clone()], count, ..claim.clone() };
            self.changes.extend(desk.claim(&rest));
        }
    }
}

/// What the queues of a transaction are read with.
struct Round<'t> {
    engine: &'t Engine,
    transaction: &'t Transaction<'t>,
    ready: &'t Ready,
    line: Statement,
    now: Timestamp,
}

impl Round<'_> {
    /// Begins the transaction; the queues that have jobs and give them out, in the order of the claims.
    async fn begin(&self, claims: &[Claim]) -> Result<Vec<QueueName>, Fault> {
        let queues = claims.first().map_or(&[][..], |claim| &claim.queues);
        let names: Vec<&str> = queues.iter().map(QueueName::as_str).collect();
        let open = self.transaction.prepare(&self.engine.statements.open_queues).await?;
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 1] = [&names];
        let (begun, rows) = tokio::join! {
            biased;
            self.transaction.begin(),
            self.transaction.query(&open, &params, "look at queues"),
        };
        begun?;
        let place = |row: &tokio_postgres::Row| {
            let place: i64 = row.try_get(0).map_err(Fault::of("look at queues"))?;
            let index = usize::try_from(place - 1).unwrap_or(usize::MAX);
            queues.get(index).cloned().ok_or(Fault::Unreadable("the place of a queue"))
        };
        rows?.iter().map(place).collect()
    }

    /// Lays the first jobs of the line on the desk, with whom they may let go or meet.
    async fn lay_line(&self, desk: &mut Desk, queue: &QueueName, count: usize) -> Result<(), Fault> {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (limit, bytes) = (number(count), number(CLAIM_BYTES_MAX));
        let expired = number(EXPIRED_PER_CLAIM_MAX);
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
            [&queue.as_str(), &limit, &bytes, &self.now.millis(), &expired];
        let rows = self.transaction.query(&self.line, &params, "fetch the line of a queue").await?;
        let line = rows.iter().map(|row| row::read(row, 0)).collect::<Result<Vec<_>, _>>()?;
        let mut wanted = Wanted::default();
        for stored in &line {
            self.add_others(&mut wanted, &stored.job);
        }
        let others = wanted.load(self.transaction, &self.ready.load).await?;
        lay_free(desk, line, others);
        desk.lay_queue(queue, false);
        Ok(())
    }

    /// Who waits for the job, if the claim ends it; who holds its key, if the claim brings it back to it.
    fn add_others(&self, wanted: &mut Wanted, job: &Job) {
        let is_expired = next_due(job, &self.engine.settings.rules).is_some_and(|at| at <= self.now);
        if is_expired || job.spec.delivery == Delivery::AtMostOnce {
            wanted.add_id(job.id);
        }
        if let Some((key, watch)) = job.key.zip(job.spec.unique.as_ref().map(Uniqueness::watch))
            && watch.states != StateSet::INCOMPLETE
        {
            wanted.add_key(key, watch, self.now);
        }
    }
}
