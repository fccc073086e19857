//! The one thread that changes anything.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hapax_core::Rules;
use hapax_store::{Happened, Op, Outbox, Weight};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::checkpoint::{self, Checkpointer};
use crate::inbox::Inbox;
use crate::index::Index;
use crate::listening::Listening;
use crate::progress::{Progress, Watchman};
use crate::read::Readers;
use crate::request::{Answered, Request};
use crate::syncer::{Sealed, Syncer};
use crate::tables::{Numbers, Tables};
use crate::{FatalError, Fault};

/// How many requests may wait for the writer.
pub(crate) const REQUESTS_WAITING_MAX: usize = 8192;
/// How long a group waits for more when the one before it was more than twice as large: about one quick sync.
/// Under load it is meant to save syncs. A lone caller does not wait, but for the first one after a large
/// group: it may wait so long, once.
const LINGER: Duration = Duration::from_micros(100);
/// While a sync runs, the writer gets up for so many requests and not for fewer.
const GATHERED_MIN: usize = 16;
/// How many jobs one group touches at most, unless a single request touches more.
const GROUP_JOBS_MAX: usize = 2048;
/// How many bytes of arguments, metadata, results and errors one group writes at most, unless a single request
/// has more.
const GROUP_BYTES_MAX: usize = 4 << 20;

/// Takes all requests that wait, applies them and commits them together. While more requests wait or the syncer
/// is at work, it hands the group to the syncer and goes on with the next one while the disk works; else it syncs
/// and answers itself.
pub(crate) struct Writer {
    pub(crate) db: Connection,
    pub(crate) rules: Rules,
    pub(crate) index: Index,
    pub(crate) last: Numbers,
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) threads: Threads,
}

/// The other threads, and what the writer shares with them.
pub(crate) struct Threads {
    pub(crate) inbox: Arc<Inbox<Request>>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) syncer: Syncer,
    pub(crate) checkpointer: Checkpointer,
    pub(crate) readers: Readers,
    pub(crate) listening: Arc<Listening>,
    /// Held for as long as the files are in use.
    pub(crate) lock: File,
}

impl Writer {
    /// Starts the thread. `closed` hears when everything is on disk and the files are let go of.
    pub(crate) fn start(self, closed: oneshot::Sender<()>) -> io::Result<JoinHandle<()>> {
        let work = move || {
            let progress = Arc::clone(&self.threads.progress);
            let _watchman = Watchman { thread: "write", progress: Arc::clone(&progress) };
            let _doors = (Door(Arc::clone(&self.threads.inbox)), Door(self.threads.readers.inbox()));
            match self.run() {
                // Nobody need be waiting.
                Ok(()) if !progress.has_failed() => drop(closed.send(())),
                Ok(()) => {}
                Err(fault) => progress.fail(&FatalError::Fault(fault)),
            }
        };
        thread::Builder::new().name("hapax-write".into()).spawn(work)
    }

    fn run(self) -> Result<(), Fault> {
        let Writer { mut db, rules, index, last, outbox, mut threads } = self;
        threads.checkpointer.watch(&mut db)?;
        let mut tables = Tables::new(&db, rules, index, last, outbox)?;
        threads.work(&db, &mut tables)?;
        drop(tables);
        threads.finish(db)
    }
}

impl Threads {
    fn work(&mut self, db: &Connection, tables: &mut Tables<'_>) -> Result<(), Fault> {
        let (inbox, progress) = (Arc::clone(&self.inbox), Arc::clone(&self.progress));
        let mut in_sync = 0;
        let mut usual: usize = 0;
        loop {
            let mut total = Weight::default();
            let mut fits = |request: &Request| {
                total = total.plus(request.weight());
                total.jobs <= GROUP_JOBS_MAX && total.bytes <= GROUP_BYTES_MAX
            };
            let Some(requests) = inbox.take(&mut fits) else { return Ok(()) };
            let mut sealed = Sealed::new(progress.begin());
            carry_out(requests, tables, &mut sealed)?;
            self.listening.call(&mut tables.index.lines);
            inbox.linger((usual / 2).saturating_sub(sealed.answers.len()), LINGER);
            // A commit now could not be synced before the running sync ends, so whatever arrives until then
            // joins this one: fewer, larger commits for the same waiting time.
            let mut is_over = false;
            while !is_over {
                let more;
                (more, is_over) = inbox.gather(GATHERED_MIN, &mut fits, || progress.is_settled(in_sync));
                carry_out(more, tables, &mut sealed)?;
                self.listening.call(&mut tables.index.lines);
            }
            seal(tables, &mut sealed)?;
            usual = sealed.answers.len();
            let before = std::mem::replace(&mut in_sync, sealed.number);
            let wrote = sealed.wrote;
            // With little to do meanwhile, handing over costs more than it gains: two more threads to wake. But not
            // past a syncer that is still answering: the order of the commits is that of the answers.
            let is_alone = inbox.len() < GATHERED_MIN && self.syncer.has_answered(before);
            let handed = if is_alone { self.syncer.settle(sealed) } else { self.syncer.send(sealed) };
            if handed.is_err() || progress.has_failed() {
                return Ok(());
            }
            if wrote {
                self.checkpointer.tend(db)?;
            }
        }
    }

    /// Everything answered, everything in the database file, everything let go of.
    fn finish(self, db: Connection) -> Result<(), Fault> {
        let Threads { inbox, progress, syncer, checkpointer, readers, listening: _, lock } = self;
        inbox.abandon();
        readers.finish();
        syncer.finish();
        checkpointer.finish();
        if !progress.has_failed() {
            checkpoint::empty_log(&db)?;
        }
        db.close().map_err(|(_, source)| Fault::Sqlite { doing: "close the database", source })?;
        drop(lock);
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "measures the work on a group")]
fn carry_out(requests: Vec<Request>, tables: &mut Tables<'_>, sealed: &mut Sealed) -> Result<(), Fault> {
    let start = Instant::now();
    for request in requests {
        sealed.operations += request.operations();
        sealed.answers.push(answer(request, tables, &mut sealed.wrote)?);
    }
    sealed.apply += start.elapsed();
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "measures the commit of a group")]
fn seal(tables: &mut Tables<'_>, sealed: &mut Sealed) -> Result<(), Fault> {
    let start = Instant::now();
    sealed.wrote |= tables.seal()?;
    sealed.apply += start.elapsed();
    Ok(())
}

fn answer(request: Request, tables: &mut Tables<'_>, wrote: &mut bool) -> Result<Answered, Fault> {
    Ok(match request {
        Request::Commit { ops, caller } => {
            let mut carry_out = |op: Op| {
                let now = op.now;
                let answer = tables.apply(op)?;
                tables.keep_letters(Happened::Answered(&answer), now);
                Ok(answer)
            };
            let answers = ops.into_iter().map(&mut carry_out).collect::<Result<_, Fault>>()?;
            Answered::Commit { answers, caller }
        }
        Request::Claim { claim, caller } => {
            let claimed = tables.claim(&claim)?;
            tables.keep_letters(Happened::Claimed(&claimed.changes), claim.now);
            Answered::Claim { claimed, caller }
        }
        Request::Advance { now, limit, chance, caller } => {
            let advance = tables.advance(now, limit, chance)?;
            tables.keep_letters(Happened::Advanced(&advance), now);
            Answered::Advance { advance, caller }
        }
        Request::Reset { caller } => {
            tables.seal()?;
            tables.clear()?;
            *wrote = true;
            Answered::Reset { caller }
        }
    })
}

/// However the thread ends, nobody may wait for it any more.
struct Door<T>(Arc<Inbox<T>>);

impl<T> Drop for Door<T> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
