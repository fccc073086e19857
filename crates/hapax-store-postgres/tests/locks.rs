//! What happens while a transaction of somebody else holds a job or a key.
#![expect(clippy::unwrap_used, reason = "this is test code: a panic is how it reports")]

#[path = "support/draft.rs"]
mod draft;

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use hapax_core::unique::{Key, Strategy, UniquePolicy, Uniqueness};
use hapax_core::{
    Claimant, Event, Job, JobId, LeaseToken, Phase, QueueName, Rules, State, StateSet, Verdict,
};
use hapax_pg_cluster::{Cluster, Database, Session};
use hapax_store::suite::wait;
use hapax_store::{Action, Answer, Claim, Done, Op, Store};
use hapax_store_postgres::{PostgresStore, Settings};

struct Rig {
    database: Database,
    store: Arc<PostgresStore>,
}

fn rig() -> Rig {
    let database = Cluster::shared().database();
    let store =
        PostgresStore::open(Settings::new(database.url().parse().unwrap(), Rules::default())).unwrap();
    Rig { database, store: Arc::new(store) }
}

fn policy() -> Uniqueness {
    UniquePolicy { on_conflict: Strategy::Ignore, states: StateSet::INCOMPLETE, ..UniquePolicy::default() }
        .into()
}

impl Rig {
    /// Another transaction, open until it is told to end.
    fn session(&self, statements: &[&str]) -> Session {
        let mut session = Cluster::shared().session(self.database.name()).unwrap();
        for statement in [&["BEGIN"], statements].concat() {
            session.query(statement).unwrap();
        }
        session
    }

    fn act(&self, op: Op) -> Answer {
        wait(self.store.commit(vec![op])).unwrap().remove(0)
    }

    /// The same on another thread: it may have to wait.
    fn act_apart(&self, op: Op) -> JoinHandle<Answer> {
        let store = Arc::clone(&self.store);
        thread::spawn(move || wait(store.commit(vec![op])).unwrap().remove(0))
    }

    fn enqueue(&self, n: u8, key: &str) -> (Op, JobId) {
        self.enqueue_under(policy(), n, key)
    }

    fn enqueue_under(&self, policy: Uniqueness, n: u8, key: &str) -> (Op, JobId) {
        let now = self.store.clock().now();
        let mut incoming = draft::incoming(now, n, Some((Key::of_text(key), policy)));
        // In the order of the numbers, not in that of their creation.
        incoming.id = JobId::new(hapax_core::Timestamp::from_millis(n.into()), [n; 10]);
        let id = incoming.id;
        (draft::enqueue(now, incoming), id)
    }

    fn create(&self, n: u8, key: &str) -> JobId {
        let (op, id) = self.enqueue(n, key);
        assert!(
            matches!(self.act(op), Ok(Done::Enqueued(admission)) if admission.verdict == Verdict::Created)
        );
        id
    }

    fn fetch(&self, count: usize) -> Vec<JobId> {
        let claim = Claim {
            now: self.store.clock().now(),
            queues: vec![QueueName::default_queue()],
            count,
            worker: None,
            token: LeaseToken::new([1; 16]),
            visibility_timeout: None,
            tenant: None,
        };
        wait(self.store.claim(claim)).unwrap().changes.iter().map(|change| change.job().id).collect()
    }

    fn ack(&self, id: JobId) -> Op {
        let event = Event::Acknowledge { claimant: Claimant::UNNAMED, result: None };
        Op { now: self.store.clock().now(), action: Action::Step { id, event } }
    }

    /// Returns when so many transactions wait for the locks of others.
    fn expect_waiting(&self, count: usize) {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while self.database.query(sql).unwrap().trim() != count.to_string() {
            thread::yield_now();
        }
    }

    fn job(&self, id: JobId) -> Job {
        wait(self.store.get(id)).unwrap().unwrap()
    }
}

fn lock_of(key: &str) -> String {
    let key = Key::of_text(key);
    let number = i64::from_be_bytes(key.bytes()[..8].try_into().unwrap());
    format!("SELECT pg_advisory_xact_lock({number})")
}

/// One that the database resolves at the cost of a server is tried again, and nobody would notice.
fn expect_no_deadlock() {
    let log = std::fs::read_to_string(Cluster::shared().log()).unwrap();
    assert!(!log.contains("deadlock detected"), "{log}");
}

#[test]
fn a_held_key_holds_up_its_own_requests_only() {
    let rig = rig();
    let mut session = rig.session(&[&lock_of("held")]);
    let (op, held) = rig.enqueue(1, "held");
    let waiting = rig.act_apart(op);
    for n in 2..30 {
        rig.create(n, &format!("free {n}"));
    }
    assert!(!waiting.is_finished() && wait(rig.store.get(held)).unwrap().is_none());
    session.query("COMMIT").unwrap();
    assert!(waiting.join().unwrap().is_ok());
    assert_eq!(rig.job(held).state(), State::Available);
}

#[test]
fn a_claim_passes_over_a_locked_job() {
    let rig = rig();
    let (first, second) = (rig.create(1, "a"), rig.create(2, "b"));
    let mut session = rig.session(&[&format!("SELECT FROM hapax.jobs WHERE id = '{first}' FOR UPDATE")]);
    assert_eq!(rig.fetch(10), [second]);
    session.query("ROLLBACK").unwrap();
    assert_eq!(rig.fetch(10), [first]);
}

#[test]
fn a_duplicate_of_a_locked_holder_waits_and_then_finds_it() {
    let rig = rig();
    let holder = rig.create(1, "a");
    let mut session = rig.session(&[&format!("SELECT FROM hapax.jobs WHERE id = '{holder}' FOR UPDATE")]);
    let waiting = rig.act_apart(rig.enqueue(2, "a").0);
    rig.create(3, "b");
    session.query("COMMIT").unwrap();
    match waiting.join().unwrap() {
        Ok(Done::Enqueued(admission)) => {
            assert_eq!((admission.verdict, admission.job.id), (Verdict::Existing, holder));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(rig.job(holder).ledger.count(), 1);
}

#[test]
fn an_end_that_had_to_wait_lets_those_go_who_came_meanwhile() {
    let rig = rig();
    let running = rig.create(1, "a");
    assert_eq!(rig.fetch(1), [running]);
    let late = rig.create(2, "b");
    let mut session = rig.session(&[&format!("SELECT FROM hapax.jobs WHERE id = '{running}' FOR UPDATE")]);
    let waiting = rig.act_apart(rig.ack(running));
    // The waiting request has looked already, or looks later: both must end well.
    rig.create(3, "c");
    session
        .query(&format!("UPDATE hapax.jobs SET state = 'pending', after = '{running}' WHERE id = '{late}'"))
        .unwrap();
    session.query("COMMIT").unwrap();
    match waiting.join().unwrap() {
        Ok(Done::Stepped(change)) => assert_eq!(change.job().state(), State::Completed),
        other => panic!("{other:?}"),
    }
    assert!(matches!(rig.job(late).phase, Phase::Available { .. }), "{:?}", rig.job(late).phase);
}

#[test]
fn a_job_that_changed_under_a_claim_is_given_out_as_it_is() {
    let rig = rig();
    let id = rig.create(1, "a");
    let mut session = rig.session(&[&format!("UPDATE hapax.jobs SET fence = 7 WHERE id = '{id}'")]);
    assert!(rig.fetch(1).is_empty());
    session.query("COMMIT").unwrap();
    assert_eq!(rig.fetch(1), [id]);
    assert_eq!(rig.job(id).fence, 8);
}

#[test]
fn a_step_and_a_duplicate_that_wait_for_the_same_jobs_do_not_wait_in_a_circle() {
    let rig = rig();
    let while_available = || -> Uniqueness {
        let states = StateSet::of(&[State::Available]);
        UniquePolicy { on_conflict: Strategy::Ignore, states, ..UniquePolicy::default() }.into()
    };
    let create = |n| {
        let (op, id) = rig.enqueue_under(while_available(), n, "a");
        assert!(rig.act(op).is_ok());
        id
    };
    let running = create(2);
    assert_eq!(rig.fetch(1), [running]);
    // Its name comes first, so that whoever wants both locks it first.
    let waiting = create(1);
    let mut session = rig.session(&["SELECT FROM hapax.jobs FOR UPDATE"]);
    let end = rig.act_apart(rig.ack(running));
    rig.expect_waiting(1);
    let duplicate = rig.act_apart(rig.enqueue_under(while_available(), 3, "a").0);
    rig.expect_waiting(2);
    session.query("COMMIT").unwrap();
    assert!(end.join().unwrap().is_ok());
    match duplicate.join().unwrap() {
        Ok(Done::Enqueued(admission)) => assert_eq!(admission.job.id, waiting),
        other => panic!("{other:?}"),
    }
    expect_no_deadlock();
}

#[test]
fn a_job_does_not_end_by_itself_while_somebody_holds_its_successor() {
    let rig = rig();
    let now = rig.store.clock().now();
    let mut incoming = draft::incoming(now, 1, None);
    incoming.spec.retry.max_attempts = 1;
    let running = incoming.id;
    assert!(rig.act(draft::enqueue(now, incoming)).is_ok());
    assert_eq!(rig.fetch(1), [running]);
    let waiting = rig.create(2, "b");
    let wait_for =
        format!("UPDATE hapax.jobs SET state = 'pending', after = '{running}' WHERE id = '{waiting}'");
    rig.database.query(&wait_for).unwrap();
    let mut session = rig.session(&[&format!("SELECT FROM hapax.jobs WHERE id = '{waiting}' FOR UPDATE")]);
    let later = now + std::time::Duration::from_hours(1);
    let advance = || wait(rig.store.advance(later, 100, hapax_core::Chance(0))).unwrap();
    advance();
    assert_eq!(rig.job(running).state(), State::Active);
    session.query("COMMIT").unwrap();
    advance();
    assert_eq!(rig.job(running).state(), State::Discarded);
    assert_eq!(rig.job(waiting).state(), State::Available);
}

#[test]
fn who_completes_a_job_and_then_wants_its_key_does_not_wait_in_a_circle() {
    let rig = rig();
    let running = rig.create(1, "a");
    assert_eq!(rig.fetch(1), [running]);
    let lease = "01".repeat(16);
    let mut session = rig.session(&[&format!("SELECT hapax.complete('{running}', '{lease}', NULL)")]);
    let duplicate = rig.act_apart(rig.enqueue(2, "a").0);
    rig.expect_waiting(1);
    // As an enqueue of the next job with that key does.
    session.query(&lock_of("a")).unwrap();
    session.query("COMMIT").unwrap();
    assert!(duplicate.join().unwrap().is_ok());
    assert_eq!(rig.job(running).state(), State::Completed);
    expect_no_deadlock();
}

#[test]
fn a_queue_is_paused_however_many_wait_for_keys_that_others_hold() {
    let rig = rig();
    let keys: Vec<String> = (1..=6).map(|n| format!("held {n}")).collect();
    let locks: Vec<String> = keys.iter().map(|key| lock_of(key)).collect();
    let mut session = rig.session(&locks.iter().map(String::as_str).collect::<Vec<_>>());
    let waiting: Vec<JoinHandle<Answer>> =
        (1..).zip(&keys).map(|(n, key)| rig.act_apart(rig.enqueue(n, key).0)).collect();
    // All places for those who wait are taken.
    rig.expect_waiting(4);
    let now = rig.store.clock().now();
    assert!(rig.act(Op { now, action: Action::Pause(QueueName::default_queue()) }).is_ok());
    assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
    session.query("COMMIT").unwrap();
    assert!(waiting.into_iter().all(|waiting| waiting.join().unwrap().is_ok()));
}
