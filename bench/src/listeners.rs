//! Ten thousand who listen to one queue: what whoever writes notices of them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::client::Connection;
use crate::clock;
use crate::job::{self, Policy};
use crate::load::{Load, Pace};
use crate::request::{Numbers, Request};
use crate::row::median;
use crate::script::{Expect, Fill, Step};
use crate::server::Server;

/// The name by which `--only` finds this.
pub(crate) const NAME: &str = "listeners";

const LISTENERS: usize = 10_000;
/// Files of a process beside its listeners.
const OTHER_FILES: usize = 200;
/// The queue they listen to, and one to which nobody does.
const HEARD: &str = "heard";
const UNHEARD: &str = "unheard";
const CONNECTIONS: usize = 16;
/// Jobs that are heard by all, so far apart that ten thousand copies of one are out before the next.
const PACED: usize = 20;
const PACE: Duration = Duration::from_millis(500);
const SETTLING: Duration = Duration::from_secs(2);

/// What a writer achieves without listeners, beside silent ones, and while they hear something: medians of the rounds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Listeners {
    pub(crate) count: usize,
    /// Enqueues in a second to a queue without listeners.
    pub(crate) beside_per_second: Pair,
    /// One enqueue at a time, some each second, to the queue that is heard.
    pub(crate) paced_us: Pair,
    /// Enqueues in a second to the queue that is heard, as fast as they can.
    pub(crate) heard_per_second: Pair,
    /// Memory of the server for each listener.
    pub(crate) bytes_each: u64,
}

/// A figure before the listeners come and when they are there.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Pair {
    pub(crate) before: f64,
    pub(crate) after: f64,
    /// The second by the first, within one round.
    pub(crate) ratio: f64,
}

impl Pair {
    fn of(before: f64, after: f64) -> Self {
        Self { before, after, ratio: after / before }
    }

    fn median(rounds: &[Round], figure: impl Fn(&Round) -> Self) -> Result<Self> {
        let of = |part: fn(Self) -> f64| median(rounds.iter().map(&figure).map(part)).context("no rounds");
        Ok(Self {
            before: of(|pair| pair.before)?,
            after: of(|pair| pair.after)?,
            ratio: of(|pair| pair.ratio)?,
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Round {
    beside: Pair,
    paced: Pair,
    heard: Pair,
    bytes_each: u64,
}

/// In rounds: the listeners come and go.
pub(crate) async fn measure(
    server: &Server,
    numbers: &Arc<Numbers>,
    pace: Pace,
    rounds: usize,
) -> Result<Listeners> {
    ensure_files()?;
    let load =
        Load { address: server.address(), connections: CONNECTIONS, pace, numbers: Arc::clone(numbers) };
    let mut measured = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        // Those of the round before have left, which keeps the server busy for a moment.
        clock::pause(SETTLING).await;
        measured.push(round(server, &load).await?);
    }
    Ok(Listeners {
        count: LISTENERS,
        beside_per_second: Pair::median(&measured, |round| round.beside)?,
        paced_us: Pair::median(&measured, |round| round.paced)?,
        heard_per_second: Pair::median(&measured, |round| round.heard)?,
        // Memory is not given back between rounds, so that only the first shows it.
        bytes_each: measured.first().map_or(0, |round| round.bytes_each),
    })
}

async fn round(server: &Server, load: &Load) -> Result<Round> {
    let alone = enqueue(load, UNHEARD).await?;
    let heard_alone = enqueue(load, HEARD).await?;
    let paced_alone = paced(load).await?;
    let rss = server.process.rss_bytes()?;
    let mut audience = Audience::gather(server.address())?;
    let bytes_each = server.process.rss_bytes()?.saturating_sub(rss) / LISTENERS as u64;
    let beside = Pair::of(alone, enqueue(load, UNHEARD).await?);
    let paced = Pair::of(paced_alone, paced(load).await?);
    let heard = audience.heard()?;
    let sent = (PACED * LISTENERS) as u64;
    ensure!(heard >= sent, "of {sent} events only {heard} were heard");
    let before = audience.heard()?;
    let heard = Pair::of(heard_alone, enqueue(load, HEARD).await?);
    ensure!(audience.heard()? > before, "nobody heard anything while somebody wrote");
    Ok(Round { beside, paced, heard, bytes_each })
}

async fn enqueue(load: &Load, queue: &str) -> Result<f64> {
    let shape = job::single(queue, Policy::Reject);
    let step = Step { shape, fill: Fill::Fresh, expect: Expect::Created, units: 1 };
    Ok(load.script(&[step]).await?.per_second)
}

/// The median time of an enqueue to the queue that is heard.
async fn paced(load: &Load) -> Result<f64> {
    let mut request = Request::new(load.address, &job::single(HEARD, Policy::Reject));
    let mut connection = Connection::open(load.address).await?;
    let mut times = Vec::with_capacity(PACED);
    for _ in 0..PACED {
        request.set_numbers(load.numbers.take(1));
        let started = clock::now();
        let answer = connection.exchange(request.bytes()).await?;
        ensure!(answer.status == 201, "answered with {}", answer.status);
        times.push((clock::now() - started).as_secs_f64() * 1e6);
        clock::pause(PACE).await;
    }
    median(times.into_iter()).context("no times")
}

/// The listeners, in a process that ends with this.
struct Audience {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Audience {
    fn gather(address: SocketAddr) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("listen").args(["--address", &address.to_string()]);
        command.args(["--queue", HEARD, "--count", &LISTENERS.to_string()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (questions, answers) = child.stdin.take().zip(child.stdout.take()).context("no pipes")?;
        let mut audience = Self { child, questions, answers: BufReader::new(answers) };
        audience.answer()?;
        Ok(audience)
    }

    /// How many events were heard so far, by all of them together.
    fn heard(&mut self) -> Result<u64> {
        writeln!(self.questions)?;
        self.answer()
    }

    fn answer(&mut self) -> Result<u64> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        line.trim().parse().context("the listeners ended; what they said stands above")
    }
}

impl Drop for Audience {
    fn drop(&mut self) {
        // Both fail only when it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server and the process of the listeners each have a socket for every one of them.
fn ensure_files() -> Result<()> {
    let limits = std::fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()).context("no limit on open files")?;
    let needed = LISTENERS + OTHER_FILES;
    let is_enough = soft.parse().map_or(soft == "unlimited", |files: usize| files >= needed);
    ensure!(
        is_enough,
        "a process may open {soft} files here, and {LISTENERS} listeners need {needed}: ulimit -n {needed}"
    );
    Ok(())
}
