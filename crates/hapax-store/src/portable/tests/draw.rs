//! Things drawn at random: every field has each of its forms now and then.

use std::sync::Arc;
use std::time::Duration;

use hapax_core::limit::{LimitKey, Limits, OnLimit, Pace, RateLimit, Share, Window};
use hapax_core::unique::{
    Anchor, Debounce, Dimensions, Field, FieldSet, JobKey, JobKeyMode, Key, Ledger, LedgerEntry, Release,
    Releaser, Replacement, Strategy, UniquePolicy, Uniqueness, WhileActive,
};
use hapax_core::{
    Backoff, Cause, Checkpoint, Delivery, Exhaustion, Failure, Fraction, GivenTime, History, Job, JobId,
    JobType, Json, KeptFor, Lease, LeaseToken, OrderingKey, Overrun, Phase, Priority, Progress, QueueName,
    RetryPolicy, Spec, State, StateSet, TimeLimits, Timeout, Timestamp, WorkerId,
};

use crate::desk::{Kept, Numbered};
use crate::portable::{Item, Queue};
use crate::{MemoKey, Remembered};

/// Texts that break what is careless.
const TEXTS: [&str; 5] = ["", "plain", "it's \"odd\"\\\n\r\u{2028}\0é\u{1f980}", "=req", "a,b\tc"];
const VALUES: [&str; 6] = [
    "[]",
    "{}",
    "[1.0,1e3,-0,12345678901234567890]",
    "{ \"b\":1,\n\t\"a\":[null]\r\n}",
    "\"\\u00e9é\"",
    "null",
];
const OBJECTS: [&str; 4] = ["{}", "{ }", "{\"a\":{\"kind\":\"end\"}}", "{\n}"];

/// Random bits that are the same in every run (`SplitMix64`).
pub(super) struct Draw(pub(super) u64);

impl Draw {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn one<T: Clone>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.bits() % all.len() as u64).unwrap()].clone()
    }

    fn coin(&mut self) -> bool {
        self.bits().is_multiple_of(2)
    }

    fn maybe<T>(&mut self, draw: impl FnOnce(&mut Draw) -> T) -> Option<T> {
        if self.coin() { Some(draw(self)) } else { None }
    }

    fn few<T>(&mut self, mut draw: impl FnMut(&mut Draw) -> T) -> Vec<T> {
        (0..self.bits() % 4).map(|_| draw(self)).collect()
    }

    fn text(&mut self) -> Box<str> {
        self.one(&TEXTS).into()
    }

    fn json(&mut self) -> Json {
        Json::from_trusted(self.one(&VALUES))
    }

    fn time(&mut self) -> Timestamp {
        let near = 1_700_000_000_000 + i64::try_from(self.bits() % 1_000_000_000).unwrap();
        Timestamp::from_millis(self.one(&[0, -1, near, i64::MIN, i64::MAX]))
    }

    fn span(&mut self) -> Duration {
        let near = self.bits() % 1_000_000;
        Duration::from_millis(self.one(&[0, 1, near, 10_000 * 365 * 86_400_000]))
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.bits().to_be_bytes()[0])
    }

    fn id(&mut self) -> JobId {
        let random = self.bytes();
        JobId::new(self.time(), random)
    }

    fn given(&mut self) -> GivenTime {
        GivenTime { at: self.time(), text: self.text() }
    }

    fn policy(&mut self) -> UniquePolicy {
        let field = |draw: &mut Draw| draw.one(&Field::ALL);
        let fields: FieldSet = self.few(field).into_iter().collect();
        let state = self.one(&State::ALL);
        UniquePolicy {
            dimensions: Dimensions { queue: self.coin(), args: self.coin(), meta: self.coin() },
            args_keys: self.maybe(|draw| draw.few(Draw::text)),
            meta_keys: self.maybe(|draw| draw.few(Draw::text)),
            key: self.maybe(Draw::text),
            period: self.maybe(Draw::span),
            period_from: self.one(&Anchor::ALL),
            states: self.few(|draw| draw.one(&State::ALL)).into_iter().collect::<StateSet>(),
            on_conflict: self.one(&Strategy::ALL),
            replace: self.maybe(|_| Replacement::default().with(state, fields)),
            debounce: self.maybe(|draw| Debounce { wait: draw.span(), max_wait: draw.maybe(Draw::span) }),
            while_active: self.maybe(|draw| draw.one(&WhileActive::ALL)),
        }
    }

    fn unique(&mut self) -> Uniqueness {
        if self.coin() {
            return Uniqueness::Policy(self.policy());
        }
        Uniqueness::JobKey(JobKey { name: self.text(), mode: self.one(&JobKeyMode::ALL) })
    }

    fn retry(&mut self) -> RetryPolicy {
        if self.coin() {
            return RetryPolicy::default();
        }
        RetryPolicy {
            max_attempts: self.one(&[0, 3, u32::MAX]),
            initial_interval: self.span(),
            backoff_coefficient: self.one(&[1.0, 1.1, 2.000_000_000_000_000_4]),
            max_interval: self.span(),
            jitter: self.coin(),
            non_retryable_errors: self.few(Draw::text),
            on_exhaustion: self.one(&[Exhaustion::Discard, Exhaustion::DeadLetter]),
            backoff: self.one(&[
                Backoff::Constant,
                Backoff::Linear,
                Backoff::Exponential,
                Backoff::Polynomial,
            ]),
        }
    }

    fn rate_limit(&mut self) -> RateLimit {
        let pace = |draw: &mut Draw| {
            Pace::new(draw.one(&[1, 7, 1_000_000]), Duration::from_hours(1), Window::Sliding).unwrap()
        };
        RateLimit {
            key: self.one(&[
                LimitKey::parse("tenant:a").unwrap(),
                LimitKey::of_jobs_in(&QueueName::default_queue()),
            ]),
            limits: Limits {
                concurrency: self.maybe(|draw| draw.one(&[0, 1, 1_000_000])),
                rate: self.maybe(pace),
                throttle: self.maybe(pace),
            },
            on_limit: self.one(&OnLimit::ALL),
            share: self.one(&Share::ALL),
        }
    }

    fn spec(&mut self) -> Spec {
        Spec {
            kind: JobType::parse(self.one(&["a", "email.send"])).unwrap(),
            queue: self.queue_name(),
            priority: Priority::new(self.one(&[-100, 0, 7, 100])).unwrap(),
            args: self.json(),
            meta: Json::from_trusted(self.one(&OBJECTS)),
            tags: self.few(Draw::text),
            schema: self.maybe(Draw::text),
            scheduled_at: self.maybe(Draw::given),
            expires_at: self.maybe(Draw::given),
            timeout: self.maybe(|draw| Timeout { span: draw.span(), in_seconds: draw.coin() }),
            visibility_timeout: self.maybe(Draw::span),
            limits: TimeLimits {
                total: self.maybe(Draw::span),
                enqueue: self.maybe(Draw::span),
                heartbeat: self.maybe(Draw::span),
                grace: self.maybe(Draw::span),
            },
            retry: self.retry(),
            unique: self.maybe(Draw::unique),
            delivery: self.one(&[Delivery::AtLeastOnce, Delivery::AtMostOnce]),
            ordering_key: self.maybe(Draw::ordering_key),
            kept_for: KeptFor::default(),
            rate_limit: self.maybe(Draw::rate_limit).map(Box::new),
            workflow: None,
            extra: Json::from_trusted(self.one(&OBJECTS)),
        }
    }

    fn ordering_key(&mut self) -> OrderingKey {
        OrderingKey::parse(self.one(&["a", "customer \"42\" é"])).unwrap()
    }

    fn queue_name(&mut self) -> QueueName {
        QueueName::parse(self.one(&["default", "mail.out-1"])).unwrap()
    }

    fn lease(&mut self) -> Lease {
        Lease {
            token: LeaseToken::new(self.bytes()),
            worker: self.maybe(|_| WorkerId::parse("w \"1\" é").unwrap()),
            deadline: self.time(),
            length: self.span(),
        }
    }

    fn phase(&mut self) -> Phase {
        let at = self.time();
        match self.one(&State::ALL) {
            State::Scheduled => Phase::Scheduled { at },
            State::Available => Phase::Available { lapsed: self.maybe(Draw::lease) },
            State::Pending => Phase::Pending { after: self.maybe(Draw::id) },
            State::Active => Phase::Active { lease: self.lease(), times_out_at: self.maybe(Draw::time) },
            State::Retryable => Phase::Retryable { at },
            State::Completed => Phase::Completed { at, result: self.maybe(Draw::json) },
            State::Cancelled => Phase::Cancelled { at, from: self.one(&State::ALL) },
            State::Discarded => {
                let lease = self.lease();
                let cause = self.one(&[Cause::Failed, Cause::Expired, Cause::LeaseExpired(lease)]);
                Phase::Discarded { at, cause, dead_letter: self.coin() }
            }
        }
    }

    fn failure(&mut self) -> Failure {
        Failure {
            attempt: self.one(&[0, 1, u32::MAX]),
            kind: self.text(),
            code: self.text(),
            message: self.text(),
            occurred_at: self.time(),
            retryable: self.maybe(Draw::coin),
            details: self.maybe(Draw::json).filter(|json| *json != Json::null()),
            backtrace: self.few(Draw::text),
            overrun: self.maybe(|draw| Overrun { limit: draw.span(), elapsed: draw.span() }),
        }
    }

    fn history(&mut self) -> History {
        let entries = self.few(Draw::failure);
        let current = !entries.is_empty() && self.coin();
        History::restored(entries, current)
    }

    fn ledger(&mut self) -> Ledger {
        let entry = |draw: &mut Draw| LedgerEntry {
            at: draw.time(),
            outcome: draw.one(&["existing", "updated", "rejected", "replaced"]),
            request_id: draw.maybe(|draw| Arc::from(&*draw.text())),
        };
        let recent = self.few(entry);
        let more = self.one(&[0, 5]);
        Ledger::restored(recent.len() as u64 + more, recent)
    }

    fn release(&mut self) -> Release {
        Release {
            at: self.time(),
            key: Key::from_bytes(self.bytes()),
            by: self.one(&Releaser::ALL),
            reason: self.maybe(Draw::text),
        }
    }

    fn progress(&mut self) -> Progress {
        Progress {
            value: self.maybe(|draw| Fraction::clamped(draw.one(&[0.0, 0.1 + 0.2, 1.0]))),
            message: self.maybe(|draw| draw.one(&["", "é \"half\"\n"]).into()),
            data: self.maybe(|draw| Json::from_trusted(draw.one(&["{\"b\":1.0,\"a\":1e3}", "{}"]))),
            updated_at: self.time(),
        }
    }

    fn checkpoint(&mut self) -> Checkpoint {
        Checkpoint {
            state: Json::from_trusted(self.one(&[
                "null",
                "[1.0, \"\\u0000\"]",
                "{\"a\": 12345678901234567890}",
            ])),
            notes: Json::from_trusted(self.one(&["{}", "{\"step_index\":3}"])),
            sequence: self.one(&[1, u64::MAX]),
            saved_at: self.time(),
        }
    }

    /// A job at this place.
    pub(super) fn job(&mut self, seq: u64) -> Item {
        let spec = Arc::new(self.spec());
        let job = Job {
            id: self.id(),
            spec,
            key: self.maybe(|draw| Key::from_bytes(draw.bytes())),
            created_at: self.time(),
            enqueued_at: self.maybe(Draw::time),
            activated_at: self.maybe(Draw::time),
            started_at: self.maybe(Draw::time),
            attempt: self.one(&[0, 1, u32::try_from(i32::MAX).unwrap()]),
            fence: self.one(&[0, 1, u64::try_from(i64::MAX).unwrap()]),
            phase: self.phase(),
            history: self.history(),
            retry_delay: self.maybe(Draw::span),
            ledger: self.ledger(),
            reentered_beside: self.maybe(Draw::id),
            released: self.maybe(Draw::release),
            first_start: self.maybe(Draw::time),
            progress: self.maybe(Draw::progress),
            checkpoint: self.maybe(Draw::checkpoint),
            begun_at: self.maybe(Draw::time),
        };
        let turn = self.one(&[0, seq, (1 << 62) - 1]);
        Item::Job(Box::new(Numbered { seq, turn, job }))
    }

    /// An answer that is remembered since so many milliseconds after 1970.
    pub(super) fn memo(&mut self, since: i64) -> Item {
        let body = self.one(&[b"".to_vec(), b"{\"a\":1}\n".to_vec(), vec![0xff, 0, 0xfe]]);
        let reply = Remembered { status: self.one(&[200, 201, 409]), body: body.into() };
        let since = Timestamp::from_millis(since);
        Item::Memo(
            MemoKey(format!("POST é {since}").into()),
            Kept { since, fingerprint: self.bytes(), reply },
        )
    }

    /// Everything that a store may hold, in its order.
    pub(super) fn store(&mut self, jobs: u64) -> Vec<Item> {
        let queue = |draw: &mut Draw, name: &str| {
            let name = QueueName::parse(name).unwrap();
            Item::Queue(Queue { name, paused: draw.coin(), created_at: draw.time() })
        };
        let mut items = vec![queue(self, "default"), queue(self, "mail.out-1")];
        items.extend((0..jobs).map(|n| self.job(n * n + 1)));
        items.extend((0..jobs).map(|n| self.memo(i64::try_from(n).unwrap())));
        items
    }
}
