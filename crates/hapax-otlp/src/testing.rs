//! A broker over a store in memory, with a clock that stands still, and a collector that answers as it is told.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use hapax_broker::{Broker, Clock, Draft, Entropy, Fetch, NoObserver, Receipt};
use hapax_core::webhook::Response;
use hapax_core::{
    Claimant, Delivery, Directive, Handback, Job, JobId, JobType, Json, KeptFor, Priority, QueueName,
    RetryPolicy, Rules, Spec, TimeLimits, Timestamp, Unsaid, WorkerError, WorkerId,
};
use hapax_store::MemoryStore;
use serde_json::Value;

use crate::collector::{Answer, Collector};

pub(crate) const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[derive(Debug)]
struct FakeClock(AtomicI64);

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

#[derive(Debug)]
struct FakeEntropy(AtomicU8);

impl Entropy for FakeEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
    }
}

pub(crate) struct Rig {
    pub(crate) broker: Broker,
    clock: Arc<FakeClock>,
}

pub(crate) fn rig() -> Rig {
    let clock = Arc::new(FakeClock(AtomicI64::new(1_800_000_000_000)));
    let rules = Rules::default();
    let store = Arc::new(MemoryStore::new(rules.clone()));
    let entropy = Arc::new(FakeEntropy(AtomicU8::new(1)));
    let broker = Broker::new(store, Arc::clone(&clock) as _, entropy, rules, Arc::new(NoObserver));
    Rig { broker, clock }
}

impl Rig {
    pub(crate) fn pass(&self, millis: i64) {
        self.clock.0.fetch_add(millis, Ordering::Relaxed);
    }

    pub(crate) async fn enqueue(&self, draft: Draft) -> JobId {
        match self.broker.enqueue(draft, "request", None).await.unwrap() {
            Receipt::Fresh(admission) => admission.job.id,
            Receipt::Remembered(_) => panic!("no memo was given"),
        }
    }

    pub(crate) async fn start(&self) -> Job {
        let fetch = Fetch {
            queues: vec![QueueName::default_queue()],
            count: 1,
            worker: WorkerId::parse("worker-1"),
            visibility_timeout: None,
            tenant: None,
            wait: Duration::ZERO,
        };
        self.broker.fetch(fetch).await.unwrap().pop().expect("a job waits")
    }

    pub(crate) async fn complete(&self, job: &Job) {
        self.broker.acknowledge(job.id, Claimant::default(), None).await.unwrap();
    }

    pub(crate) async fn fail(&self, job: &Job, handback: Handback) {
        let error = WorkerError {
            kind: "Oops".into(),
            code: "oops".into(),
            message: "it broke".into(),
            retryable: None,
            details: None,
            backtrace: Vec::new(),
            rate_limit_until: None,
            aliases: Vec::new(),
            directive: Directive::Policy,
        };
        self.broker.fail(job.id, Claimant::default(), error, handback).await.unwrap();
    }
}

pub(crate) fn draft(meta: &str) -> Draft {
    let spec = Spec {
        kind: JobType::parse("email.send").unwrap(),
        queue: QueueName::default_queue(),
        priority: Priority::default(),
        args: Json::from_trusted("[]"),
        meta: Json::from_trusted(meta),
        tags: Vec::new(),
        schema: None,
        scheduled_at: None,
        expires_at: None,
        timeout: None,
        visibility_timeout: None,
        limits: TimeLimits::default(),
        retry: RetryPolicy { jitter: false, ..RetryPolicy::default() },
        unique: None,
        delivery: Delivery::AtLeastOnce,
        kept_for: KeptFor::default(),
        rate_limit: None,
        ordering_key: None,
        workflow: None,
        extra: Json::empty_object(),
    };
    Draft { id: None, spec: Box::new(spec), key: None, pending: false, unsaid: Unsaid::default() }
}

/// Answers in this order, and with 200 when there is nothing left to say.
#[derive(Debug)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<Response>>,
    taken: Mutex<Vec<Bytes>>,
}

impl Scripted {
    pub(crate) fn new(answers: Vec<Response>) -> Scripted {
        Scripted { answers: Mutex::new(answers.into()), taken: Mutex::default() }
    }

    /// Everything that was sent, taken or not.
    pub(crate) fn taken(&self) -> Vec<Bytes> {
        self.taken.lock().unwrap().clone()
    }

    /// The names of all spans that were sent.
    pub(crate) fn names(&self) -> Vec<String> {
        let spans = |body: &Bytes| {
            let request: Value = serde_json::from_slice(body).unwrap();
            request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
        };
        let taken = self.taken();
        taken.iter().flat_map(spans).map(|span| span["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Collector for Scripted {
    fn take(&self, body: Bytes) -> Answer<'_> {
        self.taken.lock().unwrap().push(body);
        let answer = self.answers.lock().unwrap().pop_front();
        let answer = answer.unwrap_or(Response::Answered { status: 200, retry_after: None });
        Box::pin(async move { answer })
    }
}
