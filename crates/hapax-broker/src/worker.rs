//! A worker as this server knows it: by what it said, and when.

use std::time::Duration;

use hapax_core::{Json, QueueName, Timestamp, WorkerId};

use crate::WorkerFact;

/// Who has not been heard of for so long is called stale: longer than a fetch may wait, and than several heartbeats take.
pub const STALE_AFTER: Duration = Duration::from_mins(1);

/// What a worker says about itself. What it leaves out stays as it was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// On which machine it runs.
    pub hostname: Option<Box<str>>,
    /// As which process.
    pub pid: Option<u64>,
    /// From which queues it takes jobs.
    pub queues: Option<Vec<QueueName>>,
    /// How many jobs it works on at a time.
    pub concurrency: Option<u64>,
    /// Its version.
    pub version: Option<Box<str>>,
    /// Further facts: a JSON object.
    pub labels: Option<Json>,
    /// Since when it runs.
    pub started_at: Option<Timestamp>,
    /// How many jobs it works on now.
    pub active_jobs: Option<u64>,
    /// What it is about, in its own word: `running`, `quiet`, `terminate`, `drain`.
    pub state: Option<Box<str>>,
}

/// What a worker is told to do. It only ever grows stricter, until the worker registers anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Order {
    /// Go on.
    #[default]
    Running,
    /// Take no new jobs.
    Quiet,
    /// Stop.
    Terminate,
}

impl Order {
    /// All of them.
    pub const ALL: [Order; 3] = [Order::Running, Order::Quiet, Order::Terminate];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Order::Running => "running",
            Order::Quiet => "quiet",
            Order::Terminate => "terminate",
        }
    }
}

/// Where a worker stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It works.
    Running,
    /// It takes no new jobs, or shall not.
    Quiet,
    /// Nobody has heard of it for [`STALE_AFTER`].
    Stale,
}

/// A worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// Its name.
    pub id: WorkerId,
    /// What it said about itself.
    pub report: Report,
    /// What it is told to do.
    pub order: Order,
    /// When it was first heard of.
    pub first_seen_at: Timestamp,
    /// When it was last heard of.
    pub last_seen_at: Timestamp,
    /// When its newest heartbeat came.
    pub last_heartbeat_at: Option<Timestamp>,
    /// Whether it was told that it is gone.
    pub is_gone: bool,
}

impl Worker {
    pub(crate) fn new(id: WorkerId, now: Timestamp) -> Worker {
        Worker {
            id,
            report: Report::default(),
            order: Order::Running,
            first_seen_at: now,
            last_seen_at: now,
            last_heartbeat_at: None,
            is_gone: false,
        }
    }

    /// Takes over what it says now.
    pub(crate) fn hear(&mut self, report: Report) {
        let Report { hostname, pid, queues, concurrency, version, labels, started_at, active_jobs, state } =
            report;
        let own = &mut self.report;
        own.hostname = hostname.or_else(|| own.hostname.take());
        own.pid = pid.or(own.pid);
        own.queues = queues.or_else(|| own.queues.take());
        own.concurrency = concurrency.or(own.concurrency);
        own.version = version.or_else(|| own.version.take());
        own.labels = labels.or_else(|| own.labels.take());
        own.started_at = started_at.or(own.started_at);
        own.active_jobs = active_jobs.or(own.active_jobs);
        own.state = state.or_else(|| own.state.take());
    }

    pub(crate) fn started(&self) -> WorkerFact {
        let Report { queues, concurrency, .. } = &self.report;
        WorkerFact::Started { queues: queues.clone(), concurrency: *concurrency }
    }

    pub(crate) fn beat(&self) -> WorkerFact {
        let Report { queues, active_jobs, .. } = &self.report;
        WorkerFact::Heartbeat { active_jobs: *active_jobs, queues: queues.clone() }
    }

    pub(crate) fn became_quiet(&self) -> WorkerFact {
        WorkerFact::Quiet { active_jobs: self.report.active_jobs }
    }

    /// It ran until it was last heard of, from when it says that it started, or else was first heard of.
    pub(crate) fn stopped(&self) -> WorkerFact {
        let since = self.report.started_at.unwrap_or(self.first_seen_at);
        WorkerFact::Stopped {
            wound_down: self.told() != Order::Running,
            uptime: self.last_seen_at.since(since),
        }
    }

    /// Where it stands.
    pub fn standing(&self, now: Timestamp) -> Standing {
        if now.since(self.last_seen_at) >= STALE_AFTER {
            Standing::Stale
        } else if self.told() == Order::Running {
            Standing::Running
        } else {
            Standing::Quiet
        }
    }

    /// What it is told at its next heartbeat: the order, or what it has begun by itself.
    pub fn told(&self) -> Order {
        let own = match self.report.state.as_deref() {
            Some("quiet" | "drain" | "draining") => Order::Quiet,
            Some("terminate" | "terminating" | "shutting_down" | "stopping" | "stopped") => Order::Terminate,
            _ => Order::Running,
        };
        self.order.max(own)
    }

    /// Its state in one word: its own if it winds down by itself, else the order.
    pub fn state(&self) -> &str {
        match (&self.report.state, self.order) {
            (Some(own), order) if self.told() != Order::Running && order == Order::Running => own,
            (_, order) => order.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn worker() -> Worker {
        Worker::new(WorkerId::parse("w").unwrap(), at(0))
    }

    fn says(state: &str) -> Report {
        Report { state: Some(state.into()), ..Report::default() }
    }

    #[test]
    fn what_is_left_out_stays_as_it_was() {
        let mut worker = worker();
        worker.hear(Report { hostname: Some("a".into()), pid: Some(1), ..says("running") });
        worker.hear(Report { pid: Some(2), active_jobs: Some(3), ..Report::default() });
        let expected =
            Report { hostname: Some("a".into()), pid: Some(2), active_jobs: Some(3), ..says("running") };
        assert_eq!(worker.report, expected);
    }

    #[test]
    fn silence_makes_a_worker_stale() {
        let worker = worker();
        assert_eq!(worker.standing(at(59)), Standing::Running);
        assert_eq!(worker.standing(at(60)), Standing::Stale);
    }

    #[test]
    fn a_worker_winds_down_by_itself_or_because_it_is_told() {
        let mut worker = worker();
        assert_eq!((worker.told(), worker.state()), (Order::Running, "running"));
        worker.hear(says("drain"));
        assert_eq!((worker.told(), worker.state()), (Order::Quiet, "drain"));
        assert_eq!(worker.standing(at(1)), Standing::Quiet);
        worker.order = Order::Terminate;
        assert_eq!((worker.told(), worker.state()), (Order::Terminate, "terminate"));
        worker.order = Order::Running;
        worker.hear(says("shutting_down"));
        assert_eq!((worker.told(), worker.state()), (Order::Terminate, "shutting_down"));
        worker.hear(says("running"));
        assert_eq!((worker.told(), worker.state()), (Order::Running, "running"));
        worker.hear(says("busy"));
        assert_eq!((worker.told(), worker.state()), (Order::Running, "running"));
    }
}
