//! The server: listens, accepts, and lets requests end when it is told to stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hapax_broker::Broker;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinError, JoinSet};

use crate::connection;
use crate::front::Front;
use crate::limits::{
    CUT_TIME, HEAD_BUFFER_BYTES, HEAD_TIME, HEADER_BYTES_MAX, PING_INTERVAL, PING_TIME, STREAMS_MAX,
};
use crate::live::Streams;
use crate::router::router;
use crate::shared::Shared;
use crate::{Config, Metrics};

/// How many may wait to be accepted.
const BACKLOG: u32 = 1024;

/// An address that nobody else can listen at. Whoever knocks is refused, as if the server was not there: those who look after
/// it, and proxies in front of several, go elsewhere at once, and do not wait for a store that may take a while to open.
#[derive(Debug)]
pub struct Reserved(TcpSocket);

/// Takes the address, before anything is done that would be left behind if somebody else has it.
pub fn reserve(listen: SocketAddr) -> io::Result<Reserved> {
    let socket = || if listen.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let alone = socket()?;
    if alone.bind(listen).is_ok() {
        return Ok(Reserved(alone));
    }
    // Connections of a server that was here before must not keep this one out. Asked for at once, this would let in another
    // server as well that has reserved the address and does not listen yet.
    let shared = socket()?;
    shared.set_reuseaddr(cfg!(unix))?;
    shared.bind(listen)?;
    Ok(Reserved(shared))
}

/// A server that listens and serves nobody yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    front: Front,
    streams: Arc<Streams>,
    connections: usize,
    drain_time: Duration,
}

/// Begins to listen. What the server answers with is complete.
pub fn listen(
    Reserved(socket): Reserved,
    config: Config,
    broker: Broker,
    metrics: Metrics,
) -> io::Result<Bound> {
    // The connections of this server must not keep the next one out either.
    socket.set_reuseaddr(cfg!(unix))?;
    let listener = socket.listen(BACKLOG)?;
    let (connections, drain_time) = (config.limits.connections, config.limits.drain_time);
    let shared = Arc::new(Shared::new(config, broker, metrics));
    let streams = Arc::clone(&shared.streams);
    Ok(Bound { listener, front: router(&shared), streams, connections, drain_time })
}

impl Bound {
    /// The address, with the port that was chosen if the configuration left it open.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` comes; then accepts nobody, lets requests in progress end, and returns. Those that do not
    /// end in time are dropped by then, so that the broker knows of all calls that have lost their callers.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let Bound { listener, front, streams, connections, drain_time } = self;
        let builder = Arc::new(builder());
        let places = Arc::new(Semaphore::new(connections));
        let (stopping, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some(ended) = tasks.join_next() => report(ended),
                (stream, place) = accept(&listener, &places) => {
                    let (builder, front, stopped) = (Arc::clone(&builder), front.clone(), stopped.clone());
                    tasks.spawn(async move {
                        connection::serve(&builder, stream, front, stopped, place).await;
                    });
                }
            }
        }
        drop(listener);
        streams.close();
        stopping.send_replace(true);
        let drained = async {
            while let Some(ended) = tasks.join_next().await {
                report(ended);
            }
        };
        if tokio::time::timeout(drain_time, drained).await.is_err() {
            tracing::warn!("requests did not end within {drain_time:?}; their connections are cut");
            tasks.shutdown().await;
        }
        // The requests of HTTP/2 are tasks of their own, which end when they see that their connection has.
        drop(stopped);
        if tokio::time::timeout(CUT_TIME, stopping.closed()).await.is_err() {
            tracing::error!("requests went on for {CUT_TIME:?} without their connections");
        }
        Ok(())
    }
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!("a connection ended in a defect: {error}");
    }
}

/// The next connection. With all places taken, others wait in the backlog of the system.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    /// After a failure, so that being out of file descriptors does not become a busy loop.
    const PAUSE: Duration = Duration::from_millis(50);

    // The semaphore is never closed.
    let place = Arc::clone(places).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, place),
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                #[expect(
                    clippy::disallowed_methods,
                    reason = "nothing tells when descriptors are free again"
                )]
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// HTTP/1.1 and HTTP/2 without TLS, with every limit that hyper has.
fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_BUFFER_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(u32::try_from(HEADER_BYTES_MAX).unwrap_or(u32::MAX))
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIME);
    builder
}

#[cfg(test)]
mod tests;
