//! One connection: serves it, and gives up on a client that does nothing.
//!
//! hyper bounds the time for the head of an HTTP/1 request. It does not bound how long a client may take to say
//! which version it speaks, to read an answer, or to hold an HTTP/2 connection without asking anything: those are
//! watched here.

mod activity;
mod patience;
mod watched;

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioExecutor;
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, interval_at};

use crate::front::Front;
use crate::limits::{STREAM_CUT_INTERVAL, STREAM_GRACE, WATCH_INTERVAL};
use activity::{Activity, InProgress};
use patience::{Patience, Watch};
use watched::Watched;

/// Serves one client until it hangs up, idles too long, or the server stops.
pub(crate) async fn serve(
    builder: &Builder<TokioExecutor>,
    stream: TcpStream,
    front: Front,
    stopped: watch::Receiver<bool>,
    place: Option<OwnedSemaphorePermit>,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("a connection that was closed at once: {error}");
        return;
    }
    let activity = Arc::new(Activity::new(place));
    speak_http(builder, stream, front, stopped, &activity).await;
    if let Some(session) = activity.session() {
        session.await;
    }
}

async fn speak_http(
    builder: &Builder<TokioExecutor>,
    stream: TcpStream,
    front: Front,
    mut stopped: watch::Receiver<bool>,
    activity: &Arc<Activity>,
) {
    let seen_by_server = stopped.clone();
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let in_progress = InProgress::new(activity, &seen_by_server);
        let version = request.version();
        let answer = front.answer(request.map(Body::new));
        async move { Ok::<_, Infallible>(in_progress.answered(answer.await, version)) }
    });
    let io = Watched::new(stream, activity);
    let mut connection = pin!(builder.serve_connection_with_upgrades(io, service));
    let mut watch = Watch::default();
    let mut ticks = interval(WATCH_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut cut = None;
    loop {
        tokio::select! {
            biased;
            // Errors here are the client's: it hung up, or does not speak HTTP.
            _ended = connection.as_mut() => return,
            _changed = stopped.changed(), if cut.is_none() => {
                cut = Some(interval_at(Instant::now() + STREAM_GRACE, STREAM_CUT_INTERVAL));
                connection.as_mut().graceful_shutdown();
            }
            // Requests may end; a client that does not take the last words of a stream keeps nobody waiting.
            () = tick(&mut cut) => if activity.only_lasts() { return },
            _tick = ticks.tick() => match watch.look(activity) {
                Patience::Goes => {}
                Patience::LetGo => connection.as_mut().graceful_shutdown(),
                Patience::Ended => return,
            },
        }
    }
}

/// The next moment of an interval; never if there is none.
async fn tick(interval: &mut Option<Interval>) {
    match interval {
        Some(interval) => drop(interval.tick().await),
        None => std::future::pending().await,
    }
}
