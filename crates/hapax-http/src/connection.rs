//! One connection: serves it, and gives up on a client that does nothing.
//!
//! hyper bounds the time for the head of an HTTP/1 request. It does not bound how long a client may take to say
//! which version it speaks, to read an answer, or to hold an HTTP/2 connection without asking anything: those are
//! watched here.

use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use crate::front::Front;
use crate::limits::{HEAD_TIME, IDLE_TIME, WATCH_INTERVAL, WRITE_STALL_TIME};

/// What a connection does, as its watch sees it.
#[derive(Debug, Default)]
struct Activity {
    /// Requests so far.
    requests: AtomicUsize,
    /// Requests in progress.
    in_progress: AtomicUsize,
    /// Whether the client has to read before more can be written.
    is_write_blocked: AtomicBool,
}

/// Serves one client until it hangs up, idles too long, or the server stops.
pub(crate) async fn serve(
    builder: &Builder<TokioExecutor>,
    stream: TcpStream,
    front: Front,
    mut stopped: watch::Receiver<bool>,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("a connection that was closed at once: {error}");
        return;
    }
    let activity = Arc::new(Activity::default());
    let io = Watched { io: TokioIo::new(stream), activity: Arc::clone(&activity) };
    let seen_by_server = stopped.clone();
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let in_progress = InProgress::new(&activity, &seen_by_server);
        let answer = front.answer(request.map(Body::new));
        async move {
            let answer = answer.await;
            drop(in_progress);
            Ok::<_, Infallible>(answer)
        }
    });
    let mut connection = pin!(builder.serve_connection(io, service));
    let mut watch = Watch::default();
    let mut ticks = interval(WATCH_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_stopping = false;
    loop {
        tokio::select! {
            biased;
            // Errors here are the client's: it hung up, or does not speak HTTP.
            _ended = connection.as_mut() => return,
            _changed = stopped.changed(), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            _tick = ticks.tick() => match watch.look(&activity) {
                Patience::Goes => {}
                Patience::LetGo => connection.as_mut().graceful_shutdown(),
                Patience::Ended => return,
            },
        }
    }
}

/// What to do about a connection.
#[derive(Debug, PartialEq, Eq)]
enum Patience {
    Goes,
    LetGo,
    Ended,
}

/// How long a connection has been doing nothing.
#[derive(Debug, Default)]
struct Watch {
    requests: usize,
    idle: Duration,
    blocked: Duration,
}

impl Watch {
    /// Looks at the connection, one interval after the last time.
    fn look(&mut self, activity: &Activity) -> Patience {
        let requests = activity.requests.load(Ordering::Relaxed);
        let in_progress = activity.in_progress.load(Ordering::Relaxed);
        // Whoever writes clears the mark, so that only a standstill over a whole interval counts.
        let is_blocked = activity.is_write_blocked.load(Ordering::Relaxed);
        self.blocked = if is_blocked { self.blocked + WATCH_INTERVAL } else { Duration::ZERO };
        let is_idle = in_progress == 0 && requests == self.requests;
        self.idle = if is_idle { self.idle + WATCH_INTERVAL } else { Duration::ZERO };
        self.requests = requests;
        // The first look comes at once and counts an interval that has not passed.
        if self.blocked > WRITE_STALL_TIME || (requests == 0 && self.idle > HEAD_TIME + WATCH_INTERVAL) {
            Patience::Ended
        } else if self.idle > IDLE_TIME {
            Patience::LetGo
        } else {
            Patience::Goes
        }
    }
}

/// Counts a request for as long as it is in progress, however it ends.
struct InProgress {
    activity: Arc<Activity>,
    /// The server waits in the end until nobody listens to it any more: a request may outlive its connection.
    _seen_by_server: watch::Receiver<bool>,
}

impl InProgress {
    fn new(activity: &Arc<Activity>, seen_by_server: &watch::Receiver<bool>) -> InProgress {
        activity.requests.fetch_add(1, Ordering::Relaxed);
        activity.in_progress.fetch_add(1, Ordering::Relaxed);
        InProgress { activity: Arc::clone(activity), _seen_by_server: seen_by_server.clone() }
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.activity.in_progress.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The socket, with a mark while it takes no bytes.
#[derive(Debug)]
struct Watched {
    io: TokioIo<TcpStream>,
    activity: Arc<Activity>,
}

impl Watched {
    fn mark<T>(&self, written: Poll<T>) -> Poll<T> {
        self.activity.is_write_blocked.store(written.is_pending(), Ordering::Relaxed);
        written
    }
}

impl Read for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl Write for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(context, bytes);
        self.mark(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(context, pieces);
        self.mark(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many looks pass until something is done about a connection that does nothing more, and what.
    fn end(activity: &Activity) -> (u32, Patience) {
        let mut watch = Watch::default();
        let end = (0..1000)
            .map(|look| (look, watch.look(activity)))
            .find(|(_, patience)| *patience != Patience::Goes);
        end.unwrap_or((1000, Patience::Goes))
    }

    #[test]
    fn a_client_that_never_asks_is_cut_off_soon() {
        let (looks, patience) = end(&Activity::default());
        assert_eq!(patience, Patience::Ended);
        assert!((HEAD_TIME..HEAD_TIME * 2).contains(&(WATCH_INTERVAL * looks)), "{looks}");
    }

    #[test]
    fn a_client_that_asked_before_is_let_go_later() {
        let activity = Activity { requests: 1.into(), ..Activity::default() };
        let (looks, patience) = end(&activity);
        assert_eq!(patience, Patience::LetGo);
        assert!(WATCH_INTERVAL * looks >= IDLE_TIME, "{looks}");
    }

    #[test]
    fn a_request_in_progress_is_not_idle_unless_nobody_reads_the_answer() {
        let busy = || Activity { requests: 1.into(), in_progress: 1.into(), ..Activity::default() };
        assert_eq!(end(&busy()), (1000, Patience::Goes));
        let (looks, patience) = end(&Activity { is_write_blocked: true.into(), ..busy() });
        assert_eq!(patience, Patience::Ended);
        assert!(WATCH_INTERVAL * looks >= WRITE_STALL_TIME, "{looks}");
    }
}
