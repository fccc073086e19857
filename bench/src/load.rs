//! Load on one address: so many connections, a warm-up, a measured window.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::task::JoinSet;

use crate::client::Connection;
use crate::clock::{self, Window};
use crate::request::{Numbers, Request};
use crate::script::Step;
use crate::tally::{Sample, Tally};
use crate::{pairs, pipeline, script};

/// How long each measurement takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) warm_up: Duration,
    pub(crate) length: Duration,
}

#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    pub(crate) connections: usize,
    pub(crate) pace: Pace,
    pub(crate) numbers: Arc<Numbers>,
}

impl Load {
    /// Every connection sends the steps in turn.
    pub(crate) async fn script(&self, steps: &[Step]) -> Result<Sample> {
        let window = self.window();
        let mut tasks = JoinSet::new();
        for _ in 0..self.connections {
            let connection = Connection::open(self.address).await?;
            let steps = steps.iter().map(|step| (step.clone(), Request::new(self.address, &step.shape)));
            tasks.spawn(script::run(connection, steps.collect(), Arc::clone(&self.numbers), window));
        }
        sum(tasks, window).await
    }

    /// Every connection fetches a job and acks it.
    pub(crate) async fn pairs(&self, queue: &str) -> Result<Sample> {
        let window = self.window();
        let mut tasks = JoinSet::new();
        for _ in 0..self.connections {
            let connection = Connection::open(self.address).await?;
            tasks.spawn(pairs::run(connection, pairs::Requests::new(self.address, queue), window));
        }
        sum(tasks, window).await
    }

    /// A third of the connections enqueues, the others fetch and ack what those enqueued.
    pub(crate) async fn pipeline(&self, queue: &str) -> Result<Sample> {
        let window = self.window();
        let belt = Arc::new(pipeline::Belt::new(self.connections));
        let enqueuers = (self.connections / 3).max(1);
        let workers = self.connections.saturating_sub(enqueuers).max(1);
        let mut tasks = JoinSet::new();
        for _ in 0..enqueuers {
            let connection = Connection::open(self.address).await?;
            let request = pipeline::enqueue_request(self.address, queue);
            let numbers = Arc::clone(&self.numbers);
            tasks.spawn(pipeline::enqueue(connection, request, Arc::clone(&belt), numbers, window));
        }
        for _ in 0..workers {
            let connection = Connection::open(self.address).await?;
            let requests = pairs::Requests::new(self.address, queue);
            tasks.spawn(pipeline::work(connection, requests, Arc::clone(&belt), window));
        }
        clock::pause(window.until - clock::now()).await;
        belt.stop();
        sum(tasks, window).await
    }

    fn window(&self) -> Window {
        Window::opening(self.pace.warm_up, self.pace.length)
    }
}

pub(crate) async fn sum(mut tasks: JoinSet<Result<Tally>>, window: Window) -> Result<Sample> {
    let mut total = Tally::new(window);
    while let Some(ended) = tasks.join_next().await {
        total.merge(ended??);
    }
    total.into_sample()
}
