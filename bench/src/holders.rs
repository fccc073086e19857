//! A key with many finished holders beside one with two: a decision must cost the same.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::client::Connection;
use crate::clock;
use crate::job::QUEUE;
use crate::request::{Request, Shape};
use crate::server::Server;

/// The name by which `--only` finds this.
pub(crate) const NAME: &str = "holders";

const FEW: usize = 2;
const MANY: usize = 10_000;
/// Decisions per key and policy.
const DECISIONS: usize = 600;
/// Jobs per fetch; each is completed in the moment it is fetched.
const FETCHED: usize = 100;

/// Policies that ask about finished holders: one that finds the newest, one that finds none among the states, one whose
/// windows are all over.
const POLICIES: [&str; 3] = [
    r#""states":"successful","on_conflict":"ignore""#,
    r#""states":["discarded"],"on_conflict":"ignore""#,
    r#""states":["completed"],"period":"PT0.001S","period_from":"finished_at","on_conflict":"ignore""#,
];

/// The median time of a decision with many finished holders : the same with two, for the worst policy.
pub(crate) async fn cost(server: &Server) -> Result<f64> {
    let mut connection = Connection::open(server.address()).await?;
    for (key, count) in [("few", FEW), ("many", MANY)] {
        finish(server, &mut connection, key, count).await?;
    }
    let mut worst: f64 = 0.0;
    for policy in POLICIES {
        let few = Request::new(server.address(), &enqueue(&asking("few", policy)));
        let many = Request::new(server.address(), &enqueue(&asking("many", policy)));
        let (mut with_few, mut with_many) = (Vec::new(), Vec::new());
        for _ in 0..DECISIONS {
            with_few.push(time(&mut connection, &few).await?);
            with_many.push(time(&mut connection, &many).await?);
        }
        worst = worst.max(median(&mut with_many).as_secs_f64() / median(&mut with_few).as_secs_f64());
    }
    Ok(worst)
}

/// Leaves so many finished jobs with the key.
async fn finish(server: &Server, connection: &mut Connection, key: &str, count: usize) -> Result<()> {
    let job = format!(
        r#"{{"type":"bench.finished","args":[],"options":{{"queue":"{QUEUE}","delivery":"at_most_once","unique":{{"key":"{key}","states":["active"]}}}}}}"#
    );
    let body = format!(r#"{{"jobs":[{}]}}"#, vec![job; count].join(","));
    let batch = Shape { path: "/ojs/v1/jobs/batch".into(), body: body.into_bytes(), holes: Vec::new() };
    exchange(connection, &Request::new(server.address(), &batch)).await?;
    let body = format!(r#"{{"queues":["{QUEUE}"],"count":{FETCHED}}}"#);
    let fetch = Shape { path: "/ojs/v1/workers/fetch".into(), body: body.into_bytes(), holes: Vec::new() };
    let fetch = Request::new(server.address(), &fetch);
    for _ in 0..count.div_ceil(FETCHED) {
        exchange(connection, &fetch).await?;
    }
    Ok(())
}

/// A job that a worker never sees, so that what it leaves behind waits.
fn asking(key: &str, policy: &str) -> String {
    format!(
        r#"{{"type":"bench.finished","args":[],"options":{{"queue":"asked","unique":{{"key":"{key}",{policy}}}}}}}"#
    )
}

fn enqueue(job: &str) -> Shape {
    Shape { path: "/ojs/v1/jobs".into(), body: job.as_bytes().to_vec(), holes: Vec::new() }
}

async fn exchange(connection: &mut Connection, request: &Request) -> Result<()> {
    let answer = connection.exchange(request.bytes()).await?;
    let text = String::from_utf8_lossy(&answer.body[..answer.body.len().min(300)]);
    ensure!(matches!(answer.status, 200 | 201), "answered with {}: {text}", answer.status);
    Ok(())
}

async fn time(connection: &mut Connection, request: &Request) -> Result<Duration> {
    let started = clock::now();
    exchange(connection, request).await?;
    Ok(clock::now() - started)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
