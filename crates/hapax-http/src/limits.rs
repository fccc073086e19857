//! How much of everything is too much.

use std::time::Duration;

/// The limits that an operator may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Largest job, and largest body of every request that is about one job.
    pub job_bytes: usize,
    /// Largest body of a request with many jobs.
    pub request_bytes: usize,
    /// Most connections at a time; further ones wait to be accepted.
    pub connections: usize,
    /// Most streams of events at a time, over server-sent events and WebSockets; further ones are refused.
    pub streams: usize,
    /// How long the first piece of a body may take to arrive, and then how long the rest.
    pub body_time: Duration,
    /// How long requests may take to end once the server was told to stop.
    pub drain_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            job_bytes: 1024 * 1024,
            request_bytes: 16 * 1024 * 1024,
            connections: 4096,
            streams: 20_000,
            body_time: Duration::from_secs(30),
            drain_time: Duration::from_secs(30),
        }
    }
}

/// Most headers of a request.
pub(crate) const HEADERS_MAX: usize = 64;
/// Most bytes of names and values of headers.
pub(crate) const HEADER_BYTES_MAX: usize = 16 * 1024;
/// Longest path with its query.
pub(crate) const URI_BYTES_MAX: usize = 8 * 1024;
/// Longest `Idempotency-Key`.
pub(crate) const IDEMPOTENCY_KEY_BYTES_MAX: usize = 256;

/// Where the connection itself gives up on a head, without an answer of ours: well beyond what we answer to. For
/// the number of headers hyper has a limit of its own, 100; setting another one would cost an allocation each time.
pub(crate) const HEAD_BUFFER_BYTES: usize = 64 * 1024;
/// How long the head of a request may take, and how long a connection may idle between two requests.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(10);

/// Requests at a time on one HTTP/2 connection: few, for each may hold a body that the budget does not count.
pub(crate) const STREAMS_MAX: u32 = 32;
/// How often a silent HTTP/2 peer is asked whether it is there.
pub(crate) const PING_INTERVAL: Duration = Duration::from_secs(30);
/// How long it may take to answer.
pub(crate) const PING_TIME: Duration = Duration::from_secs(10);

/// How long requests may take to notice that their connection was cut.
pub(crate) const CUT_TIME: Duration = Duration::from_secs(1);

/// How long a stream of events may be silent before a sign of life is sent (Real-Time 2.4).
pub(crate) const STREAM_HEARTBEAT: Duration = Duration::from_secs(15);
/// How often a watched job is looked at that others may change.
pub(crate) const WATCH_LOOK: Duration = Duration::from_secs(1);
/// What a look at a job counts for among the turns of all streams.
pub(crate) const WATCH_LOOK_COST: Duration = Duration::from_micros(20);
/// How often dashboards are told the figures of everything.
pub(crate) const FIGURES_INTERVAL: Duration = Duration::from_secs(3);
/// Most queues among those figures.
pub(crate) const FIGURES_QUEUES_MAX: usize = 100;
/// Most workers among them.
pub(crate) const FIGURES_WORKERS_MAX: usize = 100;
/// After how long clients are asked to come back when a stream breaks (Real-Time 2.3).
pub(crate) const STREAM_RETRY: Duration = Duration::from_secs(3);
/// How long clients of streams have to take the last words when the server stops (Real-Time 5.1).
pub(crate) const STREAM_GRACE: Duration = Duration::from_secs(5);
/// How often a connection of which only streams are left is looked at when the server stops and that time is over.
pub(crate) const STREAM_CUT_INTERVAL: Duration = Duration::from_secs(1);

/// How long after the end of a job it is told again to a client that may know of it: between a commit and its event
/// a moment passes.
pub(crate) const END_TOLD_AGAIN_TIME: Duration = Duration::from_secs(10);

/// How often a WebSocket is asked whether its client is there (Real-Time 3.5).
pub(crate) const SOCKET_PING_INTERVAL: Duration = Duration::from_secs(20);
/// How long it may take to answer.
pub(crate) const SOCKET_PONG_TIME: Duration = Duration::from_secs(10);
/// Longest message of a client over a WebSocket.
pub(crate) const SOCKET_MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// Where bytes of a client are read into; that many are taken by every WebSocket.
pub(crate) const SOCKET_READ_BUFFER_BYTES: usize = 4 * 1024;
/// Most channels that one WebSocket listens to.
pub(crate) const SOCKET_CHANNELS_MAX: usize = 100;

/// How often a connection is looked at.
pub(crate) const WATCH_INTERVAL: Duration = Duration::from_secs(5);
/// How long a connection without a request in progress is kept.
pub(crate) const IDLE_TIME: Duration = Duration::from_mins(2);
/// How long a client may take nothing of an answer.
pub(crate) const WRITE_STALL_TIME: Duration = Duration::from_secs(30);

/// Most bytes of bodies that are in memory at a time because they came in several pieces; further ones wait. A body
/// in one piece is not counted: it is small, for it fits the buffer of a connection or one frame, and there is one per
/// connection with HTTP/1 and at most [`STREAMS_MAX`] with HTTP/2.
pub(crate) const BODY_BUDGET_BYTES: usize = 256 * 1024 * 1024;
/// A body beyond this is read into jobs on a thread where it holds up nobody.
pub(crate) const LARGE_BODY_BYTES: usize = 256 * 1024;
/// Most large bodies that are read into jobs at a time: read JSON takes many times the memory of its text.
pub(crate) const LARGE_BODIES_MAX: usize = 2;

/// Largest schema.
pub(crate) const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Most pools.
pub(crate) const POOLS_MAX: usize = 1000;
/// Most schemas: all of them are in memory.
pub(crate) const SCHEMAS_MAX: usize = 1000;

/// How long the store may take to answer when somebody asks whether it is well: less than a usual probe waits.
pub(crate) const STORE_PROBE_TIME: Duration = Duration::from_secs(1);

/// Largest list of jobs: a page ends early rather than grow beyond it. Official SDKs read 10 MiB.
pub(crate) const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How much of an unwanted body is read so that the connection can be used again.
pub(crate) const DISCARD_BYTES_MAX: usize = 64 * 1024;
/// The same for a body that was refused for its size: a client that is still sending would not see the answer.
pub(crate) const LINGER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long that may take.
pub(crate) const DISCARD_TIME: Duration = Duration::from_secs(2);
