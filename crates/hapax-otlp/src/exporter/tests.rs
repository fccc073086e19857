//! The export beside a working broker, in time that jumps.

use std::sync::Mutex;

use hapax_broker::EVENTS_KEPT;
use hapax_core::webhook::Response;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;
use crate::tally::SpanCount;
use crate::testing::{Rig, Scripted, draft, rig};

type Counts = Arc<Mutex<Vec<SpanCount>>>;

struct Running {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
    counts: Counts,
}

fn exporter(rig: &Rig, collector: &Arc<Scripted>) -> (Exporter, Counts) {
    let counts = Counts::default();
    let told = Arc::clone(&counts);
    let counter: SpanCounter = Arc::new(move |count| told.lock().unwrap().push(count));
    let source = Source { service_name: "jobs".into(), version: "1.2.3" };
    (Exporter::with_collector(rig.broker.clone(), source, Arc::clone(collector) as _, counter), counts)
}

fn start(rig: &Rig, collector: &Arc<Scripted>) -> Running {
    let (exporter, counts) = exporter(rig, collector);
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(exporter.run(async { drop(stopped.await) }));
    Running { stop, task, counts }
}

impl Running {
    async fn end(self) -> Vec<SpanCount> {
        drop(self.stop);
        self.task.await.unwrap();
        self.counts.lock().unwrap().clone()
    }
}

#[expect(clippy::disallowed_methods, reason = "the time of these tests is paused, and jumps")]
async fn pass(secs: u64) {
    tokio::time::sleep(Duration::from_secs(secs)).await;
}

fn busy() -> Response {
    Response::Answered { status: 503, retry_after: None }
}

#[tokio::test(start_paused = true)]
async fn what_happens_within_a_second_is_sent_at_once_and_in_order() {
    let (rig, collector) = (rig(), Arc::new(Scripted::new(Vec::new())));
    let running = start(&rig, &collector);
    pass(1).await;
    rig.enqueue(draft("{}")).await;
    let job = rig.start().await;
    rig.complete(&job).await;
    pass(2).await;
    assert_eq!(collector.taken().len(), 1);
    assert_eq!(collector.names(), ["default enqueue", "default process"]);
    assert_eq!(running.end().await, [SpanCount::Exported(2)]);
}

#[tokio::test(start_paused = true)]
async fn the_last_spans_are_sent_when_the_server_stops() {
    let (rig, collector) = (rig(), Arc::new(Scripted::new(Vec::new())));
    let running = start(&rig, &collector);
    pass(1).await;
    rig.enqueue(draft("{}")).await;
    assert_eq!(running.end().await, [SpanCount::Exported(1)]);
    assert_eq!(collector.names(), ["default enqueue"]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_waits_for_a_busy_collector_is_tried_once_more_when_the_server_stops() {
    let (rig, collector) = (rig(), Arc::new(Scripted::new(vec![busy(), busy()])));
    let running = start(&rig, &collector);
    rig.enqueue(draft("{}")).await;
    pass(2).await;
    assert_eq!(collector.taken().len(), 2);
    assert_eq!(running.end().await, [SpanCount::Exported(1)]);
    assert_eq!(collector.taken().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_is_away_costs_spans_and_nothing_else() {
    let (rig, collector) = (rig(), Arc::new(Scripted::new((0..7).map(|_| busy()).collect())));
    let running = start(&rig, &collector);
    rig.enqueue(draft("{}")).await;
    pass(33).await;
    rig.enqueue(draft("{}")).await;
    pass(5).await;
    // The first batch was given up after six attempts, the second was taken at its second.
    assert_eq!(running.end().await, [SpanCount::Dropped(1), SpanCount::Exported(1)]);
    assert_eq!(collector.taken().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_server_does_not_wait_long_for_a_collector_that_says_nothing() {
    #[derive(Debug)]
    struct Silent;
    impl Collector for Silent {
        fn take(&self, _body: bytes::Bytes) -> crate::collector::Answer<'_> {
            Box::pin(std::future::pending())
        }
    }
    let rig = rig();
    let (mut exporter, counts) = exporter(&rig, &Arc::new(Scripted::new(Vec::new())));
    exporter.sender = Sender::new(Arc::new(Silent));
    rig.enqueue(draft("{}")).await;
    let start = tokio::time::Instant::now();
    exporter.run(async {}).await;
    assert_eq!(start.elapsed().as_secs(), FLUSH_TIME.as_secs());
    assert_eq!(*counts.lock().unwrap(), [SpanCount::Dropped(1)]);
}

#[tokio::test(start_paused = true)]
async fn batches_are_bounded_and_what_the_log_forgets_is_counted() {
    let (rig, collector) = (rig(), Arc::new(Scripted::new(Vec::new())));
    let (mut exporter, counts) = exporter(&rig, &collector);
    let extra = 10;
    let mut made = 0;
    while made < EVENTS_KEPT + extra {
        let drafts: Vec<_> = (0..1000.min(EVENTS_KEPT + extra - made)).map(|_| numbered(&mut made)).collect();
        rig.broker.enqueue_all(drafts, "request", None).await.unwrap();
    }
    let mut sent = 0;
    while let Some(batch) = exporter.next().await {
        assert!(batch.spans <= (SPANS_MAX + EVENTS_READ_MAX) as u64 && batch.body.len() < 4 << 20);
        sent += batch.spans;
        exporter.settle(Ok(()));
    }
    assert_eq!(sent, EVENTS_KEPT as u64);
    assert_eq!(counts.lock().unwrap()[0], SpanCount::EventsMissed(extra as u64));
}

/// A draft with an id of its own: the chance of these tests has few.
fn numbered(made: &mut usize) -> hapax_broker::Draft {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&(*made as u64).to_be_bytes());
    *made += 1;
    let id = hapax_core::JobId::new(hapax_core::Timestamp::EPOCH, random);
    hapax_broker::Draft { id: Some(id), ..draft("{}") }
}
