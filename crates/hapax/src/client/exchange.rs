//! One request and its answer over one connection, in bounded time and space.

use std::convert::Infallible;
use std::future::{self, Future};
use std::io;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long the connection may take.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);
/// How long the whole answer may take from then on.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
/// Largest answer: a thousand holders with their policies are a few megabytes.
const ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;

/// What the server sent.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unanswered {
    #[error("no connection")]
    NoConnection(#[source] io::Error),
    #[error("no connection within {} s", CONNECT_TIME_MAX.as_secs())]
    SlowConnection,
    #[error("no answer within {} s", ANSWER_TIME_MAX.as_secs())]
    SlowAnswer,
    #[error("the answer is larger than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
    #[error("the connection broke")]
    Broken(#[source] hyper::Error),
    #[error("the answer broke off")]
    BrokeOff(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Connects, asks, and reads the answer.
pub(super) async fn exchange(
    destination: (&str, u16),
    request: Request<Full<Bytes>>,
) -> Result<Answer, Unanswered> {
    let connected = timeout(CONNECT_TIME_MAX, TcpStream::connect(destination)).await;
    let stream = connected.map_err(|_| Unanswered::SlowConnection)?.map_err(Unanswered::NoConnection)?;
    timeout(ANSWER_TIME_MAX, ask(stream, request)).await.map_err(|_| Unanswered::SlowAnswer)?
}

async fn ask(stream: TcpStream, request: Request<Full<Bytes>>) -> Result<Answer, Unanswered> {
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(Unanswered::Broken)?;
    let answer = async {
        let response = sender.send_request(request).await.map_err(Unanswered::Broken)?;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        Ok(Answer { status, body: body.map_err(cut_short)?.to_bytes() })
    };
    beside(answer, connection).await
}

/// The first future, while the second does the work that the first one waits for. What goes wrong in the second is
/// told by the first.
async fn beside<T>(answer: impl Future<Output = T>, connection: impl Future) -> T {
    let never = async {
        drop(connection.await);
        future::pending::<Infallible>().await
    };
    tokio::select! {
        answer = answer => answer,
        never = never => match never {},
    }
}

fn cut_short(error: Box<dyn std::error::Error + Send + Sync>) -> Unanswered {
    if error.is::<LengthLimitError>() { Unanswered::TooLarge } else { Unanswered::BrokeOff(error) }
}
