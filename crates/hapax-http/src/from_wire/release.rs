//! The body of a key's release.

use hapax_core::json::Node;

use super::{Fault, Given};

/// Longest reason, in characters.
pub(crate) const REASON_CHARS_MAX: usize = 1000;

/// Reads why the key is taken away: nothing, `{}` or `{"reason": "text"}`.
pub(crate) fn release(body: Option<&Node<'_>>) -> Result<Option<Box<str>>, Fault> {
    let Some(body) = body else { return Ok(None) };
    let body = Given::body(body)?;
    body.expect_only(&["reason"])?;
    let Some(given) = body.member("reason") else { return Ok(None) };
    let reason = given.text("a string")?;
    if reason.chars().count() > REASON_CHARS_MAX {
        let problem = format_args!("must have at most {REASON_CHARS_MAX} characters");
        return Err(Fault::new(given.place, problem));
    }
    Ok(Some(reason.into()))
}
