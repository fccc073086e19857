//! How the queues of pools fare: `GET /ojs/v1/admin/scheduling/stats`, and who works on a pool.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hapax_broker::{Pool, PoolStrategy, Standing, Worker};
use hapax_core::{QueueName, State, Timestamp};
use hapax_store::{QueueFacts, QueueQuery, Register};
use hapax_wire::writer::{self, Object};

use crate::call::Call;
use crate::from_wire::bounds::LIMIT_MAX;
use crate::limits::POOLS_MAX;
use crate::pools::{self, Dispatched};
use crate::problem::Problem;
use crate::reply::Reply;

/// What fetches took from pools, by this server and since it started.
pub(crate) async fn stats(call: Call) -> Result<Reply, Problem> {
    let taken = call.shared.dispatches.all();
    let pools = stored(&call).await?;
    let queues = queues_of(&call, pools.values()).await?;
    let strategies: BTreeSet<_> = pools.values().map(|pool| pool.strategy.name()).collect();
    let turns = turns(&pools, &taken, &queues);
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        o.object("stats", |o| {
            o.number("uptime_seconds", call.shared.started.elapsed().as_secs());
            o.array("pools", &taken, |(name, dispatched), out| {
                writer::object(out, |o| of_pool(o, name, dispatched));
            });
        });
        // What the official admin UI shows. Without a pool, a fetch says itself in which order it looks.
        let strategies: Vec<_> = strategies.into_iter().collect();
        let strategy =
            if strategies.is_empty() { PoolStrategy::Strict.name().into() } else { strategies.join(" + ") };
        o.text("strategy", &strategy);
        o.array("queues", &turns, |(queue, turn), out| writer::object(out, |o| of_queue(o, queue, turn)));
    });
    Ok(Reply::ok(out))
}

/// Who works on a pool, as far as workers say from which queues they take jobs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::routes) struct Crew {
    pub(in crate::routes) workers: usize,
    pub(in crate::routes) concurrency: u64,
    pub(in crate::routes) active_jobs: u64,
}

impl Crew {
    /// That of a pool; workers that are silent are none.
    pub(in crate::routes) fn of(
        pool: &Pool,
        workers: &[Worker],
        queues: &HashMap<QueueName, QueueFacts>,
        now: Timestamp,
    ) -> Crew {
        let is_of_pool = |queue: &QueueName| pool.queues.iter().any(|(own, _)| own == queue);
        let is_meant = |worker: &&Worker| {
            let own = worker.report.queues.as_deref().unwrap_or_default();
            worker.standing(now) != Standing::Stale && own.iter().any(is_of_pool)
        };
        let known = pool.queues.iter().filter_map(|(queue, _)| queues.get(queue));
        let active_jobs = known.map(|facts| facts.counts.of(State::Active)).sum();
        workers.iter().filter(is_meant).fold(Crew { active_jobs, ..Crew::default() }, |crew, worker| Crew {
            workers: crew.workers + 1,
            concurrency: crew.concurrency.saturating_add(worker.report.concurrency.unwrap_or_default()),
            ..crew
        })
    }
}

/// The queues of these pools that were ever used: one look, and one more for each that stands far down the list of all.
pub(in crate::routes) async fn queues_of(
    call: &Call,
    pools: impl Iterator<Item = &Pool>,
) -> Result<HashMap<QueueName, QueueFacts>, Problem> {
    let names: BTreeSet<_> =
        pools.flat_map(|pool| pool.queues.iter().map(|(queue, _)| queue.clone())).collect();
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let first = QueueQuery { after: None, offset: 0, limit: LIMIT_MAX };
    let page = call.broker().queues(first).await?;
    let mut known: HashMap<_, _> = page.items.into_iter().map(|facts| (facts.name.clone(), facts)).collect();
    for name in names.into_iter().filter(|_| page.has_more) {
        if !known.contains_key(&name)
            && let Some(facts) = call.broker().queue(name.clone()).await?
        {
            known.insert(name, facts);
        }
    }
    Ok(known)
}

async fn stored(call: &Call) -> Result<BTreeMap<Box<str>, Pool>, Problem> {
    let page = call.broker().entries(Register::Pool, None, POOLS_MAX).await?;
    let read =
        |entry: hapax_store::Entry| Some(((&*entry.key.name).into(), pools::read(&entry.written.body)?));
    Ok(page.entries.into_iter().filter_map(read).collect())
}

/// How a queue fares among the others of its pools.
#[derive(Debug, Default)]
struct Turn {
    /// In weighted pools: it means something if there is one of them.
    weights: Vec<u32>,
    dispatched: u64,
    is_starved: bool,
}

fn turns(
    pools: &BTreeMap<Box<str>, Pool>,
    taken: &[(Box<str>, Dispatched)],
    queues: &HashMap<QueueName, QueueFacts>,
) -> BTreeMap<QueueName, Turn> {
    let mut turns: BTreeMap<QueueName, Turn> = BTreeMap::new();
    for (queue, weight) in pools.values().flat_map(|pool| {
        pool.queues
            .iter()
            .map(|(queue, weight)| (queue, (pool.strategy == PoolStrategy::Weighted).then_some(*weight)))
    }) {
        turns.entry(queue.clone()).or_default().weights.extend(weight);
    }
    for (name, Dispatched { jobs, .. }) in taken {
        for (queue, count) in jobs {
            turns.entry(queue.clone()).or_default().dispatched += count;
        }
        let of_pool = pools.get(name).map(|pool| pool.queues.as_slice()).unwrap_or_default();
        // Others were served, and this one has jobs for whoever asks.
        let starved =
            of_pool.iter().filter(|(queue, _)| !jobs.contains_key(queue) && has_work(queues.get(queue)));
        for (queue, _) in starved.filter(|_| !jobs.is_empty()) {
            turns.entry(queue.clone()).or_default().is_starved = true;
        }
    }
    turns
}

fn has_work(facts: Option<&QueueFacts>) -> bool {
    facts.is_some_and(|facts| !facts.paused && facts.counts.of(State::Available) > 0)
}

fn of_pool(o: &mut Object<'_>, name: &str, dispatched: &Dispatched) {
    o.text("name", name);
    o.number("fetches", dispatched.fetches);
    o.array("queues", &dispatched.jobs, |(queue, jobs), out| {
        writer::object(out, |o| {
            o.text("name", queue.as_str());
            o.number("dispatch_count", jobs);
        });
    });
}

fn of_queue(o: &mut Object<'_>, queue: &QueueName, turn: &Turn) {
    let Turn { weights, dispatched, is_starved } = turn;
    o.text("name", queue.as_str());
    if let [weight] = weights[..] {
        o.number("weight", weight);
    }
    o.number("dispatched", dispatched);
    o.flag("starved", *is_starved);
}
