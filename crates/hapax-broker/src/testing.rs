//! A broker for tests: its clock follows tokio's paused one, its chance is a seed, its store can be held up.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hapax_core::limit::LimitKey;
use hapax_core::unique::{
    Debounce, JobKey, JobKeyMode, Key, Strategy, UniquePolicy, Uniqueness, WhileActive,
};
use hapax_core::{
    Admission, Chance, Delivery, Directive, GivenTime, Job, JobId, JobType, Json, KeptFor, Priority,
    QueueName, RetryPolicy, Rules, Spec, TENANT_MEMBER, TimeLimits, Timestamp, Unsaid, WorkerError, WorkerId,
};
use hapax_store::{
    Advance, Answer, Claim, Claimed, DeadLetterQuery, Entry, EntryKey, EntryPage, EntryQuery, HeldPage,
    HeldQuery, HolderQuery, Holders, JobPage, JobQuery, LimitFacts, LimitPage, LimitQuery, Listener,
    MemoryStore, Op, Page, QueueFacts, QueueQuery, Reply, Store, StoreError, Totals,
};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::{Broker, Clock, Draft, Entropy, EventQuery, Fetch, JobEvent, News, Notice, Observer, Receipt};

/// Where the fake clock starts.
pub(crate) const START: i64 = 1_800_000_000_000;

pub(crate) struct Rig {
    pub(crate) broker: Broker,
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) store: Arc<FakeStore>,
    pub(crate) counted: Arc<Counted>,
}

/// Must be called inside a runtime whose time is paused.
pub(crate) fn rig() -> Rig {
    let rules = Rules::default();
    let clock = Arc::new(FakeClock { start: Instant::now(), jumped: AtomicI64::new(0) });
    let store = Arc::new(FakeStore::new(rules.clone()));
    let counted = Arc::new(Counted::default());
    let entropy = Arc::new(FakeEntropy(AtomicU64::new(7)));
    let broker = Broker::new(
        Arc::clone(&store) as _,
        Arc::clone(&clock) as _,
        entropy,
        rules,
        Arc::clone(&counted) as _,
    );
    Rig { broker, clock, store, counted }
}

impl Rig {
    pub(crate) async fn enqueue(&self, draft: Draft) -> Job {
        match self.broker.enqueue(draft, "request", None).await.unwrap() {
            Receipt::Fresh(Admission { job, .. }) => job,
            Receipt::Remembered(_) => panic!("no memo was given"),
        }
    }

    /// One job of the queue at once.
    pub(crate) async fn take(&self, name: &str) -> Option<Job> {
        self.broker.fetch(fetch(&[name], Duration::ZERO)).await.unwrap().pop()
    }

    pub(crate) async fn job(&self, id: JobId) -> Job {
        self.broker.job(id).await.unwrap()
    }

    /// The names of all events so far, but for those about workers: every fetch may be the first of its worker.
    pub(crate) fn events(&self) -> Vec<&'static str> {
        let names = self.all_events().into_iter().map(|event| event.kind().name());
        names.filter(|name| !name.starts_with("worker.")).collect()
    }

    pub(crate) fn all_events(&self) -> Vec<JobEvent> {
        let told = self.broker.events(&EventQuery { limit: 1000, ..EventQuery::default() }).events;
        told.into_iter().map(|Notice { event, .. }| JobEvent::clone(&event)).collect()
    }

    /// Runs the chores in the background.
    pub(crate) fn chores(&self) -> tokio::task::JoinHandle<Result<(), crate::Error>> {
        let broker = self.broker.clone();
        tokio::spawn(async move { broker.run_chores(std::future::pending()).await })
    }

    pub(crate) fn start_fetch(&self, fetch: Fetch) -> tokio::task::JoinHandle<Vec<Job>> {
        let broker = self.broker.clone();
        tokio::spawn(async move { broker.fetch(fetch).await.unwrap() })
    }
}

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(START + millis)
}

pub(crate) fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

pub(crate) fn draft() -> Draft {
    let spec = Spec {
        kind: JobType::parse("email.send").unwrap(),
        queue: QueueName::default_queue(),
        priority: Priority::default(),
        args: Json::from_trusted("[]"),
        meta: Json::empty_object(),
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

impl Draft {
    pub(crate) fn on(mut self, name: &str) -> Draft {
        self.spec.queue = queue(name);
        self
    }

    pub(crate) fn of_tenant(mut self, name: &str) -> Draft {
        self.spec.meta = Json::from_trusted(&format!("{{\"{TENANT_MEMBER}\":\"{name}\"}}"));
        self
    }

    pub(crate) fn scheduled(mut self, millis: i64) -> Draft {
        self.spec.scheduled_at = Some(GivenTime::computed(at(millis)));
        self
    }

    pub(crate) fn expiring(mut self, millis: i64) -> Draft {
        self.spec.expires_at = Some(GivenTime::computed(at(millis)));
        self
    }

    pub(crate) fn pending(mut self) -> Draft {
        self.pending = true;
        self
    }

    pub(crate) fn attempts(mut self, max_attempts: u32) -> Draft {
        self.spec.retry.max_attempts = max_attempts;
        self
    }

    pub(crate) fn at_most_once(mut self) -> Draft {
        self.spec.delivery = Delivery::AtMostOnce;
        self
    }

    pub(crate) fn unique(self, on_conflict: Strategy) -> Draft {
        self.policy(UniquePolicy { on_conflict, ..UniquePolicy::default() })
    }

    pub(crate) fn queue_latest(self) -> Draft {
        self.policy(UniquePolicy { while_active: Some(WhileActive::QueueLatest), ..UniquePolicy::default() })
    }

    pub(crate) fn debounced(self, wait: Duration) -> Draft {
        let debounce = Some(Debounce { wait, max_wait: None });
        self.policy(UniquePolicy { debounce, ..UniquePolicy::default() })
    }

    pub(crate) fn policy(mut self, policy: UniquePolicy) -> Draft {
        self.spec.unique = Some(policy.into());
        self.key = Some(Key::of_text("the same"));
        self
    }

    pub(crate) fn job_key(mut self, name: &str, mode: JobKeyMode) -> Draft {
        self.spec.unique = Some(Uniqueness::JobKey(JobKey { name: name.into(), mode }));
        self.key = Some(JobKey::key(name).unwrap());
        self
    }
}

/// One job of these queues.
pub(crate) fn fetch(names: &[&str], wait: Duration) -> Fetch {
    Fetch {
        queues: names.iter().map(|name| queue(name)).collect(),
        count: 1,
        worker: WorkerId::parse("worker-1"),
        visibility_timeout: None,
        tenant: None,
        wait,
    }
}

pub(crate) fn error(directive: Directive) -> WorkerError {
    WorkerError {
        kind: "Oops".into(),
        code: "oops".into(),
        message: "it broke".into(),
        retryable: None,
        details: None,
        backtrace: Vec::new(),
        rate_limit_until: None,
        aliases: Vec::new(),
        directive,
    }
}

/// Lets time go by, and whatever is due happen in it.
#[expect(clippy::disallowed_methods, reason = "the time of these tests is paused, and jumps")]
pub(crate) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Lets every task run that can.
pub(crate) async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[derive(Debug)]
pub(crate) struct FakeClock {
    start: Instant,
    jumped: AtomicI64,
}

impl FakeClock {
    /// Moves the hands without time going by.
    pub(crate) fn jump(&self, millis: i64) {
        self.jumped.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.start.elapsed().as_millis()).unwrap();
        at(passed + self.jumped.load(Ordering::Relaxed))
    }
}

/// Splitmix64 from a seed.
#[derive(Debug)]
pub(crate) struct FakeEntropy(pub(crate) AtomicU64);

impl FakeEntropy {
    pub(crate) fn next(&self) -> u64 {
        let state = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Entropy for FakeEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_ne_bytes()[..chunk.len()]);
        }
    }
}

/// What an observer was told.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) events: AtomicUsize,
    pub(crate) conflicts: Mutex<Vec<&'static str>>,
    pub(crate) deduplicated: AtomicUsize,
    pub(crate) released: AtomicUsize,
}

impl Observer for Counted {
    fn event(&self, _at: Timestamp, _queue: Option<&QueueName>, _news: &News) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    fn conflict(&self, rule: &'static str) {
        self.conflicts.lock().unwrap().push(rule);
    }

    fn deduplicated(&self) {
        self.deduplicated.fetch_add(1, Ordering::Relaxed);
    }

    fn released(&self, jobs: usize) {
        self.released.fetch_add(jobs, Ordering::Relaxed);
    }
}

/// The store in memory, which can be made to answer late or not at all.
#[derive(Debug)]
pub(crate) struct FakeStore {
    memory: MemoryStore,
    /// A permit per answer to a commit or claim; plenty unless held up.
    gate: Arc<Semaphore>,
    pub(crate) claims: AtomicUsize,
    /// Whether it says that other servers use it too.
    pub(crate) shared: AtomicBool,
    /// How many turns of other tasks an answer takes at most.
    pub(crate) sluggish: AtomicU64,
    /// How many milliseconds the answer to a look at an entry takes.
    pub(crate) late_ms: AtomicU64,
    random: FakeEntropy,
}

const OPEN: usize = 1_000_000;

impl FakeStore {
    fn new(rules: Rules) -> FakeStore {
        FakeStore::over(MemoryStore::new(rules))
    }

    pub(crate) fn over(memory: MemoryStore) -> FakeStore {
        let gate = Arc::new(Semaphore::new(OPEN));
        FakeStore {
            memory,
            gate,
            late_ms: AtomicU64::new(0),
            claims: AtomicUsize::new(0),
            shared: AtomicBool::new(false),
            sluggish: AtomicU64::new(0),
            random: FakeEntropy(AtomicU64::new(1)),
        }
    }

    /// From here on commits, claims and looks at an entry are done but not answered.
    pub(crate) fn hold(&self) {
        self.gate.forget_permits(OPEN);
    }

    /// Answers all of them.
    pub(crate) fn release(&self) {
        self.gate.add_permits(OPEN / 2);
    }

    /// Fails all of them, although they were done.
    pub(crate) fn fail(&self) {
        self.gate.close();
    }

    fn gated<T: Send + 'static>(&self, reply: Reply<T>) -> Reply<T> {
        let gate = Arc::clone(&self.gate);
        let turns = self.random.next() % (self.sluggish.load(Ordering::Relaxed) + 1);
        Box::pin(async move {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            gate.acquire().await.map_err(|_| StoreError::Closed)?.forget();
            reply.await
        })
    }
}

impl Store for FakeStore {
    fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Relaxed)
    }

    fn commit(&self, ops: Vec<Op>) -> Reply<Vec<Answer>> {
        self.gated(self.memory.commit(ops))
    }

    fn claim(&self, claim: Claim) -> Reply<Claimed> {
        self.claims.fetch_add(1, Ordering::Relaxed);
        self.gated(self.memory.claim(claim))
    }

    fn advance(&self, now: Timestamp, limit: usize, chance: Chance) -> Reply<Advance> {
        self.memory.advance(now, limit, chance)
    }

    fn get(&self, id: JobId) -> Reply<Option<Job>> {
        self.memory.get(id)
    }

    fn holders(&self, query: HolderQuery) -> Reply<Holders> {
        self.memory.holders(query)
    }

    fn held_keys(&self, query: HeldQuery) -> Reply<HeldPage> {
        self.memory.held_keys(query)
    }

    fn jobs(&self, query: JobQuery) -> Reply<JobPage> {
        self.memory.jobs(query)
    }

    fn dead_letters(&self, query: DeadLetterQuery) -> Reply<Page<Job>> {
        self.memory.dead_letters(query)
    }

    fn queues(&self, query: QueueQuery) -> Reply<Page<QueueFacts>> {
        self.memory.queues(query)
    }

    fn queue(&self, name: QueueName) -> Reply<Option<QueueFacts>> {
        self.memory.queue(name)
    }

    fn entry(&self, key: EntryKey) -> Reply<Option<Entry>> {
        let reply = self.gated(self.memory.entry(key));
        let late = Duration::from_millis(self.late_ms.load(Ordering::Relaxed));
        Box::pin(async move {
            let entry = reply.await;
            if !late.is_zero() {
                pass(late).await;
            }
            entry
        })
    }

    fn entries(&self, query: EntryQuery) -> Reply<EntryPage> {
        self.memory.entries(query)
    }

    fn limit(&self, key: LimitKey) -> Reply<Option<LimitFacts>> {
        self.memory.limit(key)
    }

    fn limits(&self, query: LimitQuery) -> Reply<LimitPage> {
        self.memory.limits(query)
    }

    fn listen(&self, listener: Listener) {
        self.memory.listen(listener);
    }

    fn totals(&self) -> Reply<Totals> {
        self.memory.totals()
    }

    fn reset(&self) -> Reply<()> {
        self.memory.reset()
    }

    fn close(&self) -> Reply<()> {
        self.memory.close()
    }
}
