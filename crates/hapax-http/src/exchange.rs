//! What every request goes through, whatever its route.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{FromRequestParts as _, RawPathParams, Request};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, Version, header, request};
use axum::response::Response;
use hapax_wire::error::Code;

use crate::auth::Caller;
use crate::body::{self, Collected, Unread};
use crate::call::Call;
use crate::compat::Dialect;
use crate::from_wire::Media;
use crate::head::{OJS_VERSION, VERSION, admit, media, negotiated};
use crate::limits::{DISCARD_BYTES_MAX, LINGER_BYTES_MAX};
use crate::problem::Problem;
use crate::reply::{Form, Reply};
use crate::request_id::RequestId;
use crate::shared::{BodyRule, Endpoint};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// What is known of a request before its body is read.
struct Head {
    id: RequestId,
    dialect: Dialect,
    caller: Caller,
}

/// Takes a request through: head, key, body, route; then answers, counts and logs.
pub(crate) async fn exchange<F, W>(endpoint: Arc<Endpoint>, request: Request, work: F) -> Response
where
    F: FnOnce(Call) -> W,
    W: Future<Output = Result<Reply, Problem>>,
{
    #[expect(clippy::disallowed_methods, reason = "measures how long the request takes")]
    let started = Instant::now();
    let shared = &endpoint.shared;
    let (mut parts, body) = request.into_parts();
    let id = RequestId::of_client(parts.headers.get(REQUEST_ID));
    let id = id.unwrap_or_else(|| shared.minter.mint(shared.broker.now()));
    let version = negotiated(&parts.headers);
    let mut head =
        Head { id, dialect: *version.as_ref().unwrap_or(&Dialect::OpenApi), caller: Caller::Anybody };
    let (body, goes_on) = match admit(&endpoint, &parts, version, &mut head.caller) {
        Ok(()) => take_body(&endpoint, &parts, body).await,
        Err(problem) => (Err(problem), clear(&parts, body, DISCARD_BYTES_MAX).await),
    };
    let call = match body {
        Ok(body) => call(&endpoint, &mut parts, &head, body).await,
        Err(problem) => Err(problem),
    };
    let outcome = match call {
        Ok(call) => guarded(pin!(work(call))).await,
        Err(problem) => Err(problem),
    };
    let reply = outcome.unwrap_or_else(|problem| problem.reply(&head.id));
    let took = started.elapsed();
    endpoint.meter.count(reply.status, took);
    log(&endpoint, &parts.method, &head, reply.status, took);
    respond(reply, &head, goes_on || parts.version == Version::HTTP_2)
}

/// Whether the way is clear for the next request: reads what nobody wants, unless the client waits for our word
/// before it sends it.
async fn clear(parts: &request::Parts, body: Body, bytes_max: usize) -> bool {
    !parts.headers.contains_key(header::EXPECT) && body::discard(body, bytes_max).await
}

/// The body as the route wants it, and whether the connection can go on.
async fn take_body(
    endpoint: &Endpoint,
    parts: &request::Parts,
    mut body: Body,
) -> (Result<Collected, Problem>, bool) {
    let limits = &endpoint.shared.limits;
    let bytes_max = match endpoint.body {
        BodyRule::Unused => return (Ok(Collected::default()), clear(parts, body, DISCARD_BYTES_MAX).await),
        BodyRule::Job => limits.job_bytes,
        BodyRule::Batch => limits.request_bytes,
    };
    match body::read(&mut body, bytes_max, limits.body_time, &endpoint.shared.body_budget).await {
        Ok(read) => (Ok(read), true),
        Err(Unread::TooLarge) => (Err(too_large(bytes_max)), clear(parts, body, LINGER_BYTES_MAX).await),
        Err(Unread::TooSlow) => {
            (Err(Problem::new(Code::RequestTimeout, "the body did not arrive in time")), false)
        }
        Err(Unread::NoRoom) => (Err(no_room()), clear(parts, body, LINGER_BYTES_MAX).await),
        Err(Unread::Broken) => (Err(Problem::new(Code::InvalidPayload, "the body ended early")), false),
    }
}

fn no_room() -> Problem {
    Problem::new(Code::BackendUnavailable, "the server holds as many bodies of other requests as it can")
}

fn too_large(bytes_max: usize) -> Problem {
    let message = format!("the body is larger than {bytes_max} bytes, which is the limit here");
    let details = format!("{{\"max_bytes\":{bytes_max}}}").into_bytes();
    Problem { details: Some(details), ..Problem::new(Code::PayloadTooLarge, message) }
}

/// The request as the route sees it.
async fn call(
    endpoint: &Endpoint,
    parts: &mut request::Parts,
    head: &Head,
    body: Collected,
) -> Result<Call, Problem> {
    let media = if body.bytes.is_empty() { Media::Json } else { media(&parts.headers)? };
    let parameter = if endpoint.template.contains('{') { parameter(parts).await? } else { Box::default() };
    Ok(Call {
        shared: Arc::clone(&endpoint.shared),
        id: head.id.clone(),
        dialect: head.dialect,
        uri: std::mem::take(&mut parts.uri),
        parameter,
        media,
        body,
        idempotency_key: parts.headers.remove(IDEMPOTENCY_KEY),
    })
}

/// The one variable part of the path.
async fn parameter(parts: &mut request::Parts) -> Result<Box<str>, Problem> {
    let wrong = |_| Problem::new(Code::InvalidRequest, "the path is not UTF-8");
    let parameters = RawPathParams::from_request_parts(parts, &()).await.map_err(wrong)?;
    Ok(parameters.iter().next().map(|(_, value)| value.into()).unwrap_or_default())
}

/// The answer of the route; a panic in it is an answer too, and the server goes on. The work is borrowed: as a
/// parameter it would take its room twice in the future of the request, which is copied for each.
async fn guarded(mut work: Pin<&mut impl Future<Output = Result<Reply, Problem>>>) -> Result<Reply, Problem> {
    poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))).unwrap_or_else(|_| {
            Poll::Ready(Err(Problem::new(Code::Internal, "the server has a defect; it was logged")))
        })
    })
    .await
}

fn respond(reply: Reply, head: &Head, goes_on: bool) -> Response {
    let Reply { status, body, form, mut headers } = reply;
    headers.reserve(4);
    let content_type = match form {
        Form::Json => head.dialect.content_type(),
        Form::Text => HeaderValue::from_static("text/plain"),
    };
    headers.insert(header::CONTENT_TYPE, content_type);
    headers.insert(OJS_VERSION, HeaderValue::from_static(VERSION));
    headers.insert(REQUEST_ID, head.id.header());
    if !goes_on {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// One line per request. Successes are many and dull, failures of ours are few and not.
fn log(endpoint: &Endpoint, method: &Method, head: &Head, status: StatusCode, took: Duration) {
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(
                request_id = head.id.as_str(),
                %method,
                route = endpoint.template,
                status = status.as_u16(),
                took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
                key = endpoint.shared.auth.name(head.caller),
                "request"
            )
        };
    }
    match status.as_u16() {
        500.. => line!(error),
        400.. => line!(info),
        _ => line!(debug),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_in_a_route_is_an_answer() {
        let answer = guarded(pin!(async { panic!("on purpose") })).await;
        assert_eq!(answer.unwrap_err().code, Code::Internal);
    }
}
