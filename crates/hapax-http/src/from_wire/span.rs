//! Spans and moments in their many notations.

use std::time::Duration;

use hapax_core::{GivenTime, Timeout, Timestamp, parse_iso8601};

use super::{Fault, Given};

/// The longest span in seconds: as long as the calendar.
const SECONDS_MAX: i64 = 10_000 * 365 * 86_400;

/// An ISO 8601 duration.
pub(super) fn iso(given: Given<'_, '_>) -> Result<Duration, Fault> {
    let text = given.text("an ISO 8601 duration such as PT30S")?;
    parse_iso8601(text).map_err(|error| Fault::new(given.place, error))
}

/// The same, or in short such as `15m`, as the official admin UI sends it.
pub(super) fn iso_or_brief(given: Given<'_, '_>) -> Result<Duration, Fault> {
    let text = given.text("an ISO 8601 duration such as PT30S")?;
    crate::brief::read(text).map_or_else(|| iso(given), Ok)
}

/// Whole milliseconds.
pub(super) fn millis(given: Given<'_, '_>, least: i64) -> Result<Duration, Fault> {
    let number = given.integer(least, SECONDS_MAX * 1000)?;
    Ok(Duration::from_millis(number.unsigned_abs()))
}

/// Whole seconds.
pub(super) fn seconds(given: Given<'_, '_>, least: i64) -> Result<Duration, Fault> {
    let number = given.integer(least, SECONDS_MAX)?;
    Ok(Duration::from_secs(number.unsigned_abs()))
}

/// Whole seconds, at least one, or an ISO 8601 duration.
pub(super) fn seconds_or_iso(given: Given<'_, '_>, wanted: &str) -> Result<Duration, Fault> {
    match given.node.as_str() {
        Some(_) => iso(given),
        None if given.node.as_f64().is_some() => seconds(given, 1),
        None => Err(given.wrong(wanted)),
    }
}

/// A number of seconds, also as an ISO 8601 duration.
pub(super) fn whole_seconds(given: Given<'_, '_>, least: i64) -> Result<Duration, Fault> {
    if given.node.as_str().is_none() {
        return match given.node.as_f64() {
            Some(_) => seconds(given, least),
            None => Err(given.wrong("a number of seconds, or an ISO 8601 duration such as PT30S")),
        };
    }
    let span = iso(given)?;
    let is_whole = span.subsec_nanos() == 0 && span.as_secs() >= least.unsigned_abs();
    if is_whole {
        Ok(span)
    } else {
        Err(Fault::new(given.place, format_args!("must be whole seconds, at least {least}")))
    }
}

/// `timeout` in seconds or `timeout_ms`; 0 is the server's default, which is none.
pub(super) fn timeout(
    in_seconds: Option<Given<'_, '_>>,
    in_millis: Option<Given<'_, '_>>,
) -> Result<Option<Timeout>, Fault> {
    let given_seconds = in_seconds.map(|given| seconds(given, 0)).transpose()?;
    let given_millis = in_millis.map(|given| millis(given, 0)).transpose()?;
    let span = agreed(in_seconds, given_seconds, given_millis, "timeout_ms")?;
    let in_seconds = given_seconds.is_some();
    Ok(span.filter(|span| !span.is_zero()).map(|span| Timeout { span, in_seconds }))
}

/// `visibility_timeout` in seconds or as a duration, or `visibility_timeout_ms`.
pub(super) fn visibility_timeout(
    plain: Option<Given<'_, '_>>,
    in_millis: Option<Given<'_, '_>>,
) -> Result<Option<Duration>, Fault> {
    let read = |given: Given<'_, '_>| match given.node.as_str() {
        Some(_) => iso(given),
        None => seconds(given, 1),
    };
    let given_plain = plain.map(read).transpose()?;
    let given_millis = in_millis.map(|given| millis(given, 1)).transpose()?;
    if let (Some(given), Some(Duration::ZERO)) = (plain, given_plain) {
        return Err(Fault::new(given.place, "must be longer than zero"));
    }
    agreed(plain, given_plain, given_millis, "visibility_timeout_ms")
}

/// One span from two notations, which may both be there if they say the same.
fn agreed(
    given: Option<Given<'_, '_>>,
    one: Option<Duration>,
    other: Option<Duration>,
    other_name: &str,
) -> Result<Option<Duration>, Fault> {
    match (given, one, other) {
        (Some(given), Some(one), Some(other)) if one != other => {
            Err(Fault::new(given.place, format_args!("contradicts {other_name}; send one of the two")))
        }
        (_, one, other) => Ok(one.or(other)),
    }
}

/// An RFC 3339 moment, or a duration from now on written as `+PT5M`.
pub(super) fn moment(given: Given<'_, '_>, now: Timestamp) -> Result<GivenTime, Fault> {
    let text =
        given.text("an RFC 3339 time such as 2026-03-01T09:30:00Z, or +PT5M for five minutes from now")?;
    if let Some(relative) = text.strip_prefix('+') {
        let span = parse_iso8601(relative).map_err(|error| Fault::new(given.place, error))?;
        return Ok(GivenTime::computed(now + span));
    }
    if parse_iso8601(text).is_ok() {
        let problem = format_args!("\"{text}\" is a duration; write +{text} for that long from now");
        return Err(Fault::new(given.place, problem));
    }
    let at = Timestamp::parse(text).map_err(|error| {
        Fault::new(given.place, format_args!("{error}; or write +PT5M for five minutes from now"))
    })?;
    Ok(GivenTime::written(at, text))
}
