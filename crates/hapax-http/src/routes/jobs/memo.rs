//! Idempotent requests: what is remembered of one, and the answer to its repetition.

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use hapax_core::{JobId, json};
use hapax_store::{Answer, Memo, MemoKey, Remembered};
use sha2::{Digest as _, Sha256};

use crate::call::Call;
use crate::from_wire::{Fault, Place};
use crate::limits::IDEMPOTENCY_KEY_BYTES_MAX;
use crate::problem::Problem;
use crate::reply::Reply;

const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The wish to have the answer remembered, if the client sent a key for it: in the header, or in the body of a request
/// that has a member for it. Keys of different operations do not meet.
pub(in crate::routes) fn memo(
    call: &Call,
    in_body: Option<&str>,
    render: impl Fn(&Answer) -> Reply + Send + Sync + 'static,
) -> Result<Option<Memo>, Problem> {
    let (place, key) = match (&call.idempotency_key, in_body) {
        (Some(header), _) => ("Idempotency-Key", header.to_str().ok()),
        (None, Some(text)) => ("idempotency_key", Some(text)),
        (None, None) => return Ok(None),
    };
    let Some(key) = key.filter(|key| is_usable(key)) else {
        let problem = format_args!("must have 1 to {IDEMPOTENCY_KEY_BYTES_MAX} visible ASCII characters");
        return Err(Fault::new(Place::Member(&Place::Body, place), problem).into());
    };
    // What tenants remember is their own.
    let tenant = call.origin.tenant.as_ref().map_or("", |tenant| tenant.as_str());
    let path = call.uri.path();
    let mut hash = Sha256::new();
    hash.update(b"POST\n");
    hash.update(path);
    hash.update(b"\n");
    hash.update(&call.body.bytes);
    let remembered = move |answer: &Answer| {
        let Reply { status, body, form: _, headers: _ } = render(answer);
        Remembered { status: status.as_u16(), body: body.to_vec().into() }
    };
    Ok(Some(Memo {
        key: MemoKey(if tenant.is_empty() {
            format!("POST {path}\n{key}").into()
        } else {
            format!("POST {path}\n{tenant}\n{key}").into()
        }),
        fingerprint: hash.finalize().into(),
        render: Arc::new(remembered),
    }))
}

/// What a header can carry, wherever the key stands.
fn is_usable(key: &str) -> bool {
    let fits = (1..=IDEMPOTENCY_KEY_BYTES_MAX).contains(&key.len());
    fits && key.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte))
}

/// The answer that the first request got.
pub(in crate::routes) fn replay(before: &Remembered) -> Reply {
    let status = StatusCode::from_u16(before.status).unwrap_or(StatusCode::OK);
    Reply::json(status, before.body.to_vec()).with(REPLAYED, HeaderValue::from_static("true"))
}

/// The same, with the address of the one job that it shows.
pub(in crate::routes) fn replay_at_job(before: &Remembered) -> Reply {
    let reply = replay(before);
    match created(&before.body) {
        Some(id) => reply.at_job(id),
        None => reply,
    }
}

/// The id of the job that the answer shows: the address is not remembered by itself.
fn created(body: &[u8]) -> Option<JobId> {
    let body = json::read_bytes(body, json::Limits { depth_max: json::Limits::DEPTH_CEILING }).ok()?;
    body.get("job")?.get("id")?.as_str()?.parse().ok()
}
