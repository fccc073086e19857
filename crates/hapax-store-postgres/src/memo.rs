//! Answers to requests that may come again.

use std::sync::Arc;

use hapax_core::Timestamp;
use hapax_store::desk::{Desk, Kept};
use hapax_store::{Action, MemoKey, Op, Remembered};
use tokio_postgres::{Row, Statement};

use crate::Fault;
use crate::transaction::Transaction;

/// The name under which an operation's answer shall be remembered.
pub(crate) fn of_op(op: &Op) -> Option<&MemoKey> {
    match &op.action {
        Action::Enqueue { memo, .. } | Action::EnqueueAll { memo, .. } | Action::EnqueueEach { memo, .. } => {
            memo.as_ref().map(|memo| &memo.key)
        }
        Action::StartWorkflow { memo, .. } | Action::RunCron { memo, .. } => {
            memo.as_ref().map(|memo| &memo.key)
        }
        Action::Step { .. }
        | Action::StepHolders { .. }
        | Action::Edit { .. }
        | Action::EditTogether { .. }
        | Action::CancelWorkflow(_)
        | Action::Pause(_)
        | Action::Resume(_)
        | Action::RemoveQueue(_) => None,
    }
}

pub(crate) async fn load(
    transaction: &Transaction<'_>,
    statement: &Statement,
    names: &[MemoKey],
) -> Result<Vec<(MemoKey, Kept)>, Fault> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<&str> = names.iter().map(|MemoKey(name)| &**name).collect();
    let rows = transaction.query(statement, &[&names], "recall answers").await?;
    rows.iter().map(read).collect()
}

pub(crate) fn read(row: &Row) -> Result<(MemoKey, Kept), Fault> {
    let failed = Fault::of("read a remembered answer");
    let name: &str = row.try_get(0).map_err(&failed)?;
    let fingerprint: &[u8] = row.try_get(1).map_err(&failed)?;
    let body: &[u8] = row.try_get(4).map_err(&failed)?;
    let kept = Kept {
        // A damaged fingerprint is that of no request.
        fingerprint: fingerprint.try_into().unwrap_or([0; 32]),
        since: Timestamp::from_millis(row.try_get(2).map_err(&failed)?),
        reply: Remembered {
            status: u16::try_from(row.try_get::<_, i16>(3).map_err(&failed)?).unwrap_or(500),
            body: Arc::from(body),
        },
    };
    Ok((MemoKey(name.into()), kept))
}

/// Writes what the desk remembers under these names.
pub(crate) async fn write(
    transaction: &Transaction<'_>,
    statement: &Statement,
    desk: &Desk,
    names: &[MemoKey],
) -> Result<(), Fault> {
    let kept: Vec<(&str, &Kept)> =
        names.iter().filter_map(|key| desk.memo(key).map(|kept| (&*key.0, kept))).collect();
    if kept.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = kept.iter().map(|(name, _)| *name).collect();
    let fingerprints: Vec<&[u8]> = kept.iter().map(|(_, kept)| kept.fingerprint.as_slice()).collect();
    let since: Vec<i64> = kept.iter().map(|(_, kept)| kept.since.millis()).collect();
    let status: Vec<i16> =
        kept.iter().map(|(_, kept)| i16::try_from(kept.reply.status).unwrap_or(i16::MAX)).collect();
    let bodies: Vec<&[u8]> = kept.iter().map(|(_, kept)| &*kept.reply.body).collect();
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
        [&names, &fingerprints, &since, &status, &bodies];
    transaction.execute(statement, &params, "remember answers").await.map(drop)
}
