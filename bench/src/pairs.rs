//! A connection that fetches one job and acks it, again and again.

use std::net::SocketAddr;

use anyhow::Result;

use crate::client::Connection;
use crate::clock::{self, Window};
use crate::job;
use crate::request::Request;
use crate::tally::Tally;

/// A fetch and an ack are two requests, which is how the echo server counts.
pub(crate) const REQUESTS: u64 = 2;

#[derive(Debug)]
pub(crate) struct Requests {
    fetch: Request,
    ack: Request,
}

impl Requests {
    pub(crate) fn new(address: SocketAddr, queue: &str) -> Self {
        Self { fetch: Request::new(address, &job::fetch(queue)), ack: Request::new(address, &job::ack()) }
    }

    /// The number of the job that was fetched and acked; `None` is a surprise and already counted.
    pub(crate) async fn pair(
        &mut self,
        connection: &mut Connection,
        tally: &mut Tally,
    ) -> Result<Option<u64>> {
        let answer = connection.exchange(self.fetch.bytes()).await?;
        let (Some(id), Some(number)) = (job::id_in(answer.body), job::number_in(answer.body)) else {
            tally.surprise("expected a job, since some must wait", &answer);
            return Ok(None);
        };
        tally.check(&answer, 200);
        self.ack.set_id(id);
        let answer = connection.exchange(self.ack.bytes()).await?;
        tally.check(&answer, 200);
        tally.waiting_change -= 1;
        Ok(Some(number))
    }
}

pub(crate) async fn run(mut connection: Connection, mut requests: Requests, window: Window) -> Result<Tally> {
    let mut tally = Tally::new(window);
    let mut started = clock::now();
    // An empty queue would only be polled in a circle, so a surprise ends the connection.
    while started < window.until && requests.pair(&mut connection, &mut tally).await?.is_some() {
        let ended = clock::now();
        tally.record(started, ended, REQUESTS);
        started = ended;
    }
    Ok(tally)
}
