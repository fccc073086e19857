//! Racers of three servers for one key per round, while a job with the same key comes back by every way there is.

use std::collections::BTreeMap;
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::Duration;

use e2e::fleet::{Fleet, SERVERS, effort};
use e2e::{Answer, Client, Delivery, Job, clock, job, together};
use serde_json::json;

const RACERS: usize = 16 * SERVERS;
const ROUNDS: usize = 200;
/// A job that does not come back within this time is stuck.
const RETURN_MAX: Duration = Duration::from_secs(20);

/// How a job with the key of the round comes back to its line at the moment of the race.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Return {
    /// There is none.
    Nobody,
    /// It failed and is retried.
    Retry,
    /// Its worker was not heard of.
    Rescue,
    /// Its time has come.
    Promotion,
    /// An operator revives it.
    Operator,
}

const RETURNS: [Return; 5] =
    [Return::Nobody, Return::Retry, Return::Rescue, Return::Promotion, Return::Operator];

impl Return {
    fn of(round: usize) -> Return {
        RETURNS[round % RETURNS.len()]
    }

    /// Brings a job to where it comes back from.
    fn prepare(self, client: &mut Client, round: usize) -> Option<Rival> {
        let queue = queue(round);
        let rival = of_round(round);
        let (id, delivery) = match self {
            Return::Nobody => return None,
            Return::Promotion => (client.create(&rival.with("scheduled_at", "+PT0.02S")), None),
            Return::Rescue => (client.create(&rival), Some(client.fetch_for(&queue, 20))),
            Return::Retry => (client.create(&rival.retried(1, 5)), Some(client.fetch_one(&queue))),
            Return::Operator => {
                let retry = json!({"max_attempts": 1, "on_exhaustion": "dead_letter"});
                let id = client.create(&rival.with("retry", retry));
                let delivery = client.fetch_one(&queue);
                assert_eq!(client.nack(&delivery).is(200)["state"], "discarded");
                (id, None)
            }
        };
        Some(Rival { id, delivery })
    }

    /// Does what makes it come back, if that is not only a matter of time.
    fn bring_about(self, client: &mut Client, rival: Option<&Rival>) {
        let Some(rival) = rival else { return };
        match (self, &rival.delivery) {
            (Return::Retry, Some(delivery)) => {
                assert_eq!(client.nack(delivery).is(200)["state"], "retryable");
            }
            (Return::Operator, _) => {
                client.post(&format!("/ojs/v1/dead-letter/{}/retry", rival.id), &json!({})).is(200);
            }
            _ => {}
        }
    }
}

/// The job that comes back.
#[derive(Debug, Clone)]
struct Rival {
    id: String,
    delivery: Option<Delivery>,
}

fn queue(round: usize) -> String {
    format!("round-{round}")
}

/// A job that wants to be alone only while it waits for its turn, so that it can come back beside another.
fn of_round(round: usize) -> Job {
    let on_conflict = if round.is_multiple_of(2) { "ignore" } else { "reject" };
    let policy = json!({"key": queue(round), "states": ["available"], "on_conflict": on_conflict});
    job("race").on(&queue(round)).unique(policy)
}

/// What one racer saw of one round.
#[derive(Debug, Clone)]
struct Seen {
    round: usize,
    answer: Answer,
}

#[test]
fn of_all_racers_of_all_servers_one_is_created_whoever_comes_back_meanwhile() {
    let rounds = effort("HAPAX_FLEET_ROUNDS", ROUNDS);
    let fleet = Fleet::start();
    let barrier = Barrier::new(RACERS);
    let rivals: Mutex<BTreeMap<usize, Rival>> = Mutex::default();
    let seen = together(RACERS, |racer| {
        let mut client = fleet.client(racer);
        let race = |round| {
            let its_return = Return::of(round);
            let rival = if round % RACERS == racer { its_return.prepare(&mut client, round) } else { None };
            let job = of_round(round).args(json!([racer]));
            barrier.wait();
            its_return.bring_about(&mut client, rival.as_ref());
            if let Some(rival) = rival {
                rivals.lock().unwrap_or_else(PoisonError::into_inner).insert(round, rival);
            }
            Seen { round, answer: client.enqueue(&job) }
        };
        (0..rounds).map(race).collect::<Vec<_>>()
    });
    let rivals = rivals.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut created = BTreeMap::new();
    for round in 0..rounds {
        let answers: Vec<&Answer> = seen.iter().map(|racer| of(round, racer)).collect();
        created.insert(round, judge(round, &answers, rivals.get(&round)));
    }
    let expected =
        |round: usize| usize::from(created[&round].is_some()) + usize::from(rivals.contains_key(&round));
    together(RACERS, |racer| {
        let mut client = fleet.client(racer + 1);
        for round in (racer..rounds).step_by(RACERS) {
            finish(&mut client, round, expected(round));
        }
    });
    assert_eq!(fleet.deadlocks(), 0);
    tell(&created, &rivals);
}

fn of(round: usize, racer: &[Seen]) -> &Answer {
    assert_eq!(racer[round].round, round);
    &racer[round].answer
}

/// Panics unless at most one racer created a job, and all others were told of it or of the rival. Gives back the job.
fn judge(round: usize, answers: &[&Answer], rival: Option<&Rival>) -> Option<String> {
    let created: Vec<String> =
        answers.iter().filter(|answer| answer.status == 201).map(|answer| answer.id()).collect();
    assert!(created.len() <= 1, "round {round}: {created:?} were created");
    assert!(created.len() == 1 || rival.is_some(), "round {round}: nobody was created");
    for answer in answers {
        let named = match answer.status {
            201 => continue,
            200 => answer.id(),
            _ => answer.is_refusal(409, "duplicate").text("/error/details/existing_job_id").to_owned(),
        };
        let is_known = created.contains(&named) || rival.is_some_and(|rival| rival.id == named);
        assert!(is_known, "round {round}: {named} is neither {created:?} nor {rival:?}");
    }
    created.into_iter().next()
}

/// Every job of the round is delivered and ends: none is stuck.
fn finish(client: &mut Client, round: usize, expected: usize) {
    let queue = queue(round);
    let mut left = expected;
    clock::until(&format!("all jobs of round {round} come back"), RETURN_MAX, || {
        for delivery in client.fetch(&queue, 10) {
            client.ack(&delivery).is(200);
            left -= 1;
        }
        left == 0
    });
    assert_eq!(client.count(&queue, "completed"), expected as u64, "round {round}");
}

/// A run in which a race always went the same way has not tested it.
fn tell(created: &BTreeMap<usize, Option<String>>, rivals: &BTreeMap<usize, Rival>) {
    let mut created_by_return: BTreeMap<Return, (usize, usize)> = BTreeMap::new();
    for (round, id) in created {
        let (of_all, all) = created_by_return.entry(Return::of(*round)).or_default();
        *of_all += usize::from(id.is_some());
        *all += 1;
    }
    eprintln!(
        "{} rounds with {} rivals; created by return: {created_by_return:?}",
        created.len(),
        rivals.len()
    );
    assert!(created.values().flatten().count() >= created.len() / RETURNS.len());
}
