//! Rate limits on their way in: those of jobs, and what operators decide.

use std::time::Duration;

use hapax_core::json::Node;
use hapax_core::limit::{CONCURRENCY_MAX, LimitKey, Limits, OnLimit, Pace, RateLimit, Ruling, Share, Window};
use hapax_core::{QueueName, Timestamp};

use super::retry::choice;
use super::{Fault, Given, Place, span};

const MEMBERS: &[&str] =
    &["key", "concurrency", "rate", "period", "throttle", "max_per_second", "on_limit", "share"];
const RULING: &[&str] = &["concurrency", "rate", "throttle", "expires_at"];
/// What the official admin UI sends in place of the figures: one of them, flat.
const FLAT_RULING: &[&str] = &["limit", "period", "expires_at"];
const PACE: &[&str] = &["limit", "period"];

/// Words for periods, as one of the official cases has them.
const WORDS: &[(&str, Duration)] = &[
    ("second", Duration::from_secs(1)),
    ("minute", Duration::from_mins(1)),
    ("hour", Duration::from_hours(1)),
    ("day", Duration::from_hours(24)),
];

/// Reads the `rate_limit` of a job. One that names no key limits the jobs of its queue that do the same.
pub(super) fn policy(given: &Given<'_, '_>, queue: &QueueName) -> Result<RateLimit, Fault> {
    given.expect_object("an object with a key and limits")?;
    given.expect_only(MEMBERS)?;
    let mut limits = figures(given)?;
    if let Some(number) = given.member("max_per_second") {
        if limits.rate.is_some() {
            return Err(Fault::new(number.place, "contradicts rate; send one of the two"));
        }
        limits.rate = Some(pace(&number, &number, Duration::from_secs(1), Window::Sliding)?);
    }
    let key = match given.member("key") {
        Some(key) => LimitKey::parse(key.text("a string")?).map_err(|error| Fault::new(key.place, error))?,
        None if given.member("max_per_second").is_some() => LimitKey::of_jobs_in(queue),
        None => {
            let wanted = "a text that the jobs share which the limit is for, such as \"stripe-api\"";
            return Err(Fault::missing(Place::Member(&given.place, "key"), wanted));
        }
    };
    let on_limit = given
        .member("on_limit")
        .map_or(Ok(OnLimit::Wait), |given| choice(given, "action", &OnLimit::ALL, OnLimit::name))?;
    let share = given.member("share").map_or(Ok(Share::default()), share)?;
    Ok(RateLimit { key, limits, on_limit, share })
}

/// How jobs of different keys share a queue.
pub(super) fn share(given: Given<'_, '_>) -> Result<Share, Fault> {
    choice(given, "share", &Share::ALL, Share::name)
}

/// Reads what an operator decides about a key.
pub(crate) fn ruling(body: &Node<'_>, now: Timestamp) -> Result<Ruling, Fault> {
    let given = Given::body(body)?;
    let limits = if given.member("limit").is_some() {
        given.expect_only(FLAT_RULING)?;
        flat(&given)?
    } else {
        given.expect_only(RULING)?;
        figures(&given)?
    };
    if limits.is_empty() {
        return Err(Fault::new(given.place, "must have at least one of concurrency, rate and throttle"));
    }
    let expires_at = given.member("expires_at").map(|given| expiry(given, now)).transpose()?;
    Ok(Ruling { limits, expires_at })
}

/// Reads `{limit, period}`: so many in a period; without one, as `GET` shows a limit that has none, so many at a time.
fn flat(given: &Given<'_, '_>) -> Result<Limits, Fault> {
    let limit = given.required("limit", "a number of jobs")?;
    let Some(period) = given.member("period") else {
        return Ok(Limits { concurrency: Some(concurrency(&limit)?), ..Limits::default() });
    };
    let rate = pace(&limit, &limit, self::period(&period)?, Window::Sliding)?;
    Ok(Limits { rate: Some(rate), ..Limits::default() })
}

/// How many jobs may start in a while, as the settings of a queue say it.
pub(super) fn rate(given: &Given<'_, '_>) -> Result<Pace, Fault> {
    pace_of(given, Window::Sliding)
}

fn expiry(given: Given<'_, '_>, now: Timestamp) -> Result<Timestamp, Fault> {
    let at = span::moment(given, now)?.at;
    if at <= now {
        return Err(Fault::new(given.place, "must lie ahead"));
    }
    Ok(at)
}

fn figures(given: &Given<'_, '_>) -> Result<Limits, Fault> {
    let concurrency = given.member("concurrency").map(|given| self::concurrency(&given)).transpose()?;
    let period = given.member("period");
    let rate = match given.member("rate") {
        // One of the official cases writes both figures flat.
        Some(number) if number.node.as_f64().is_some() => {
            let missing = || Fault::missing(Place::Member(&given.place, "period"), "such as \"PT1S\"");
            Some(pace(&number, &number, self::period(&period.ok_or_else(missing)?)?, Window::Sliding)?)
        }
        Some(rate) => Some(pace_of(&rate, Window::Sliding)?),
        None => None,
    };
    if let Some(period) =
        period.filter(|_| given.member("rate").is_none_or(|rate| rate.node.as_f64().is_none()))
    {
        return Err(Fault::new(
            period.place,
            "belongs into rate: {\"rate\": {\"limit\": 10, \"period\": \"PT1S\"}}",
        ));
    }
    let throttle = given.member("throttle").map(|given| pace_of(&given, Window::Spaced)).transpose()?;
    Ok(Limits { concurrency, rate, throttle })
}

/// How many may run at a time.
pub(super) fn concurrency(given: &Given<'_, '_>) -> Result<u32, Fault> {
    let number = given.integer(0, CONCURRENCY_MAX.into())?;
    Ok(u32::try_from(number).unwrap_or(CONCURRENCY_MAX))
}

fn pace_of(given: &Given<'_, '_>, window: Window) -> Result<Pace, Fault> {
    given.expect_object("an object with limit and period")?;
    given.expect_only(PACE)?;
    let limit = given.required("limit", "how many jobs may start in a period")?;
    let period = given.required("period", "an ISO 8601 duration such as PT1M")?;
    pace(given, &limit, self::period(&period)?, window)
}

fn pace(
    whole: &Given<'_, '_>,
    limit: &Given<'_, '_>,
    period: Duration,
    window: Window,
) -> Result<Pace, Fault> {
    let number = limit.integer(1, Pace::LIMIT_MAX.into())?;
    Pace::new(number, period, window).map_err(|error| Fault::new(whole.place, error))
}

fn period(given: &Given<'_, '_>) -> Result<Duration, Fault> {
    let text = given.text("an ISO 8601 duration such as PT1M")?;
    match WORDS.iter().find(|(word, _)| *word == text) {
        Some((_, period)) => Ok(*period),
        None => span::iso_or_brief(*given),
    }
}
