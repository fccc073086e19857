//! Many rows as arrays, one per column: what the statements that write take.

use std::borrow::Cow;

use hapax_core::{Job, OrderingKey, Rules, Spec, Timestamp, next_due};
use hapax_store::desk::{Numbered, PROVISIONAL};
use hapax_store::record::ledger::Held;
use hapax_store::record::{failures, ledger, millis, options, phase, policy};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::columns::{self, BODY, Pack, Packs, STATUS};
use super::uuid;

type Params<'s> = Vec<&'s (dyn ToSql + Sync)>;

/// What of a job's row is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// Everything, into a row that is not there yet.
    New,
    /// The same, by the function for jobs that nobody has touched yet.
    Fresh,
    /// Everything.
    All,
    /// What became of it: the client's part is as it was.
    Status,
}

/// Rows to write, column by column.
#[derive(Debug)]
pub(crate) struct Sheet<'j> {
    part: Part,
    /// Those that any of the rows needs.
    packs: Packs,
    body: Body<'j>,
    status: Status<'j>,
}

#[derive(Debug, Default)]
struct Body<'j> {
    seq: Vec<i64>,
    kind: Vec<&'j str>,
    queue: Vec<&'j str>,
    priority: Vec<i16>,
    created_at: Vec<i64>,
    scheduled_at: Vec<Option<i64>>,
    key: Vec<Option<&'j [u8]>>,
    policy: Vec<Option<String>>,
    options: Vec<Option<String>>,
    args: Vec<&'j str>,
    meta: Vec<Option<&'j str>>,
    extra: Vec<Option<&'j str>>,
    limit_key: Vec<Option<&'j str>>,
    ordering_key: Vec<Option<&'j str>>,
}

#[derive(Debug, Default)]
struct Status<'j> {
    id: Vec<Uuid>,
    state: Vec<&'static str>,
    /// Nothing for one that is drawn where it is stored.
    turn: Vec<Option<i64>>,
    attempt: Vec<i32>,
    fence: Vec<i64>,
    at: Vec<Option<i64>>,
    enqueued_at: Vec<Option<i64>>,
    activated_at: Vec<Option<i64>>,
    started_at: Vec<Option<i64>>,
    token: Vec<Option<Vec<u8>>>,
    worker: Vec<Option<Cow<'j, str>>>,
    deadline: Vec<Option<i64>>,
    lease_ms: Vec<Option<i64>>,
    times_out_at: Vec<Option<i64>>,
    detail: Vec<Option<Cow<'j, str>>>,
    after: Vec<Option<Uuid>>,
    dead_letter: Vec<bool>,
    retry_ms: Vec<Option<i64>>,
    reentered_beside: Vec<Option<Uuid>>,
    result: Vec<Option<Cow<'j, str>>>,
    errors: Vec<Option<String>>,
    ledger: Vec<Option<String>>,
    due_at: Vec<Option<i64>>,
}

/// Sheets of the same shape are written by the same statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    part: Part,
    packs: Packs,
}

impl Shape {
    pub(crate) fn statement(self) -> String {
        match self.part {
            Part::New => columns::insert(self.packs),
            Part::Fresh => columns::store_new(self.packs),
            Part::All => columns::rewrite(self.packs),
            Part::Status => columns::update(self.packs),
        }
    }
}

impl<'j> Sheet<'j> {
    /// An empty one.
    pub(crate) fn new(part: Part) -> Sheet<'j> {
        Sheet { part, packs: Packs::new(), body: Body::default(), status: Status::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.status.id.is_empty()
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, stored: &'j Numbered, rules: &Rules) {
        self.status.push(stored, rules);
        self.status.add_packs(&mut self.packs);
        if self.part != Part::Status {
            self.body.push(stored);
            self.body.add_packs(&mut self.packs);
        }
    }

    /// Whether the function for fresh jobs can store it.
    pub(crate) fn is_fresh(&self) -> bool {
        self.packs.are_fresh()
    }

    /// What the statement that writes it depends on.
    pub(crate) fn shape(&self) -> Shape {
        Shape { part: self.part, packs: self.packs }
    }

    /// The arrays that the statement takes.
    pub(crate) fn params(&self) -> Params<'_> {
        let status = STATUS.iter().zip(self.status.params());
        let body: Params<'_> = if self.part == Part::Status { Vec::new() } else { self.body.params() };
        let all = status.chain(BODY.iter().zip(body));
        let is_drawn = |column: &columns::Column| self.part == Part::Fresh && column.is_place();
        let all = all.filter(|(column, _)| !is_drawn(column));
        all.filter(|(column, _)| self.packs.has(column.pack)).map(|(_, array)| array).collect()
    }
}

impl<'j> Body<'j> {
    fn push(&mut self, stored: &'j Numbered) {
        let Numbered { seq, turn: _, job } = stored;
        let Job {
            spec,
            key,
            created_at,
            // The rest is the business of `Status`.
            id: _,
            enqueued_at: _,
            activated_at: _,
            started_at: _,
            attempt: _,
            fence: _,
            phase: _,
            history: _,
            retry_delay: _,
            ledger: _,
            reentered_beside: _,
            released: _,
            first_start: _,
            progress: _,
            checkpoint: _,
            begun_at: _,
        } = job;
        let Spec {
            kind,
            queue,
            priority,
            args,
            meta,
            unique,
            extra,
            scheduled_at,
            rate_limit,
            ordering_key,
            ..
        } = &**spec;
        let unless_empty = |text: &'j str| Some(text).filter(|text| *text != "{}");
        self.seq.push(number(*seq));
        self.kind.push(kind.as_str());
        self.queue.push(queue.as_str());
        self.priority.push(priority.get().into());
        self.created_at.push(created_at.millis());
        self.scheduled_at.push(scheduled_at.as_ref().map(|given| given.at.millis()));
        self.key.push(key.as_ref().map(|key| key.bytes().as_slice()));
        self.policy.push(unique.as_ref().map(policy::write));
        // Takes `Spec` apart without `..`.
        self.options.push(options::write(spec));
        self.args.push(args.as_str());
        self.meta.push(unless_empty(meta.as_str()));
        self.extra.push(unless_empty(extra.as_str()));
        self.limit_key.push(rate_limit.as_deref().map(|limit| limit.key.as_str()));
        self.ordering_key.push(ordering_key.as_ref().map(OrderingKey::as_str));
    }

    fn params(&self) -> Params<'_> {
        let Body {
            seq,
            kind,
            queue,
            priority,
            created_at,
            scheduled_at,
            key,
            policy,
            options,
            args,
            meta,
            extra,
            limit_key,
            ordering_key,
        } = self;
        vec![
            seq,
            kind,
            queue,
            priority,
            created_at,
            args,
            key,
            policy,
            scheduled_at,
            options,
            meta,
            extra,
            limit_key,
            ordering_key,
        ]
    }

    /// Notes what the last row needs.
    fn add_packs(&self, packs: &mut Packs) {
        packs.add_if(is_given(&self.key) || is_given(&self.policy), Pack::Key);
        let texts = is_given(&self.options) || is_given(&self.meta) || is_given(&self.extra);
        packs.add_if(texts || is_given(&self.scheduled_at), Pack::Client);
        packs.add_if(is_given(&self.limit_key) || is_given(&self.ordering_key), Pack::Limit);
    }
}

impl<'j> Status<'j> {
    fn push(&mut self, stored: &'j Numbered, rules: &Rules) {
        let Numbered { seq: _, turn, job } = stored;
        let Job {
            id,
            // What the client asked for is the business of `Body`.
            spec: _,
            key: _,
            created_at: _,
            enqueued_at,
            activated_at,
            started_at,
            attempt,
            fence,
            phase,
            history,
            retry_delay,
            ledger,
            reentered_beside,
            released,
            first_start,
            progress,
            checkpoint,
            begun_at,
        } = job;
        let after = job.waits_for();
        let phase::Columns {
            at,
            token,
            worker,
            deadline,
            lease_ms,
            times_out_at,
            detail,
            dead_letter,
            result,
        } = phase::write(phase);
        let moment = |at: Option<Timestamp>| at.map(Timestamp::millis);
        self.id.push(uuid(*id));
        self.state.push(phase.state().name());
        self.turn.push(Some(*turn).filter(|turn| *turn < PROVISIONAL).map(number));
        self.attempt.push(i32::try_from(*attempt).unwrap_or(i32::MAX));
        self.fence.push(number(*fence));
        self.at.push(at);
        self.enqueued_at.push(moment(*enqueued_at));
        self.activated_at.push(moment(*activated_at));
        self.started_at.push(moment(*started_at));
        self.token.push(token.map(Vec::from));
        self.worker.push(worker);
        self.deadline.push(deadline);
        self.lease_ms.push(lease_ms);
        self.times_out_at.push(times_out_at);
        self.detail.push(detail.filter(|_| after.is_none()));
        self.after.push(after.map(uuid));
        self.dead_letter.push(dead_letter);
        self.retry_ms.push(retry_delay.map(millis));
        self.reentered_beside.push(reentered_beside.map(uuid));
        self.result.push(result);
        self.errors.push(failures::write(history));
        self.ledger.push(ledger::write(Held {
            ledger,
            released: released.as_ref(),
            first_start: *first_start,
            progress: progress.as_ref(),
            checkpoint: checkpoint.as_ref(),
            begun_at: *begun_at,
        }));
        self.due_at.push(moment(next_due(job, rules)));
    }

    fn params(&self) -> Params<'_> {
        let Status {
            id,
            state,
            turn,
            attempt,
            fence,
            at,
            enqueued_at,
            activated_at,
            started_at,
            token,
            worker,
            deadline,
            lease_ms,
            times_out_at,
            detail,
            after,
            dead_letter,
            retry_ms,
            reentered_beside,
            result,
            errors,
            ledger,
            due_at,
        } = self;
        vec![
            id,
            state,
            turn,
            enqueued_at,
            at,
            due_at,
            attempt,
            fence,
            started_at,
            token,
            worker,
            deadline,
            lease_ms,
            detail,
            dead_letter,
            result,
            activated_at,
            times_out_at,
            after,
            retry_ms,
            reentered_beside,
            errors,
            ledger,
        ]
    }

    /// Notes what the last row needs.
    fn add_packs(&self, packs: &mut Packs) {
        packs.add_if(is_given(&self.at) || is_given(&self.due_at), Pack::Time);
        let has_run = self.attempt.last() != Some(&0) || self.fence.last() != Some(&0);
        packs.add_if(has_run || is_given(&self.started_at), Pack::Run);
        let times = is_given(&self.deadline) || is_given(&self.lease_ms);
        packs.add_if(times || is_given(&self.token) || is_given(&self.worker), Pack::Lease);
        let is_dead_letter = self.dead_letter.last() == Some(&true);
        packs.add_if(is_dead_letter || is_given(&self.detail) || is_given(&self.result), Pack::End);
        let times = is_given(&self.activated_at) || is_given(&self.times_out_at) || is_given(&self.retry_ms);
        let others = is_given(&self.after) || is_given(&self.reentered_beside);
        packs.add_if(times || others || is_given(&self.errors) || is_given(&self.ledger), Pack::Rare);
    }
}

/// Whether the last row has something in this column.
fn is_given<T>(column: &[Option<T>]) -> bool {
    column.last().is_some_and(Option::is_some)
}

/// A place or a fence. None that is larger will ever be reached.
fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
