//! A sync that fails: the process ends, nothing is promised any more, and what was promised holds.

use std::time::Duration;

use e2e::{Launch, Server};
use tempfile::TempDir;

use crate::{all_there, enqueue_until_refused, require_strace};

/// More requests than any of the failures below waits for.
const REQUESTS_MAX: usize = 500;
const END_MAX: Duration = Duration::from_secs(20);

/// The server, whose threads all fail in their n-th sync and every later one.
fn failing_at(sync: usize) -> Launch {
    let inject = format!("inject=fsync,fdatasync:error=EIO:when={sync}+");
    Launch::embedded().under(&["strace", "-D", "-f", "-q", "-e", &inject, "-o", "/dev/null"])
}

/// Whether a log says what happened in words that an operator can act on.
fn is_clear(log: &str) -> bool {
    let log = log.to_lowercase();
    ["i/o", "input/output", "sync", "disk"].iter().any(|word| log.contains(word)) && !log.contains("panicked")
}

#[test]
fn a_failed_sync_ends_the_process_and_loses_nothing() {
    require_strace();
    let mut successes = 0;
    for sync in [1, 2, 3, 4, 6, 9, 14, 25, 60] {
        let home = TempDir::new().expect("a folder");
        let mut server = match failing_at(sync).try_start(home) {
            Ok(server) => server,
            Err((_home, exit)) => {
                assert!(!exit.status.success(), "sync {sync}: ended with success");
                assert!(is_clear(&exit.output), "sync {sync}: unclear: {}", exit.output);
                continue;
            }
        };
        let mut client = server.client();
        let accepted = enqueue_until_refused(&mut client, 10, REQUESTS_MAX);
        assert!(accepted.len() < REQUESTS_MAX, "sync {sync}: nothing failed");
        let status = server.wait(END_MAX);
        assert!(!status.success(), "sync {sync}: ended with success");
        assert!(is_clear(&server.log()), "sync {sync}: unclear: {}", server.log());
        successes += accepted.len();

        server.start_again_as(Launch::embedded());
        all_there(&mut server.client(), &accepted);
        server.client().create(&e2e::job("a.b"));
    }
    assert!(successes > 0, "no failure came after a success");
}

#[test]
fn a_failed_sync_under_load_loses_nothing() {
    require_strace();
    let mut server: Server = failing_at(30).start();
    let accepted = e2e::together(8, |_| enqueue_until_refused(&mut server.client(), 200, REQUESTS_MAX));
    let accepted = accepted.concat();
    assert!(!server.wait(END_MAX).success());
    assert!(!accepted.is_empty());
    server.start_again_as(Launch::embedded());
    all_there(&mut server.client(), &accepted);
}
