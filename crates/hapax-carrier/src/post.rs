//! One request to one endpoint, and what is kept of the answer.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hapax_core::webhook::{Endpoint, Host, Reach, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{HeaderMap, Method, Request};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::trouble::Trouble;
use crate::{Resolver, encryption, response};

/// How long a request may take, from the name to the answer (Webhooks 7.3).
pub(crate) const TIME_MAX: Duration = Duration::from_secs(30);
/// How many addresses of a name are tried.
const ADDRESSES_MAX: usize = 4;
/// How long an address may take before the next one is tried.
pub(crate) const CONNECT_TIME: Duration = Duration::from_secs(10);
/// How large the head of an answer may be.
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;
/// How much of the body of an answer is read, so that a polite endpoint can finish it, and for how long.
const BODY_BYTES_MAX: usize = 16 << 10;
const BODY_TIME: Duration = Duration::from_secs(2);

/// Posts JSON over HTTP/1.1, one connection for each request, as far as it may go.
#[derive(Debug, Clone)]
pub struct Post {
    reach: Reach,
    resolver: Arc<dyn Resolver>,
}

impl Post {
    /// One that goes so far, with this knowledge of names.
    pub fn new(reach: Reach, resolver: Arc<dyn Resolver>) -> Post {
        Post { reach, resolver }
    }

    /// Sends a body with these headers, beside those that say where it goes and what it is.
    pub async fn send(&self, endpoint: &Endpoint, headers: HeaderMap, body: Bytes) -> Response {
        let delivered = timeout(TIME_MAX, self.deliver(endpoint, headers, body)).await;
        delivered.unwrap_or(Err(Trouble::TooLong)).unwrap_or_else(|trouble| {
            // An operator may know more than a subscriber. The path may be a secret between the two ends.
            tracing::debug!(to = %endpoint.authority(), "nothing arrived: {}", trouble.with_causes());
            Response::Failed(trouble.to_string().into())
        })
    }

    async fn deliver(
        &self,
        endpoint: &Endpoint,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response, Trouble> {
        let stream = self.connect(endpoint).await?;
        let request = request(endpoint, headers, body)?;
        if endpoint.is_encrypted() {
            exchange(encryption::encrypt(stream, endpoint.host()).await?, request).await
        } else {
            exchange(stream, request).await
        }
    }

    /// Connects to an address that was looked at. If one of several may not be connected to, none is: whoever mixes them
    /// is up to something.
    async fn connect(&self, endpoint: &Endpoint) -> Result<TcpStream, Trouble> {
        let addresses: Vec<SocketAddr> = match endpoint.host() {
            Host::Address(address) => vec![(*address, endpoint.port()).into()],
            Host::Name(name) => self.resolver.resolve(name, endpoint.port()).await.map_err(Trouble::Name)?,
        };
        if addresses.iter().any(|address| !self.reach.allows(address.ip())) {
            return Err(Trouble::Private);
        }
        let mut trouble = Trouble::NoAddress;
        for address in addresses.iter().take(ADDRESSES_MAX) {
            match in_time(TcpStream::connect(address)).await {
                Ok(stream) => return Ok(stream),
                Err(error) => trouble = error,
            }
        }
        Err(trouble)
    }
}

/// A connection, unless it takes too long.
async fn in_time<S>(connecting: impl Future<Output = io::Result<S>>) -> Result<S, Trouble> {
    let made = timeout(CONNECT_TIME, connecting).await.map_err(|_| Trouble::ConnectTooLong)?;
    made.map_err(Trouble::Connect)
}

fn request(endpoint: &Endpoint, headers: HeaderMap, body: Bytes) -> Result<Request<Full<Bytes>>, Trouble> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(endpoint.target())
        .header(HOST, endpoint.authority())
        .body(Full::new(body))
        .map_err(|_| Trouble::Request)?;
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    request.headers_mut().extend(headers);
    Ok(request)
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send,
    request: Request<Full<Bytes>>,
) -> Result<Response, Trouble> {
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(Trouble::Exchange)?;
    let answer = async {
        let answered = sender.send_request(request).await.map_err(Trouble::Exchange)?;
        let kept = response::read(&answered);
        // Whatever becomes of the rest, the answer is known.
        let rest = Limited::new(answered.into_body(), BODY_BYTES_MAX).collect();
        drop(timeout(BODY_TIME, rest).await);
        Ok(kept)
    };
    // The connection has to be driven for exactly as long as the answer is waited for.
    tokio::pin!(answer, connection);
    tokio::select! {
        biased;
        answer = &mut answer => answer,
        ended = &mut connection => match ended {
            Ok(()) => answer.await,
            Err(error) => Err(Trouble::Exchange(error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_takes_too_long_is_not_said_to_have_had_the_time_of_a_request() {
        let start = tokio::time::Instant::now();
        let trouble = in_time::<()>(std::future::pending()).await.unwrap_err();
        assert_eq!(trouble.to_string(), "the connection was not made within 10 seconds");
        assert_eq!(start.elapsed().as_secs(), 10);
    }
}
