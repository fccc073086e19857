//! End to end: some connections enqueue, others fetch and ack, and the latency is that of the whole way.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::sync::Semaphore;

use crate::client::Connection;
use crate::clock::{self, Window};
use crate::job::{self, Policy};
use crate::pairs::Requests;
use crate::request::{Numbers, Request};
use crate::tally::Tally;

/// Enqueue, fetch, ack.
pub(crate) const REQUESTS: u64 = 3;
/// More than there are ever jobs on their way, since numbers are handed out in order.
const SLOTS: usize = 4096;

/// Carries permits and start times between the two kinds of connections. As many jobs are on their way as there
/// are connections, so that the latency is the server's and not that of a growing backlog.
#[derive(Debug)]
pub(crate) struct Belt {
    free: Semaphore,
    enqueued: Semaphore,
    epoch: Instant,
    started_ns: Vec<AtomicU64>,
}

impl Belt {
    pub(crate) fn new(jobs_on_their_way: usize) -> Self {
        Self {
            free: Semaphore::new(jobs_on_their_way),
            enqueued: Semaphore::new(0),
            epoch: clock::now(),
            started_ns: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(crate) fn stop(&self) {
        self.free.close();
        self.enqueued.close();
    }

    fn slot(&self, number: u64) -> &AtomicU64 {
        &self.started_ns[usize::try_from(number).unwrap_or(0) % SLOTS]
    }

    fn depart(&self, number: u64) {
        let nanos = u64::try_from((clock::now() - self.epoch).as_nanos()).unwrap_or(u64::MAX);
        self.slot(number).store(nanos, Ordering::Release);
    }

    fn departed(&self, number: u64) -> Instant {
        self.epoch + Duration::from_nanos(self.slot(number).load(Ordering::Acquire))
    }
}

pub(crate) fn enqueue_request(address: SocketAddr, queue: &str) -> Request {
    Request::new(address, &job::single(queue, Policy::Reject))
}

pub(crate) async fn enqueue(
    mut connection: Connection,
    mut request: Request,
    belt: Arc<Belt>,
    numbers: Arc<Numbers>,
    window: Window,
) -> Result<Tally> {
    let mut tally = Tally::new(window);
    while let Ok(permit) = belt.free.acquire().await {
        permit.forget();
        let number = numbers.take(1);
        request.set_numbers(number);
        belt.depart(number);
        let answer = connection.exchange(request.bytes()).await?;
        tally.check(&answer, 201);
        belt.enqueued.add_permits(1);
    }
    Ok(tally)
}

/// Fetches only when a job is known to be there: an empty fetch would measure polling.
pub(crate) async fn work(
    mut connection: Connection,
    mut requests: Requests,
    belt: Arc<Belt>,
    window: Window,
) -> Result<Tally> {
    let mut tally = Tally::new(window);
    while let Ok(permit) = belt.enqueued.acquire().await {
        permit.forget();
        let Some(number) = requests.pair(&mut connection, &mut tally).await? else { break };
        tally.record(belt.departed(number), clock::now(), REQUESTS);
        belt.free.add_permits(1);
    }
    // The jobs of this case live in a queue of their own, which no other case fetches from.
    tally.waiting_change = 0;
    Ok(tally)
}
