//! Several servers on one throw-away database.

use std::env;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hapax_pg_cluster::{Cluster, Options};

use crate::clock::{self, SOON};
use crate::{Client, Launch, Request, Server};

/// How many servers share the database.
pub const SERVERS: usize = 3;

/// The database that every cluster has; nobody else uses it here.
pub const DATABASE: &str = "postgres";

static TURN: Mutex<()> = Mutex::new(());

/// Servers that share everything but their processes.
#[derive(Debug)]
pub struct Fleet {
    // Dropped in this order: the servers go before their database.
    servers: Vec<Server>,
    /// Where the database is.
    pub cluster: Cluster,
    // One fleet at a time: it takes the whole machine, and some tests measure how fast it is.
    _turn: MutexGuard<'static, ()>,
}

impl Fleet {
    /// On a database that need not survive anything.
    #[track_caller]
    pub fn start() -> Fleet {
        Fleet::with(&Options::default())
    }

    /// On a database that keeps what it has committed.
    #[track_caller]
    pub fn durable() -> Fleet {
        Fleet::with(&Options { durable: true, ..Options::default() })
    }

    #[track_caller]
    fn with(options: &Options) -> Fleet {
        let cluster = Cluster::start(options).unwrap_or_else(|error| panic!("{error}"));
        let launches = vec![Launch::default(); SERVERS];
        Fleet::on(cluster, &launches, |cluster| cluster.url(DATABASE))
    }

    /// One server per launch, all with the URL that the test makes.
    #[track_caller]
    pub fn on(cluster: Cluster, launches: &[Launch], url: impl FnOnce(&Cluster) -> String) -> Fleet {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let url = url(&cluster);
        let start = |launch: &Launch| launch.clone().args(&["--database-url", &url]).start();
        Fleet { servers: launches.iter().map(start).collect(), cluster, _turn: turn }
    }

    /// One of the servers; numbers beyond the last begin again.
    pub fn server(&self, number: usize) -> &Server {
        &self.servers[number % self.servers.len()]
    }

    /// The same, to kill it.
    pub fn server_mut(&mut self, number: usize) -> &mut Server {
        let count = self.servers.len();
        &mut self.servers[number % count]
    }

    /// All of them.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// A new client of one of the servers.
    pub fn client(&self, number: usize) -> Client {
        self.server(number).client()
    }

    /// What the database itself says.
    #[track_caller]
    pub fn ask_database(&self, sql: &str) -> String {
        self.cluster.query(DATABASE, sql).unwrap_or_else(|error| panic!("{error}"))
    }

    /// How often the database had to end a transaction because some waited for each other in a circle.
    #[track_caller]
    pub fn deadlocks(&self) -> u64 {
        let sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        let answer = self.ask_database(sql);
        answer.parse().unwrap_or_else(|_| panic!("no number: {answer}"))
    }
}

/// How much a test does: as the variable says, or as much as fits between two looks at a change.
#[expect(clippy::disallowed_methods, reason = "the one place that asks how long the fleet's tests take")]
#[track_caller]
pub fn effort(variable: &str, usual: usize) -> usize {
    match env::var(variable) {
        Err(_) => usual,
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}: a number")),
    }
}

/// Whether a server says that it takes work; none if it says nothing.
pub fn is_ready(client: &mut Client) -> Option<bool> {
    let answer = client.try_send(&Request::new("GET", "/ready")).ok()?;
    assert!([200, 503].contains(&answer.status), "{}: {}", answer.status, answer.body);
    Some(answer.status == 200)
}

/// Waits until all servers say that they take work, or that they do not.
#[track_caller]
pub fn all_become(servers: &[Server], what: &str, ready: bool) {
    for server in servers {
        let mut client = server.client();
        let is_so = || is_ready(&mut client) == Some(ready);
        clock::until(&format!("the server is {what}"), SOON, is_so);
    }
}
