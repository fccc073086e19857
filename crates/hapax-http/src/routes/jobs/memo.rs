//! Idempotent requests: what is remembered of one, and the answer to its repetition.

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use hapax_core::json;
use hapax_store::{Memo, MemoKey, Remembered};
use sha2::{Digest as _, Sha256};

use crate::call::Call;
use crate::from_wire::{Fault, Place};
use crate::limits::IDEMPOTENCY_KEY_BYTES_MAX;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::admission;

const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The wish to have the answer remembered, if the client sent a key for it. Keys of different operations do not
/// meet.
pub(super) fn memo(call: &Call) -> Result<Option<Memo>, Problem> {
    let Some(key) = &call.idempotency_key else { return Ok(None) };
    let key = key.to_str().ok().filter(|key| (1..=IDEMPOTENCY_KEY_BYTES_MAX).contains(&key.len()));
    let Some(key) = key else {
        let problem = format_args!("must have 1 to {IDEMPOTENCY_KEY_BYTES_MAX} visible ASCII characters");
        return Err(Fault::new(Place::Member(&Place::Body, "Idempotency-Key"), problem).into());
    };
    let path = call.uri.path();
    let mut hash = Sha256::new();
    hash.update(b"POST\n");
    hash.update(path);
    hash.update(b"\n");
    hash.update(&call.body.bytes);
    let id = call.id.clone();
    Ok(Some(Memo {
        key: MemoKey(format!("POST {path}\n{key}").into()),
        fingerprint: hash.finalize().into(),
        render: Arc::new(move |answer| admission::remembered(answer, &id)),
    }))
}

/// The answer that the first request got.
pub(super) fn replay(before: &Remembered) -> Reply {
    let status = StatusCode::from_u16(before.status).unwrap_or(StatusCode::OK);
    let reply = Reply::json(status, before.body.to_vec()).with(REPLAYED, HeaderValue::from_static("true"));
    match created(&before.body) {
        Some(id) => reply.at_job(id),
        None => reply,
    }
}

/// The id of the job that the answer shows: the address is not remembered by itself.
fn created(body: &[u8]) -> Option<String> {
    let body = json::read_bytes(body, json::Limits { depth_max: json::Limits::DEPTH_CEILING }).ok()?;
    body.get("job")?.get("id")?.as_str().map(str::to_owned)
}
