//! The cases: what is sent, what it is called, and what it is compared with.

use anyhow::Result;
use serde::Serialize;

use crate::answer_sizes::AnswerSizes;
use crate::job::{self, Policy, QUEUE};
use crate::load::Load;
use crate::request::Shape;
use crate::script::{Expect, Fill, Step};
use crate::tally::Sample;

/// Jobs in a request of the batch case.
pub(crate) const BATCH: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Case {
    Plain,
    Unique,
    Duplicates,
    FetchAck,
    EndToEnd,
    Batch,
}

impl Case {
    /// The batches come last: they make the store that has jobs grow most.
    pub(crate) const ALL: [Self; 6] =
        [Self::Plain, Self::Unique, Self::Duplicates, Self::FetchAck, Self::EndToEnd, Self::Batch];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "enqueue",
            Self::Unique => "unique",
            Self::Duplicates => "duplicates",
            Self::FetchAck => "fetch-ack",
            Self::EndToEnd => "end-to-end",
            Self::Batch => "batch",
        }
    }

    /// What the rates count.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Batch => "jobs",
            Self::Plain | Self::Unique | Self::Duplicates | Self::FetchAck | Self::EndToEnd => "requests",
        }
    }

    /// How many jobs a group of the append ceiling has; `None` where the case does not write a job per request.
    pub(crate) fn append_group(self, connections: usize) -> Option<usize> {
        match self {
            Self::Plain | Self::Unique => Some(connections),
            Self::Batch => Some(BATCH),
            Self::Duplicates | Self::FetchAck | Self::EndToEnd => None,
        }
    }

    /// How many jobs a commit of the database's ceiling has: where a request is about one job, one.
    pub(crate) fn insert_group(self) -> usize {
        match self {
            Self::Plain | Self::Unique | Self::Duplicates | Self::FetchAck | Self::EndToEnd => 1,
            Self::Batch => BATCH,
        }
    }

    pub(crate) async fn run(self, load: &Load) -> Result<Sample> {
        match self {
            Self::Plain | Self::Unique | Self::Duplicates | Self::Batch => {
                load.script(&[self.enqueue()]).await
            }
            Self::FetchAck => load.pairs(QUEUE).await,
            // A queue per run: what an earlier one left would be fetched first and spoil the latency.
            Self::EndToEnd => load.pipeline(&format!("live-{}", load.numbers.take(1))).await,
        }
    }

    /// The same request bytes in the same mix, for the echo server.
    pub(crate) fn echo(self, sizes: &AnswerSizes) -> Vec<Step> {
        let (fetch, ack) = (job::fetch(QUEUE), job::ack());
        match self {
            Self::Plain | Self::Unique => vec![echoed(&self.enqueue(), sizes.created)],
            Self::Duplicates => vec![echoed(&self.enqueue(), sizes.deduplicated)],
            Self::Batch => vec![echoed(&self.enqueue(), sizes.batch)],
            Self::FetchAck => vec![fixed(&fetch, sizes.fetched), fixed(&ack, sizes.acked)],
            Self::EndToEnd => vec![
                echoed(&Self::Unique.enqueue(), sizes.created),
                fixed(&fetch, sizes.fetched),
                fixed(&ack, sizes.acked),
            ],
        }
    }

    fn enqueue(self) -> Step {
        let (shape, fill, expect, units) = match self {
            Self::Plain => (job::single(QUEUE, Policy::Plain), Fill::Fresh, Expect::Created, 1),
            Self::Duplicates => {
                (job::single(QUEUE, Policy::Ignore), Fill::Repeated, Expect::CreatedThenOk, 1)
            }
            Self::Batch => {
                (job::batch(QUEUE, Policy::Reject, BATCH), Fill::Fresh, Expect::Created, BATCH as u64)
            }
            Self::Unique | Self::FetchAck | Self::EndToEnd => {
                (job::single(QUEUE, Policy::Reject), Fill::Fresh, Expect::Created, 1)
            }
        };
        Step { shape, fill, expect, units }
    }
}

fn echoed(step: &Step, answer_bytes: usize) -> Step {
    Step { shape: step.shape.echoed(answer_bytes), expect: Expect::Echo, ..step.clone() }
}

fn fixed(shape: &Shape, answer_bytes: usize) -> Step {
    Step { shape: shape.echoed(answer_bytes), fill: Fill::Nothing, expect: Expect::Echo, units: 1 }
}
