//! How long the server's answers are, so that the echo server can answer with as many bytes.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};

use crate::case::BATCH;
use crate::client::Connection;
use crate::job::{self, Policy};
use crate::request::{Numbers, Request, Shape};

const QUEUE: &str = "bench-sizes";
const DUPLICATES_QUEUE: &str = "bench-dupes";
/// A ledger shows so many duplicates one by one.
const LEDGER_KEPT: usize = 10;

#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerSizes {
    pub(crate) created: usize,
    pub(crate) deduplicated: usize,
    pub(crate) batch: usize,
    pub(crate) fetched: usize,
    pub(crate) acked: usize,
}

impl Default for AnswerSizes {
    /// An estimate for a run without a server.
    fn default() -> Self {
        Self { created: 850, deduplicated: 2200, batch: 85_000, fetched: 900, acked: 1000 }
    }
}

impl AnswerSizes {
    /// Asks the server for one of each.
    pub(crate) async fn learn(address: SocketAddr, numbers: &Numbers) -> Result<Self> {
        let mut asking = Asking { connection: Connection::open(address).await?, address };
        let deduplicated = asking.deduplicated(numbers.take(1)).await?;
        let number = numbers.take(1);
        let created = asking.ask(&job::single(QUEUE, Policy::Ignore), number, 201).await?.len();
        let answer = asking.ask(&job::fetch(QUEUE), number, 200).await?;
        let (fetched, id) = (answer.len(), job::id_in(answer).context("no job was fetched")?);
        let mut ack = job::ack();
        ack.body[ack.holes[0]..][..id.len()].copy_from_slice(&id);
        ack.holes.clear();
        let acked = asking.ask(&ack, number, 200).await?.len();
        let batch = job::batch(QUEUE, Policy::Reject, BATCH);
        let batch = asking.ask(&batch, numbers.take(BATCH), 201).await?.len();
        Ok(Self { created, deduplicated, batch, fetched, acked })
    }
}

struct Asking {
    connection: Connection,
    address: SocketAddr,
}

impl Asking {
    /// With a full ledger, as nearly all answers to duplicates have it. The queue is another, so that nobody fetches it.
    async fn deduplicated(&mut self, number: u64) -> Result<usize> {
        let ignoring = job::single(DUPLICATES_QUEUE, Policy::Ignore);
        self.ask(&ignoring, number, 201).await?;
        let mut bytes = 0;
        for _ in 0..LEDGER_KEPT {
            bytes = self.ask(&ignoring, number, 200).await?.len();
        }
        Ok(bytes)
    }

    async fn ask(&mut self, shape: &Shape, number: u64, expected: u16) -> Result<&[u8]> {
        let mut request = Request::new(self.address, shape);
        request.set_numbers(number);
        let answer = self.connection.exchange(request.bytes()).await?;
        let text = String::from_utf8_lossy(&answer.body[..answer.body.len().min(300)]);
        ensure!(answer.status == expected, "{} answered {}: {text}", shape.path, answer.status);
        Ok(answer.body)
    }
}
