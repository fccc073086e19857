//! One connection: serves it, and gives up on a client that does nothing.
//!
//! hyper bounds the time for the head of an HTTP/1 request. It does not bound how long a client may take to say
//! which version it speaks, to read an answer, or to hold an HTTP/2 connection without asking anything: those are
//! watched here.

mod activity;
mod keeper;
mod patience;
mod seldom;
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

use crate::front::Front;
use activity::{Activity, InProgress};
use keeper::{Keeper, Order};
use seldom::Seldom;
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
    stopped: watch::Receiver<bool>,
    activity: &Arc<Activity>,
) {
    let seen_by_server = stopped.clone();
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let version = request.version();
        let in_progress = InProgress::new(activity, &seen_by_server, version);
        let answer = front.answer(request.map(Body::new));
        async move { Ok::<_, Infallible>(in_progress.answered(answer.await, version)) }
    });
    let io = Watched::new(stream, activity);
    let mut connection = pin!(builder.serve_connection_with_upgrades(io, service));
    let mut keeper = Seldom::new(Keeper::new(Arc::clone(activity), stopped).order());
    loop {
        let (order, next) = tokio::select! {
            biased;
            // Errors here are the client's: it hung up, or does not speak HTTP.
            _ended = connection.as_mut() => return,
            ordered = &mut keeper => ordered,
        };
        match order {
            Order::LetGo => connection.as_mut().graceful_shutdown(),
            Order::End => return,
        }
        keeper = Seldom::new(next.order());
    }
}
