//! What outlives a restart, orderly or not.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

#[path = "support/draft.rs"]
mod draft;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hapax_core::unique::{
    Anchor, Debounce, JobKey, JobKeyMode, Key, Releaser, Strategy, UniquePolicy, Uniqueness, WhileActive,
};
use hapax_core::{
    Chance, Event, Job, Json, Phase, Priority, Refusal, Rules, Spec, State, StateSet, WorkerId,
};
use hapax_store::{Action, Change, Done, HeldQuery, HolderQuery, Memo, MemoKey, Op, Remembered, Store};
use hapax_store_sqlite::{Settings, SqliteStore};

fn open(dir: &Path) -> SqliteStore {
    let settings = Settings::new(Rules::default(), Arc::new(|_| ()));
    SqliteStore::open_with(dir, Settings { log_bytes: 1 << 16, ..settings }).unwrap()
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Does the work, then opens what is left: after an orderly end, and as if the process had been killed.
fn check(work: impl Fn(&SqliteStore), look: impl Fn(&SqliteStore)) {
    let folder = tempfile::tempdir().unwrap();
    let (dir, killed) = (folder.path().join("data"), folder.path().join("killed"));
    let store = open(&dir);
    work(&store);
    fs::create_dir(&killed).unwrap();
    for name in ["hapax.db", "hapax.db-wal"] {
        fs::copy(dir.join(name), killed.join(name)).unwrap();
    }
    drop(store);
    look(&open(&dir));
    look(&open(&killed));
}

fn claimed(changes: &[Change]) -> Vec<u64> {
    let number = |change: &Change| (0..100).find(|n| draft::id(*n) == change.job().id).unwrap();
    changes.iter().map(number).collect()
}

#[test]
fn leases_attempts_and_fences() {
    let mut claim = draft::claim(draft::at(5), &["default"], 1, 7);
    claim.worker = WorkerId::parse("worker 1");
    claim.visibility_timeout = Some(Duration::from_secs(90));
    check(
        |store| {
            wait(store.commit(vec![draft::enqueue(draft::at(0), draft::incoming(1, draft::spec()))]))
                .unwrap();
            wait(store.claim(claim.clone())).unwrap();
        },
        |store| {
            let job = wait(store.get(draft::id(1))).unwrap().unwrap();
            assert_eq!((job.attempt, job.fence), (1, 1));
            let Phase::Active { lease, times_out_at: None } = &job.phase else { panic!("{job:?}") };
            assert_eq!((lease.token, &lease.worker), (claim.token, &claim.worker));
            assert_eq!((lease.deadline, lease.length), (draft::at(90_005), Duration::from_secs(90)));
            let advance = wait(store.advance(draft::at(6), 10, Chance(0))).unwrap();
            assert_eq!((advance.changes.len(), advance.next_due), (0, Some(draft::at(90_005))));
            let advance = wait(store.advance(draft::at(90_005), 10, Chance(0))).unwrap();
            assert_eq!(advance.changes[0].job().state(), State::Available);
            let again = wait(store.claim(claim.clone())).unwrap().changes;
            assert_eq!((again[0].job().attempt, again[0].job().fence), (2, 2));
        },
    );
}

#[test]
fn turns_and_priorities() {
    check(
        |store| {
            let urgent = Spec { priority: Priority::new(5).unwrap(), ..draft::spec() };
            // The clock goes back in between; the line does not care.
            for (n, millis, spec) in
                [(1, 900, draft::spec()), (2, 500, draft::spec()), (3, 100, urgent), (4, 0, draft::spec())]
            {
                wait(store.commit(vec![draft::enqueue(draft::at(millis), draft::incoming(n, spec))]))
                    .unwrap();
            }
            wait(store.claim(draft::claim(draft::at(1000), &["default"], 2, 1))).unwrap();
            let requeue = Event::Fail {
                claimant: hapax_core::Claimant::UNNAMED,
                error: hapax_core::WorkerError {
                    kind: "k".into(),
                    code: "c".into(),
                    message: "m".into(),
                    retryable: None,
                    details: None,
                    backtrace: Vec::new(),
                    rate_limit_until: None,
                    aliases: Vec::new(),
                    directive: hapax_core::Directive::Policy,
                },
                handback: hapax_core::Handback::Requeue,
                chance: Chance(0),
            };
            wait(store.commit(vec![draft::step(draft::at(1000), draft::id(1), requeue)])).unwrap();
        },
        |store| {
            let changes =
                wait(store.claim(draft::claim(draft::at(2000), &["default"], 9, 2))).unwrap().changes;
            assert_eq!(claimed(&changes), [2, 4, 1]);
        },
    );
}

#[test]
fn pauses_queues_and_counts() {
    check(
        |store| {
            let pause = Op { now: draft::at(3), action: Action::Pause(draft::queue("held")) };
            let spec = Spec { queue: draft::queue("held"), ..draft::spec() };
            wait(store.commit(vec![pause, draft::enqueue(draft::at(4), draft::incoming(1, spec))])).unwrap();
        },
        |store| {
            let facts = wait(store.queue(draft::queue("held"))).unwrap().unwrap();
            assert_eq!((facts.paused, facts.created_at), (true, draft::at(3)));
            assert_eq!(facts.counts.of(State::Available), 1);
            assert_eq!(wait(store.claim(draft::claim(draft::at(5), &["held"], 1, 1))).unwrap().changes, []);
        },
    );
}

#[test]
fn keys_and_ledgers() {
    let unique = |n| {
        let policy = draft::policy(StateSet::INCOMPLETE, Strategy::Reject, None, Anchor::CreatedAt);
        draft::unique(n, "a", Spec { unique: Some(policy.into()), ..draft::spec() })
    };
    check(
        |store| {
            wait(store.commit(vec![draft::enqueue(draft::at(0), unique(1))])).unwrap();
            wait(store.commit(vec![draft::enqueue(draft::at(1), unique(2))])).unwrap();
        },
        |store| {
            let answers = wait(store.commit(vec![draft::enqueue(draft::at(2), unique(3))])).unwrap();
            let Ok(Done::Enqueued(admission)) = &answers[0] else { panic!("{answers:?}") };
            assert_eq!(admission.job.id, draft::id(1));
            assert_eq!(admission.job.ledger.count(), 2);
            assert_eq!(wait(store.totals()).unwrap().keys_held, 1);
        },
    );
}

#[test]
fn successors_and_what_they_wait_for() {
    let policy = UniquePolicy { while_active: Some(WhileActive::QueueLatest), ..UniquePolicy::default() };
    let unique = |n| draft::unique(n, "a", Spec { unique: Some(policy.clone().into()), ..draft::spec() });
    check(
        |store| {
            wait(store.commit(vec![draft::enqueue(draft::at(0), unique(1))])).unwrap();
            wait(store.claim(draft::claim(draft::at(1), &["default"], 1, 1))).unwrap();
            wait(store.commit(vec![draft::enqueue(draft::at(2), unique(2))])).unwrap();
        },
        |store| {
            let job = wait(store.get(draft::id(2))).unwrap().unwrap();
            assert_eq!(job.phase, Phase::Pending { after: Some(draft::id(1)) });
            let answers = wait(store.commit(vec![draft::ack(draft::at(3), draft::id(1))])).unwrap();
            let Ok(Done::Stepped(change)) = &answers[0] else { panic!("{answers:?}") };
            let Change::To { followers, .. } = &**change else { panic!("{change:?}") };
            assert_eq!(followers.iter().map(|(_, job)| job.id).collect::<Vec<_>>(), [draft::id(2)]);
            let changes = wait(store.claim(draft::claim(draft::at(4), &["default"], 9, 2))).unwrap().changes;
            assert_eq!(claimed(&changes), [2]);
        },
    );
}

#[test]
fn debounced_starts_released_keys_and_job_keys() {
    let debounce = Debounce { wait: Duration::from_secs(5), max_wait: Some(Duration::from_secs(7)) };
    let policy = UniquePolicy { debounce: Some(debounce), ..UniquePolicy::default() };
    let debounced = |n| draft::unique(n, "a", Spec { unique: Some(policy.clone().into()), ..draft::spec() });
    let job_key = JobKey { name: "b".into(), mode: JobKeyMode::PreserveRunAt };
    let named = Spec { unique: Some(Uniqueness::JobKey(job_key)), ..draft::spec() };
    let release = Event::Release { reason: Some("stuck".into()) };
    check(
        |store| {
            let ops = vec![
                draft::enqueue(draft::at(0), debounced(1)),
                draft::enqueue(draft::at(1000), debounced(2)),
                draft::enqueue(draft::at(2000), draft::unique(3, "b", named.clone())),
                draft::step(draft::at(3000), draft::id(3), release.clone()),
            ];
            wait(store.commit(ops)).unwrap();
        },
        |store| {
            let job = wait(store.get(draft::id(1))).unwrap().unwrap();
            assert_eq!(job.phase, Phase::Scheduled { at: draft::at(6000) });
            assert_eq!(job.first_start, Some(draft::at(5000)));
            let job = wait(store.get(draft::id(3))).unwrap().unwrap();
            assert_eq!((job.key, job.spec.unique.as_ref()), (None, named.unique.as_ref()));
            let released = job.released.unwrap();
            assert_eq!((released.key, released.by), (Key::of_text("b"), Releaser::Operator));
            assert_eq!((released.at, released.reason.as_deref()), (draft::at(3000), Some("stuck")));
        },
    );
}

#[test]
fn who_holds_which_key() {
    let policy = draft::policy(StateSet::of(&[State::Pending]), Strategy::Ignore, None, Anchor::CreatedAt);
    let unique = |n| draft::unique(n, "a", Spec { unique: Some(policy.clone().into()), ..draft::spec() });
    check(
        |store| {
            for n in 1..5 {
                wait(store.commit(vec![draft::enqueue(draft::at(0), unique(n))])).unwrap();
            }
            wait(store.commit(vec![draft::step(draft::at(1), draft::id(3), Event::Cancel)])).unwrap();
        },
        |store| {
            let query = HolderQuery { key: Key::of_text("a"), covered_by: None, limit: 2 };
            let holders = wait(store.holders(query)).unwrap();
            let ids = |jobs: &[Job]| jobs.iter().map(|job| job.id).collect::<Vec<_>>();
            assert_eq!((holders.live, holders.ended), (3, 1));
            assert_eq!(ids(&holders.jobs), [4, 3, 2].map(draft::id));
            let page = |after| HeldQuery { after, limit: 2, ..HeldQuery::default() };
            let first = wait(store.held_keys(page(None))).unwrap();
            assert_eq!(ids(&first.jobs), [1, 2].map(draft::id));
            let last = wait(store.held_keys(page(first.next))).unwrap();
            assert_eq!((ids(&last.jobs), last.next), (vec![draft::id(4)], None));
        },
    );
}

#[test]
fn memos() {
    let op = |n, fingerprint, now| {
        let memo = Memo {
            key: MemoKey("create m-1".into()),
            fingerprint: [fingerprint; 32],
            render: Arc::new(|_| Remembered { status: 201, body: Arc::from(*b"{\"id\":1}") }),
        };
        let incoming = Box::new(draft::incoming(n, draft::spec()));
        Op { now, action: Action::Enqueue { incoming, memo: Some(memo) } }
    };
    let reply = Remembered { status: 201, body: Arc::from(*b"{\"id\":1}") };
    let later = draft::at(24 * 3_600_000 - 1);
    check(
        |store| drop(wait(store.commit(vec![op(1, 1, draft::at(0))])).unwrap()),
        |store| {
            let answers = wait(store.commit(vec![op(2, 1, later), op(3, 2, later)])).unwrap();
            assert_eq!(answers, [Ok(Done::Remembered(reply.clone())), Err(Refusal::IdempotencyMismatch)]);
            let answers = wait(store.commit(vec![op(4, 2, later + Duration::from_millis(1))])).unwrap();
            assert!(matches!(&answers[0], Ok(Done::Enqueued(_))));
        },
    );
}

#[test]
fn texts_byte_for_byte() {
    let odd = Spec {
        args: Json::from_trusted("[1.0, 1e3, 12345678901234567890, \"\\u00e9é\"]"),
        meta: Json::from_trusted("{ \"b\": 1, \"a\": 2 }"),
        extra: Json::from_trusted("{\"x\":null}"),
        tags: vec!["one".into(), "\"two\"".into()],
        scheduled_at: Some(draft::given(-5)),
        ..draft::spec()
    };
    check(
        |store| {
            wait(store.commit(vec![draft::enqueue(draft::at(0), draft::incoming(1, odd.clone()))])).unwrap();
        },
        |store| assert_eq!(*wait(store.get(draft::id(1))).unwrap().unwrap().spec, odd),
    );
}

#[test]
fn nothing_after_a_reset() {
    check(
        |store| {
            wait(store.commit(vec![draft::enqueue(draft::at(0), draft::incoming(1, draft::spec()))]))
                .unwrap();
            wait(store.reset()).unwrap();
            assert_eq!(wait(store.get(draft::id(1))).unwrap(), None);
            wait(store.commit(vec![draft::enqueue(draft::at(0), draft::incoming(2, draft::spec()))]))
                .unwrap();
        },
        |store| {
            assert_eq!(wait(store.get(draft::id(1))).unwrap(), None);
            assert_eq!(wait(store.totals()).unwrap().counts.of(State::Available), 1);
        },
    );
}
