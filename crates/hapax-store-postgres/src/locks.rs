//! Locks on names that need not have a row: keys and idempotency keys. Advisory, held until the transaction ends.

use std::collections::BTreeSet;

use hapax_core::unique::Key;
use hapax_core::workflow::WorkflowId;
use hapax_core::{Incoming, JobId, Order, QueueName};
use hapax_store::{Action, EntryKey, Memo, MemoKey, Op, Register, workflow};
use tokio_postgres::{Row, Statement};

use crate::Fault;
use crate::transaction::{Patience, Transaction};

/// The number of a lock. Two names may share one: then one waits for the other without need, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lock(i64);

impl Lock {
    pub(crate) fn of_key(key: &Key) -> Lock {
        let bytes = key.bytes();
        Lock(i64::from_be_bytes([
            bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
        ]))
    }

    /// Of a row: the database has a lock for it already, and this number only stands for it. All jobs of a workflow
    /// have the same, since the end of one may change the others; other jobs do not differ in the last bits only.
    fn of_job(id: JobId) -> Lock {
        let family = WorkflowId::of_job(id).map_or(*id.bytes(), |(workflow, _)| *workflow.bytes());
        let [high, low] =
            [0, 8].map(|at| family[at..at + 8].iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)));
        Lock((high ^ low).cast_signed())
    }

    /// Of how many jobs wait in a queue: whoever adds to a bounded one has it.
    pub(crate) fn of_queue(name: &QueueName) -> Lock {
        Lock::of_key(&Key::of_text(&format!("depth\n{name}")))
    }

    /// Of a line: whoever joins it has it.
    pub(crate) fn of_order(order: &Order) -> Lock {
        Lock::of_key(&Key::of_text(&format!("order\n{}\n{}", order.queue, order.key.as_str())))
    }

    /// Of the turns of jobs that share a queue fairly: whoever gives some has it.
    pub(crate) fn of_share(name: &QueueName) -> Lock {
        Lock::of_key(&Key::of_text(&format!("share\n{name}")))
    }

    /// Of an entry. The two entries of a workflow change together.
    pub(crate) fn of_entry(key: &EntryKey) -> Lock {
        let register = match key.register {
            Register::Steps => Register::Workflow,
            register => register,
        };
        Lock::of_key(&Key::of_text(&format!("{}\n{}", register.name(), key.name)))
    }

    /// As the database takes it.
    pub(crate) fn number(self) -> i64 {
        self.0
    }

    pub(crate) fn of_memo(memo: &MemoKey) -> Lock {
        Lock::of_key(&Key::of_text(&memo.0))
    }
}

/// What has to be locked before an operation may look for rows.
pub(crate) fn of_op(op: &Op) -> Vec<Lock> {
    let (incoming, memo) = match &op.action {
        Action::Enqueue { incoming, memo } => (std::slice::from_ref(&**incoming), memo),
        Action::EnqueueAll { incoming, memo } | Action::EnqueueEach { incoming, memo } => {
            (incoming.as_slice(), memo)
        }
        Action::StartWorkflow { workflow, memo } => (workflow.plan.jobs.as_slice(), memo),
        Action::CancelWorkflow(id) => return vec![Lock::of_entry(&workflow::key(*id))],
        Action::Edit { key, .. } => return vec![Lock::of_entry(key)],
        Action::RunCron { key, memo, .. } => {
            let memo = memo.as_ref().map(|Memo { key, .. }| Lock::of_memo(key));
            return [Lock::of_entry(key)].into_iter().chain(memo).collect();
        }
        Action::EditTogether { keys, .. } => return keys.iter().map(Lock::of_entry).collect(),
        Action::StepHolders { key, .. } => return vec![Lock::of_key(key)],
        Action::Step { .. } | Action::Pause(_) | Action::Resume(_) | Action::RemoveQueue(_) => {
            return Vec::new();
        }
    };
    incoming
        .iter()
        .flat_map(of_incoming)
        .chain(memo.iter().map(|Memo { key, .. }| Lock::of_memo(key)))
        .collect()
}

/// The key and the line of a job on its way in.
fn of_incoming(incoming: &Incoming) -> impl Iterator<Item = Lock> {
    let order = incoming.spec.order();
    incoming.key.as_ref().map(Lock::of_key).into_iter().chain(order.as_ref().map(Lock::of_order))
}

/// Everything that a request locks, or that stands for a row that it locks.
pub(crate) fn of_request(ops: &[Op]) -> Vec<Lock> {
    let mut locks = Vec::new();
    for op in ops {
        match &op.action {
            Action::Step { id, .. } => locks.push(Lock::of_job(*id)),
            _ => locks.append(&mut of_op(op)),
        }
    }
    locks
}

/// What requests have in common if they wait for the same: their keys and their jobs, or else the name of the answer.
pub(crate) fn met_by(ops: &[Op]) -> BTreeSet<Lock> {
    let mut met = BTreeSet::new();
    for op in ops {
        match &op.action {
            Action::Enqueue { incoming, .. } => met.extend(of_incoming(incoming)),
            Action::EnqueueAll { incoming, .. } | Action::EnqueueEach { incoming, .. } => {
                met.extend(incoming.iter().flat_map(of_incoming));
            }
            Action::Step { id, .. } => {
                met.insert(Lock::of_job(*id));
            }
            Action::StepHolders { .. }
            | Action::Edit { .. }
            | Action::EditTogether { .. }
            | Action::RunCron { .. }
            | Action::StartWorkflow { .. }
            | Action::CancelWorkflow(_) => met.extend(of_op(op)),
            Action::Pause(_) | Action::Resume(_) | Action::RemoveQueue(_) => {}
        }
    }
    if met.is_empty() { ops.iter().flat_map(of_op).collect() } else { met }
}

/// Takes locks, in one order everywhere, and says which it did not get. The statement fits the patience.
pub(crate) async fn take(
    transaction: &Transaction<'_>,
    statement: &Statement,
    locks: &BTreeSet<Lock>,
) -> Result<BTreeSet<Lock>, Fault> {
    if locks.is_empty() {
        return Ok(BTreeSet::new());
    }
    let numbers: Vec<i64> = locks.iter().copied().map(Lock::number).collect();
    let rows = transaction.query(statement, &[&numbers], "lock keys").await?;
    match transaction.patience {
        Patience::None => {
            let number = |row: &Row| row.try_get(0).map(Lock).map_err(Fault::of("lock keys"));
            rows.iter().map(number).collect()
        }
        Patience::UntilTimeout => Ok(BTreeSet::new()),
    }
}
