//! The ceiling under the server: the same bytes, written by the store's own means and nothing else.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use crate::append::Append;
use crate::case::BATCH;
use crate::inserts::Inserts;
use crate::load::Pace;
use crate::report::BareCeiling;
use crate::row::Cell;

/// Longer does not make the append ceiling steadier.
const APPEND_MAX: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) enum Bare {
    /// The disk under the embedded store.
    Append(Append),
    /// The database under the shared one.
    Inserts(Arc<Inserts>),
}

impl Bare {
    /// Jobs per second beside this cell; `None` where nothing bare does what the case does.
    pub(crate) async fn beside(&mut self, cell: Cell, pace: Pace) -> Result<Option<f64>> {
        let Cell { case, connections } = cell;
        match self {
            Self::Append(append) => {
                let group = case.append_group(connections);
                group.map(|group| append.jobs_per_second(group, APPEND_MAX.min(pace.length))).transpose()
            }
            Self::Inserts(inserts) => {
                inserts.jobs_per_second(connections, case.insert_group(), pace).await.map(Some)
            }
        }
    }

    /// What the head of the table says.
    pub(crate) async fn ceilings(&mut self, pace: Pace) -> Result<Vec<BareCeiling>> {
        let mut ceilings = Vec::new();
        match self {
            Self::Append(append) => {
                for group in [1, 16, 64, BATCH] {
                    let jobs_per_second = append.jobs_per_second(group, APPEND_MAX)?;
                    ceilings.push(BareCeiling {
                        what: "append and fsync",
                        connections: 1,
                        group,
                        jobs_per_second,
                    });
                }
            }
            Self::Inserts(inserts) => {
                for (connections, group) in [(1, 1), (16, 1), (64, 1), (1, BATCH), (16, BATCH)] {
                    let jobs_per_second = inserts.jobs_per_second(connections, group, pace).await?;
                    ceilings.push(BareCeiling {
                        what: "insert and commit",
                        connections,
                        group,
                        jobs_per_second,
                    });
                }
            }
        }
        Ok(ceilings)
    }
}
