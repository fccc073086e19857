//! What every request goes through, whatever its route.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{FromRequestParts as _, RawPathParams, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header, request};
use axum::response::Response;
use hapax_wire::error::Code;

use crate::answer::{Answer, Lasting};
use crate::auth::Caller;
use crate::body::{self, Collected, Unread};
use crate::call::Call;
use crate::compat::Dialect;
use crate::from_wire::{Media, no_query};
use crate::head::{OJS_VERSION, Survey, VERSION, admit, media, negotiated};
use crate::limits::{DISCARD_BYTES_MAX, LINGER_BYTES_MAX};
use crate::origin::Origin;
use crate::problem::Problem;
use crate::reply::{Form, Reply};
use crate::request_id::RequestId;
use crate::shared::{BodyRule, Endpoint, QueryRule};

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// What nginx, and others after it, read as the wish to pass everything on at once.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
pub(crate) const BLOCK_TIMEOUT: HeaderName = HeaderName::from_static("ojs-block-timeout");

/// What is known of a request before its body is read.
struct Head {
    id: RequestId,
    dialect: Dialect,
    caller: Caller,
    survey: Survey,
}

/// Takes a request through: head, key, body, route; then answers, counts and logs.
pub(crate) async fn exchange<F, W, A>(endpoint: Arc<Endpoint>, request: Request, work: F) -> Response
where
    F: FnOnce(Call) -> W,
    W: Future<Output = Result<A, Problem>>,
    A: Into<Answer>,
{
    #[expect(clippy::disallowed_methods, reason = "measures how long the request takes")]
    let started = Instant::now();
    let shared = &endpoint.shared;
    let (mut parts, body) = request.into_parts();
    let survey = Survey::of(&parts.headers);
    let said = |name| if survey.names_itself { parts.headers.get(name) } else { None };
    let id = RequestId::of_client(said(REQUEST_ID));
    let id = id.unwrap_or_else(|| shared.minter.mint(shared.broker.now()));
    let version = negotiated(said(OJS_VERSION));
    let dialect = *version.as_ref().unwrap_or(&Dialect::OpenApi);
    let mut head = Head { id, dialect, caller: Caller::Anybody, survey };
    let (body, goes_on) = match admit(&endpoint, &parts, survey, version, &mut head.caller) {
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
    let answer = outcome.map_or_else(|problem| problem.reply(&head.id).into(), A::into);
    let (took, status) = (started.elapsed(), answer.status());
    endpoint.meter.count(status, took);
    log(&endpoint, &parts.method, &head, status, took);
    respond(answer, &head, goes_on, parts.version)
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
        BodyRule::Unused | BodyRule::Lasting => {
            return (Ok(Collected::default()), clear(parts, body, DISCARD_BYTES_MAX).await);
        }
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
    let lasting = endpoint.body == BodyRule::Lasting;
    let [parameter, second] =
        if endpoint.template.contains('{') { parameters(parts).await? } else { Default::default() };
    let has_rare = head.survey.has_rare;
    let origin = if has_rare { Origin::of(&parts.headers)? } else { Origin::default() };
    let mut take = |name| if has_rare { parts.headers.remove(name) } else { None };
    let (idempotency_key, block_timeout) = (take(IDEMPOTENCY_KEY), take(BLOCK_TIMEOUT));
    endpoint.tenancy.admit(&origin, endpoint.shared.entrance.require_tenant)?;
    if endpoint.query == QueryRule::Refused && parts.uri.query().is_some() {
        no_query(&parts.uri)?;
    }
    let call = Call {
        shared: Arc::clone(&endpoint.shared),
        id: head.id.clone(),
        dialect: head.dialect,
        uri: std::mem::take(&mut parts.uri),
        parameter,
        second,
        origin,
        media,
        body,
        idempotency_key,
        block_timeout,
        head: lasting.then(|| taken(parts)),
    };
    if let Some(tenant) = call.tenant() {
        // In a box: most requests say no tenant, and their futures need no room for the look.
        Box::pin(endpoint.tenancy.keep(&call, tenant)).await?;
    }
    Ok(call)
}

/// What is left of the head.
fn taken(parts: &mut request::Parts) -> Box<request::Parts> {
    let (mut taken, ()) = axum::http::Request::new(()).into_parts();
    taken.method = parts.method.clone();
    taken.version = parts.version;
    taken.headers = std::mem::take(&mut parts.headers);
    taken.extensions = std::mem::take(&mut parts.extensions);
    Box::new(taken)
}

/// The variable parts of the path, of which there are at most two.
async fn parameters(parts: &mut request::Parts) -> Result<[Box<str>; 2], Problem> {
    let wrong = |_| Problem::new(Code::InvalidRequest, "the path is not UTF-8");
    let parameters = RawPathParams::from_request_parts(parts, &()).await.map_err(wrong)?;
    let mut values = parameters.iter().map(|(_, value)| Box::from(value));
    Ok([values.next().unwrap_or_default(), values.next().unwrap_or_default()])
}

/// The answer of the route; a panic in it is an answer too, and the server goes on. The work is borrowed: as a
/// parameter it would take its room twice in the future of the request, which is copied for each.
async fn guarded<A>(mut work: Pin<&mut impl Future<Output = Result<A, Problem>>>) -> Result<A, Problem> {
    poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))).unwrap_or_else(|_| {
            Poll::Ready(Err(Problem::new(Code::Internal, "the server has a defect; it was logged")))
        })
    })
    .await
}

fn respond(answer: Answer, head: &Head, goes_on: bool, version: Version) -> Response {
    let status = answer.status();
    let (body, mut headers, lasting) = match answer {
        Answer::Whole(Reply { status: _, body, form, mut headers }) => {
            headers.reserve(4);
            let content_type = match form {
                Form::Json => head.dialect.content_type(),
                Form::Other(media) => HeaderValue::from_static(media),
            };
            headers.insert(header::CONTENT_TYPE, content_type);
            if !goes_on && version != Version::HTTP_2 {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            (Body::from(body), headers, None)
        }
        Answer::Stream(stream) => (Body::new(stream), stream_headers(version), Some(Lasting::Stream)),
        Answer::Upgrade(headers, session) => (Body::empty(), headers, Some(Lasting::Upgrade(session))),
    };
    headers.insert(OJS_VERSION, HeaderValue::from_static(VERSION));
    headers.insert(REQUEST_ID, head.id.header());
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    if let Some(lasting) = lasting {
        response.extensions_mut().insert(lasting);
    }
    response
}

/// Between the server and the client nobody may keep a part of a stream back. An HTTP/1 connection ends with it, for it
/// has given its place to others.
fn stream_headers(version: Version) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(6);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    if version != Version::HTTP_2 {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    headers
}

/// Whether an answer tells of a failure of ours. A 503 does not: the server says that it does not want to now, and a client
/// that asks often hears that often.
const fn is_failure(status: u16) -> bool {
    status >= 500 && status != 503
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
        status if is_failure(status) => line!(error),
        400.. => line!(info),
        _ => line!(debug),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_of_ours_are_logged_as_errors() {
        let failures = [200, 404, 429, 500, 501, 503].into_iter().filter(|status| is_failure(*status));
        assert_eq!(failures.collect::<Vec<_>>(), [500, 501]);
    }

    #[tokio::test]
    async fn a_panic_in_a_route_is_an_answer() {
        let answer = guarded::<Reply>(pin!(async { panic!("on purpose") })).await;
        assert_eq!(answer.unwrap_err().code, Code::Internal);
    }
}
