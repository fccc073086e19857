//! The life of the export: look, send, look again; and a last look when the server stops.

use std::sync::Arc;
use std::time::Duration;

use hapax_broker::Broker;
use tokio::task::yield_now;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::Settings;
use crate::batch::{Batch, Source};
use crate::collector::{Collector, HttpCollector};
use crate::reader::Reader;
use crate::sender::{Fate, Sender};
use crate::span::Span;
use crate::tally::{SpanCounter, Tally};

/// How often the log is looked into.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Most events that are read at a time, under the lock that writers need.
const EVENTS_READ_MAX: usize = 256;
/// From how many spans on a batch is full. One look more may bring it [`EVENTS_READ_MAX`] beyond that.
const SPANS_MAX: usize = 1024;
/// How long a server that stops waits for its collector.
const FLUSH_TIME: Duration = Duration::from_secs(3);

/// Sends what happens to a collector.
#[derive(Debug)]
pub struct Exporter {
    broker: Broker,
    source: Source,
    sender: Sender,
    tally: Tally,
    reader: Reader,
    spans: Vec<Span>,
    /// On its way.
    batch: Option<Batch>,
}

impl Exporter {
    /// An exporter of what happens from here on.
    pub fn new(broker: Broker, settings: Settings, counter: SpanCounter) -> Exporter {
        let Settings { endpoint, headers, service_name, version } = settings;
        let collector = Arc::new(HttpCollector::new(endpoint, headers));
        Exporter::with_collector(broker, Source { service_name, version }, collector, counter)
    }

    pub(crate) fn with_collector(
        broker: Broker,
        source: Source,
        collector: Arc<dyn Collector>,
        counter: SpanCounter,
    ) -> Exporter {
        broker.follow_traces();
        let (sender, tally) = (Sender::new(collector), Tally::new(counter));
        Exporter { broker, source, sender, tally, reader: Reader::default(), spans: Vec::new(), batch: None }
    }

    /// Sends until told to stop, and then what is left, if that does not take long. The caller owns the task.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = stop => {}
            () = self.export() => {}
        }
        if timeout(FLUSH_TIME, self.flush()).await.is_err() {
            self.settle(Err("the collector did not answer before the server stopped".into()));
        }
        self.tally.finish(self.broker.now());
    }

    async fn export(&mut self) {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            while let Some(batch) = self.next().await {
                let sent = self.sender.send(&batch).await;
                self.settle(sent);
            }
        }
    }

    async fn flush(&mut self) {
        while let Some(batch) = self.next().await {
            match self.sender.try_once(&batch).await {
                Fate::Taken => self.settle(Ok(())),
                // It would take no more either.
                Fate::Later { why, .. } | Fate::Refused(why) => return self.settle(Err(why)),
            }
        }
    }

    /// What is to be sent: what is on its way and was not settled, or what happened since.
    async fn next(&mut self) -> Option<Batch> {
        if self.batch.is_none() {
            self.read().await;
            self.batch = self.pack();
        }
        self.batch.clone()
    }

    async fn read(&mut self) {
        while self.spans.len() < SPANS_MAX {
            let tail = self.broker.events_after(self.reader.seq(), EVENTS_READ_MAX);
            self.reader.read(&tail, &mut self.spans);
            if tail.missed > 0 {
                self.tally.missed(tail.missed, self.broker.now());
            }
            if tail.events.len() < EVENTS_READ_MAX {
                return;
            }
            yield_now().await;
        }
    }

    fn pack(&mut self) -> Option<Batch> {
        if self.spans.is_empty() {
            return None;
        }
        let packed = Batch::new(&self.source, &self.spans);
        let spans = u64::try_from(self.spans.len()).unwrap_or(u64::MAX);
        self.spans.clear();
        packed.map_err(|error| self.tally.dropped(spans, error.to_string().into(), self.broker.now())).ok()
    }

    /// The batch is not on its way any more.
    fn settle(&mut self, sent: Result<(), Box<str>>) {
        match (self.batch.take(), sent) {
            (None, _) => {}
            (Some(batch), Ok(())) => self.tally.exported(batch.spans),
            (Some(batch), Err(why)) => self.tally.dropped(batch.spans, why, self.broker.now()),
        }
    }
}

#[cfg(test)]
mod tests;
