//! Handing out jobs: the claims of many workers on the same queues in one transaction.

use std::collections::BTreeSet;

use hapax_core::limit::{LimitKey, OnLimit};
use hapax_core::unique::Uniqueness;
use hapax_core::{
    Delivery, Job, JobId, QueueName, State, StateSet, TENANT_MEMBER, TenantId, Timestamp, next_due,
};
use hapax_store::desk::{Desk, Moved, Numbered};
use hapax_store::{
    CLAIM_BYTES_MAX, Change, Claim, Claimed, EXPIRED_PER_CLAIM_MAX, EntryKey, Happened, HeldBack, Revision,
    StoreError, TENANT_LOOK_MAX, bytes_of,
};
use tokio_postgres::Statement;
use uuid::Uuid;

use crate::Fault;
use crate::commit::{Ready, lay_free};
use crate::connect::Link;
use crate::limits::{self, LimitDesk};
use crate::load::Wanted;
use crate::row;
use crate::save::{Numbers, Rest, Then, save};
use crate::store::Engine;
use crate::transaction::{Patience, Transaction};

/// Carries out claims on the same queues one after the other, and commits what they took.
pub(crate) async fn together(engine: &Engine, link: &Link, claims: &[Claim]) -> Result<Taken, StoreError> {
    let transaction = Transaction::new(link, Patience::None);
    let failed = Fault::failed;
    let ready = Ready::prepare(engine, &transaction).await.map_err(failed)?;
    // All claims of a round are of one tenant, or of none.
    let tenant = claims.first().and_then(|claim| claim.tenant.as_ref());
    let statement = if tenant.is_some() { &engine.statements.tenant_line } else { &engine.statements.line };
    let round = Round {
        engine,
        transaction: &transaction,
        ready: &ready,
        line: transaction.prepare(statement).await.map_err(failed)?,
        tenant,
        now: claims.last().map_or(Timestamp::from_millis(0), |claim| claim.now),
    };
    let mut desk = Desk::new(engine.settings.rules.clone());
    let mut trays: Vec<Tray> = claims.iter().map(|_| Tray::default()).collect();
    let mut missed = false;
    if let Some([queue]) = claims.first().map(|claim| claim.queues.as_slice()) {
        // One line needs no look at which lines have jobs: it comes with the beginning.
        let (begun, first) = tokio::join! {
            biased;
            transaction.begin(),
            round.line(&round.line, queue, room(claims, &trays)),
        };
        begun.map_err(failed)?;
        let first = Some(first.map_err(failed)?);
        let served = Box::pin(round.serve(&mut desk, queue, claims, &mut trays, first)).await;
        missed |= !served.map_err(failed)?;
    } else {
        for queue in round.begin(claims).await.map_err(failed)? {
            if room(claims, &trays) == 0 {
                break;
            }
            let served = Box::pin(round.serve(&mut desk, &queue, claims, &mut trays, None)).await;
            missed |= !served.map_err(failed)?;
        }
    }
    let mut moved = desk.take_moved();
    let shares = Numbers::default().give(&mut moved, &transaction, &ready.numbers).await.map_err(failed)?;
    round.note_ends(&moved).await.map_err(failed)?;
    let mut entries = desk.take_moved_entries();
    entries.extend(letters(engine, claims, &trays));
    let opened = next_in_line(&moved, &trays);
    let rest =
        Rest { now: round.now, desk: &desk, memos: &[], entries: &entries, opened: &opened, shares: &shares };
    let queues =
        save(&transaction, &ready.writers, &engine.settings.rules, &moved, rest, Then::Commit).await?;
    engine.word.spread(&moved);
    engine.word.room_in(&queues, &moved);
    Ok(Taken { claimed: trays.into_iter().map(|tray| tray.claimed).collect(), missed })
}

/// What claims took.
pub(crate) struct Taken {
    pub(crate) claimed: Vec<Claimed>,
    /// Whether somebody else decided about a rate limit at that moment, so that its jobs were not looked at.
    pub(crate) missed: bool,
}

/// Rate limits of which somebody started, so that another is the first: but for those that leave no room for it.
fn next_in_line(moved: &[Moved], trays: &[Tray]) -> BTreeSet<LimitKey> {
    let mut opened = limits::touched(moved);
    for held in trays.iter().flat_map(|tray| &tray.claimed.held) {
        opened.remove(&held.key);
    }
    opened
}

/// What others are to be told of what the claims took, as entries that are new.
fn letters(engine: &Engine, claims: &[Claim], trays: &[Tray]) -> Vec<(EntryKey, Revision)> {
    let outbox = &*engine.settings.outbox;
    if !outbox.is_open() {
        return Vec::new();
    }
    let of_one =
        |(claim, tray): (&Claim, &Tray)| outbox.letters(Happened::Claimed(&tray.claimed.changes), claim.now);
    let letters = claims.iter().zip(trays).flat_map(of_one);
    letters.map(|(key, written)| (key, Some(written))).collect()
}

/// How many more jobs the claims may take.
fn room(claims: &[Claim], trays: &[Tray]) -> usize {
    claims.iter().zip(trays).map(|(claim, tray)| tray.room(claim)).sum()
}

/// Lets the claims take jobs; for whom there was no room.
fn fill(trays: &mut [Tray], claims: &[Claim], queue: &QueueName, desk: &mut Desk) -> Vec<HeldBack> {
    let mut held = Vec::new();
    for (claim, tray) in claims.iter().zip(trays) {
        held.extend(tray.fill(claim, queue, desk));
    }
    held
}

/// What one claim has got.
#[derive(Debug, Default)]
struct Tray {
    claimed: Claimed,
}

impl Tray {
    /// How many more jobs the claim may take.
    fn room(&self, claim: &Claim) -> usize {
        let changes = &self.claimed.changes;
        let is_given = |change: &&Change| matches!(change.job().state(), State::Active | State::Completed);
        let expired = changes.len() - changes.iter().filter(is_given).count();
        let bytes: usize = changes.iter().map(|change| bytes_of(change.job())).sum();
        if expired >= EXPIRED_PER_CLAIM_MAX || bytes >= CLAIM_BYTES_MAX {
            return 0;
        }
        claim.count.saturating_sub(changes.len() - expired)
    }

    fn fill(&mut self, claim: &Claim, queue: &QueueName, desk: &mut Desk) -> Vec<HeldBack> {
        let count = self.room(claim);
        if count == 0 {
            return Vec::new();
        }
        let rest = Claim { queues: vec![queue.clone()], count, ..claim.clone() };
        let Claimed { changes, mut held } = desk.claim(&rest);
        self.claimed.changes.extend(changes);
        // A tenant that was turned away before its turn meets the same job at each look.
        if claim.tenant.is_some() {
            held.retain(|held| !self.claimed.held.contains(held));
        }
        self.claimed.held.extend(held.iter().cloned());
        held
    }
}

/// How many jobs more than wanted are fetched for a tenant: of those that look like its own, some may not be.
const SPARE: usize = 16;

/// What the metadata of a tenant's jobs looks like. Those that only look like it are left out later: reading the metadata is
/// not left to the database, which does not take every text that JSON can hold.
fn pattern(tenant: &TenantId) -> String {
    format!(r#""{TENANT_MEMBER}"\s*:\s*"{}""#, tenant.as_str().replace('.', "\\."))
}

/// How often a claim looks further down a line because of rate limits, and how many jobs further.
const LOOKS_MAX: usize = 16;
const AHEAD_MIN: usize = 16;
const AHEAD_MAX: usize = 1024;

/// The first jobs of a line.
struct Line {
    jobs: Vec<Numbered>,
    /// Whether there are no others.
    is_whole: bool,
}

/// What the queues of a transaction are read with.
struct Round<'t> {
    engine: &'t Engine,
    transaction: &'t Transaction<'t>,
    ready: &'t Ready,
    line: Statement,
    tenant: Option<&'t TenantId>,
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

    /// The first jobs of the line.
    async fn line(&self, statement: &Statement, queue: &QueueName, count: usize) -> Result<Line, Fault> {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (limit, bytes) = (number(count), number(CLAIM_BYTES_MAX));
        let expired = number(EXPIRED_PER_CLAIM_MAX);
        let (queue_name, now) = (queue.as_str(), self.now.millis());
        let mut params: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
            vec![&queue_name, &limit, &bytes, &now, &expired];
        let (look, spare) = (number(TENANT_LOOK_MAX), number(SPARE));
        let pattern = self.tenant.map(pattern);
        if let Some(pattern) = &pattern {
            params.extend([&look as &(dyn tokio_postgres::types::ToSql + Sync), pattern, &spare]);
        }
        let rows = self.transaction.query(statement, &params, "fetch the line of a queue").await?;
        let jobs = rows.iter().map(|row| row::read(row, 0)).collect::<Result<Vec<_>, _>>()?;
        Ok(Line { is_whole: jobs.len() < count, jobs })
    }

    /// Gives jobs of a queue to those who want them. False if somebody else decides about one of its rate limits.
    async fn serve(
        &self,
        desk: &mut Desk,
        queue: &QueueName,
        claims: &[Claim],
        trays: &mut [Tray],
        first: Option<Line>,
    ) -> Result<bool, Fault> {
        let limits = LimitDesk {
            engine: self.engine,
            transaction: self.transaction,
            lock: &self.ready.lock,
            entries: &self.ready.entries,
        };
        let mut line = match first {
            Some(line) => line,
            None => self.line(&self.line, queue, room(claims, trays)).await?,
        };
        let mut statement = None;
        if line.jobs.is_empty() {
            match limits.lay_queue(desk, queue).await? {
                None => return Ok(true),
                Some(false) => return Ok(false),
                Some(true) => {}
            }
            self.engine.word.note_limited(queue);
            let sql = match self.tenant {
                Some(_) => &self.engine.statements.limited_tenant_line,
                None => &self.engine.statements.limited_line,
            };
            let whatever_its_limit = self.transaction.prepare(sql).await?;
            line = self.line(&whatever_its_limit, queue, room(claims, trays)).await?;
            statement = Some(whatever_its_limit);
        }
        let statement = statement.as_ref().unwrap_or(&self.line);
        let (mut all_seen, mut ahead) = (true, AHEAD_MIN);
        for _ in 0..LOOKS_MAX {
            let Line { mut jobs, is_whole } = line;
            let is_limited = jobs.iter().any(|stored| stored.job.spec.rate_limit.is_some());
            // Those of a tenant are all here, but for the first of their limits.
            let behind = if self.tenant.is_some() { 1 } else { room(claims, trays) };
            let count = i64::try_from(behind).unwrap_or(i64::MAX);
            all_seen &= limits.lay(desk, queue, &mut jobs, is_whole, count).await?;
            let own = self.own(&jobs);
            self.lay(desk, queue, jobs).await?;
            let held = fill(trays, claims, queue, desk);
            limits.hold_back(desk, &held, &own).await?;
            let is_closed = held.iter().any(|held| held.key.limited_queue().is_some());
            let wanted = room(claims, trays);
            if !is_limited || is_whole || is_closed || wanted == 0 {
                break;
            }
            // Those that were given out stand in line until all is written.
            let given: usize = trays.iter().map(|tray| tray.claimed.changes.len()).sum();
            line = self.line(statement, queue, wanted + given + ahead).await?;
            ahead = (ahead * 2).min(AHEAD_MAX);
        }
        Ok(all_seen)
    }

    /// The jobs of the tenant that share limits.
    fn own(&self, line: &[Numbered]) -> Vec<(JobId, LimitKey)> {
        let Some(tenant) = self.tenant else { return Vec::new() };
        let own = line.iter().map(|stored| &stored.job).filter(|job| tenant.owns(&job.spec.meta));
        own.filter_map(|job| Some((job.id, job.spec.rate_limit.as_deref()?.key.clone()))).collect()
    }

    /// Lays jobs of a line on the desk, with whom they may let go or meet.
    async fn lay(&self, desk: &mut Desk, queue: &QueueName, mut line: Vec<Numbered>) -> Result<(), Fault> {
        // What the end of a step means for its workflow is left to the chores: they have the time to look it up.
        line.retain(|stored| stored.job.spec.workflow.is_none() || !self.is_expired(&stored.job));
        let mut wanted = Wanted::default();
        for stored in &line {
            self.add_others(&mut wanted, &stored.job);
        }
        let others = wanted.load(self.transaction, &self.ready.load).await?;
        lay_free(desk, line, others);
        desk.lay_queue(queue, false);
        Ok(())
    }

    /// Leaves a note of steps that ended by the claim, such as those that a rate limit drops: the chores see to what that means
    /// for their workflows, as they do when steps end in transactions of users.
    async fn note_ends(&self, moved: &[Moved]) -> Result<(), Fault> {
        let jobs = moved.iter().filter_map(|moved| moved.after.as_ref()).map(|stored| &stored.job);
        let ended = jobs.filter(|job| job.spec.workflow.is_some() && job.state().is_terminal());
        let ids: Vec<Uuid> = ended.map(|job| row::uuid(job.id)).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let note = self.transaction.prepare(&self.engine.statements.note_ends).await?;
        self.transaction.execute(&note, &[&ids], "note ends").await.map(drop)
    }

    fn is_expired(&self, job: &Job) -> bool {
        next_due(job, &self.engine.settings.rules).is_some_and(|at| at <= self.now)
    }

    /// Who waits for the job, if the claim ends it; who holds its key, if the claim brings it back to it.
    fn add_others(&self, wanted: &mut Wanted, job: &Job) {
        let may_be_dropped =
            job.spec.rate_limit.as_deref().is_some_and(|limit| limit.on_limit == OnLimit::Drop);
        if self.is_expired(job) || may_be_dropped || job.spec.delivery == Delivery::AtMostOnce {
            wanted.add_id(job.id);
        }
        if let Some((key, watch)) = job.key.zip(job.spec.unique.as_ref().map(Uniqueness::watch))
            && watch.states != StateSet::INCOMPLETE
        {
            wanted.add_key(key, watch, self.now);
        }
    }
}
