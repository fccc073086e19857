//! What every request goes through, whatever its route.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{FromRequestParts as _, RawPathParams, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header, request};
use axum::response::Response;
use bytes::Bytes;
use hapax_broker::Broker;
use hapax_wire::error::Code;

use crate::auth::{Auth, Caller};
use crate::body::{self, Unread};
use crate::call::Call;
use crate::compat::Dialect;
use crate::from_wire::{Fault, Media, Place};
use crate::limits::{DISCARD_BYTES_MAX, HEADER_BYTES_MAX, HEADERS_MAX, LINGER_BYTES_MAX, URI_BYTES_MAX};
use crate::metrics::RouteMeter;
use crate::problem::Problem;
use crate::reply::{Form, Reply};
use crate::request_id::{Minter, RequestId};
use crate::{Limits, Metrics};

pub(crate) const OJS_VERSION: HeaderName = HeaderName::from_static("ojs-version");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The one version of the protocol.
const VERSION: &str = "1.0";

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) broker: Broker,
    pub(crate) metrics: Metrics,
    pub(crate) auth: Auth,
    pub(crate) limits: Limits,
    pub(crate) minter: Minter,
    pub(crate) conformance: bool,
    pub(crate) backend: &'static str,
    pub(crate) durable: bool,
    pub(crate) version: &'static str,
    pub(crate) started: Instant,
}

/// A route as far as all routes are alike.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) shared: Arc<Shared>,
    /// The path with its variable part in braces.
    pub(crate) template: &'static str,
    pub(crate) access: Access,
    pub(crate) body: BodyRule,
    pub(crate) meter: RouteMeter,
}

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody: probes and scrapers have no keys.
    Open,
    /// Whoever has a key, if the server has any.
    Keyed,
}

/// What a route does with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyRule {
    /// Nothing: it is read and thrown away.
    Unused,
    /// It is about one job.
    Job,
    /// It may be about many.
    Batch,
}

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
        Ok(call) => guarded(work(call)).await,
        Err(problem) => Err(problem),
    };
    let reply = outcome.unwrap_or_else(|problem| problem.reply(&head.id));
    let took = started.elapsed();
    endpoint.meter.count(reply.status, took);
    log(&endpoint, &parts.method, &head, reply.status, took);
    respond(reply, &head, goes_on || parts.version == Version::HTTP_2)
}

/// The dialect that the request asks for; an error for a version that nobody speaks.
fn negotiated(headers: &HeaderMap) -> Result<Dialect, Problem> {
    match headers.get(OJS_VERSION) {
        None => Ok(Dialect::OpenApi),
        Some(version) if version == VERSION => Ok(Dialect::Negotiated),
        Some(_) => {
            let message = "this server speaks OJS-Version 1.0 and no other";
            Err(Problem::new(Code::Unsupported, message))
        }
    }
}

/// Refuses a request for what its head says. The key comes first: strangers learn nothing else.
fn admit(
    endpoint: &Endpoint,
    parts: &request::Parts,
    version: Result<Dialect, Problem>,
    caller: &mut Caller,
) -> Result<(), Problem> {
    if endpoint.access == Access::Keyed {
        let wrong = |_| Problem::new(Code::Unauthenticated, "the request shows no API key of this server");
        *caller = endpoint.shared.auth.check(&parts.headers).map_err(wrong)?;
    }
    let uri_bytes = parts.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if uri_bytes > URI_BYTES_MAX {
        let message = format!("the path has {uri_bytes} bytes, and at most {URI_BYTES_MAX} are taken");
        return Err(Problem::new(Code::UriTooLong, message));
    }
    let bytes: usize = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if parts.headers.len() > HEADERS_MAX || bytes > HEADER_BYTES_MAX {
        let message = format!("at most {HEADERS_MAX} headers with {HEADER_BYTES_MAX} bytes in all are taken");
        return Err(Problem::new(Code::HeadersTooLarge, message));
    }
    version.map(|_| ())
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
) -> (Result<Bytes, Problem>, bool) {
    let limits = &endpoint.shared.limits;
    let bytes_max = match endpoint.body {
        BodyRule::Unused => return (Ok(Bytes::new()), clear(parts, body, DISCARD_BYTES_MAX).await),
        BodyRule::Job => limits.job_bytes,
        BodyRule::Batch => limits.request_bytes,
    };
    match body::read(&mut body, bytes_max, limits.body_time).await {
        Ok(read) => (Ok(read), true),
        Err(Unread::TooLarge) => (Err(too_large(bytes_max)), clear(parts, body, LINGER_BYTES_MAX).await),
        Err(Unread::TooSlow) => {
            (Err(Problem::new(Code::RequestTimeout, "the body did not arrive in time")), false)
        }
        Err(Unread::Broken) => (Err(Problem::new(Code::InvalidPayload, "the body ended early")), false),
    }
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
    body: Bytes,
) -> Result<Call, Problem> {
    let media = if body.is_empty() { Media::Json } else { media(&parts.headers)? };
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

/// The media type of a body; without a header it is plain JSON.
fn media(headers: &HeaderMap) -> Result<Media, Problem> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return Ok(Media::Json) };
    let essence = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    if essence.eq_ignore_ascii_case(b"application/openjobspec+json") {
        Ok(Media::OpenJobSpec)
    } else if essence.eq_ignore_ascii_case(b"application/json") {
        Ok(Media::Json)
    } else {
        let problem = "must be application/openjobspec+json or application/json";
        Err(Fault::new(Place::Member(&Place::Body, "Content-Type"), problem).into())
    }
}

/// The one variable part of the path.
async fn parameter(parts: &mut request::Parts) -> Result<Box<str>, Problem> {
    let wrong = |_| Problem::new(Code::InvalidRequest, "the path is not UTF-8");
    let parameters = RawPathParams::from_request_parts(parts, &()).await.map_err(wrong)?;
    Ok(parameters.iter().next().map(|(_, value)| value.into()).unwrap_or_default())
}

/// The answer of the route; a panic in it is an answer too, and the server goes on.
async fn guarded(work: impl Future<Output = Result<Reply, Problem>>) -> Result<Reply, Problem> {
    let mut work = pin!(work);
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
