//! The settings of a queue on their way in.

use std::time::Duration;

use hapax_core::json::Node;
use hapax_core::limit::Pace;
use hapax_core::{JobType, KeptFor, Overflow, QueueName, QueueSettings, State};
use hapax_wire::error::Code;

use super::rate_limit::{concurrency, rate, share};
use super::retry::{self, RetryChange, choice};
use super::{Fault, Given, Place, span};

/// Most patterns of job types.
pub(crate) const TYPES_MAX: usize = 100;

/// Members that settings have, flat or under `backpressure`.
const KNOWN: &[&str] = &[
    "backpressure",
    "concurrency",
    "rate_limit",
    "max_size",
    "max_depth",
    "overflow_policy",
    "warning_threshold",
    "draining",
    "visibility_timeout",
    "visibility_timeout_ms",
    "default_timeout",
    "default_timeout_ms",
    "default_retry",
    "retention",
    "allowed_job_types",
    "share",
];
const BACKPRESSURE: &[&str] = &["max_depth", "max_size_bytes", "strategy", "warning_threshold"];

/// Members that change one by one, with the names under which a change knows them.
const INSIDE: &[(&str, &[(&str, &str)])] = &[
    (
        "backpressure",
        &[
            ("max_depth", "max_depth"),
            ("strategy", "overflow_policy"),
            ("warning_threshold", "warning_threshold"),
        ],
    ),
    (
        "retention",
        &[
            (State::Completed.name(), "retention.completed"),
            (State::Cancelled.name(), "retention.cancelled"),
            (State::Discarded.name(), "retention.discarded"),
        ],
    ),
];

/// Settings of other servers that this one does not have.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("max_size_bytes", "a bound on the bytes of a queue"),
    ("dead_letter_queue", "queues for dead letters; they are listed under /ojs/v1/dead-letter"),
    ("dead_letter_max_size", "a bound on dead letters"),
    ("dead_letter_ttl", "a time for dead letters of their own; set retention.discarded"),
    ("producers", "producers by name"),
];

/// A change of settings: what is not mentioned stays, and null makes it open again.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingsChange {
    given: QueueSettings,
    retry: Option<RetryChange>,
    /// How many jobs of the queue may run at a time; nothing for no limit, or if it does not say.
    pub(crate) concurrency: Option<u32>,
    /// How many of them may start in a while; nothing for no limit, or if it does not say.
    pub(crate) rate: Option<Pace>,
    mentioned: Vec<&'static str>,
}

/// Reads the body of `POST /queues`.
pub(crate) fn new_queue(body: &Node<'_>) -> Result<(QueueName, SettingsChange), Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["name", "config"])?;
    let name = super::draft::read_queue(body.required("name", "the name of a queue")?)?;
    let change = match body.member("config") {
        Some(config) => read(&config)?,
        None => SettingsChange::default(),
    };
    Ok((name, change))
}

/// Reads the body of `PUT /queues/{name}/config`.
pub(crate) fn queue_settings(body: &Node<'_>) -> Result<SettingsChange, Fault> {
    read(&Given::body(body)?)
}

fn read(given: &Given<'_, '_>) -> Result<SettingsChange, Fault> {
    given.expect_object("an object with settings")?;
    refuse_others(given)?;
    let mut known: Vec<&str> = KNOWN.to_vec();
    known.extend(UNSUPPORTED.iter().map(|(name, _)| *name));
    given.expect_only(&known)?;
    let pressure = given.member("backpressure");
    if let Some(pressure) = &pressure {
        pressure.expect_object("an object")?;
        refuse_others(pressure)?;
        pressure.expect_only(BACKPRESSURE)?;
    }
    let inside = |name| pressure.as_ref().and_then(|pressure| pressure.member(name));
    let max_depth = one([inside("max_depth"), given.member("max_depth"), given.member("max_size")])?;
    let overflow = one([inside("strategy"), given.member("overflow_policy"), None])?;
    let warning = one([inside("warning_threshold"), given.member("warning_threshold"), None])?;
    let settings = QueueSettings {
        max_depth: max_depth.map(|given| given.integer(0, i64::MAX).map(i64::unsigned_abs)).transpose()?,
        overflow: overflow
            .map(|given| choice(given, "strategy", &Overflow::ALL, Overflow::name))
            .transpose()?,
        warning_permille: warning.map(|given| permille(&given)).transpose()?,
        draining: given.member("draining").map(|given| given.flag()).transpose()?,
        visibility_timeout: span::visibility_timeout(
            given.member("visibility_timeout"),
            given.member("visibility_timeout_ms"),
        )?,
        timeout: default_timeout(given)?,
        retry: None,
        retention: retention(given)?,
        allowed_types: given
            .member("allowed_job_types")
            .map(|given| types(&given))
            .transpose()?
            .unwrap_or_default(),
        share: given.member("share").map(share).transpose()?,
        deletion: None,
    };
    let retry = given.member("default_retry").map(retry::change).transpose()?;
    let concurrency = given.member("concurrency").map(|given| concurrency(&given)).transpose()?;
    let rate = given.member("rate_limit").map(|given| rate(&given)).transpose()?;
    Ok(SettingsChange { given: settings, retry, concurrency, rate, mentioned: mentioned(given) })
}

/// The same thing under the names of several documents.
fn one<'m, 'a>(names: [Option<Given<'m, 'a>>; 3]) -> Result<Option<Given<'m, 'a>>, Fault> {
    let mut given = names.into_iter().flatten();
    let Some(first) = given.next() else { return Ok(None) };
    match given.find(|other| other.node.raw != first.node.raw) {
        Some(other) => {
            Err(Fault::new(other.place, format_args!("contradicts {}; send one of the two", first.place)))
        }
        None => Ok(Some(first)),
    }
}

/// The names that occur, whatever their value.
fn mentioned(given: &Given<'_, '_>) -> Vec<&'static str> {
    let has = |name: &&&str| given.node.get(name).is_some();
    let mut mentioned: Vec<&str> = KNOWN.iter().filter(has).copied().collect();
    for (outer, members) in INSIDE {
        let Some(node) = given.node.get(outer) else { continue };
        let spoken_of = members.iter().filter(|(member, _)| node.is_null() || node.get(member).is_some());
        mentioned.extend(spoken_of.map(|(_, name)| *name));
    }
    mentioned
}

fn refuse_others(given: &Given<'_, '_>) -> Result<(), Fault> {
    for (name, feature) in UNSUPPORTED {
        if let Some(member) = given.member(name).filter(|member| member.node.as_i64() != Some(0)) {
            return Err(Fault::unsupported(member.place, feature));
        }
    }
    Ok(())
}

fn permille(given: &Given<'_, '_>) -> Result<u16, Fault> {
    let number = given.node.as_f64().filter(|number| (0.0..=1.0).contains(number));
    let number = number.ok_or_else(|| Fault::new(given.place, "must be a number from 0 to 1"))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 1000")]
    Ok((number * 1000.0).round() as u16)
}

fn retention(given: &Given<'_, '_>) -> Result<KeptFor, Fault> {
    let Some(given) = given.member("retention") else { return Ok(KeptFor::default()) };
    given.expect_object("an object with completed, cancelled or discarded")?;
    given.expect_only(&[State::Completed.name(), State::Cancelled.name(), State::Discarded.name()])?;
    let kept = |state: State| -> Result<Option<Duration>, Fault> {
        given.member(state.name()).map(span::iso_or_brief).transpose()
    };
    Ok(KeptFor {
        completed: kept(State::Completed)?,
        cancelled: kept(State::Cancelled)?,
        discarded: kept(State::Discarded)?,
    })
}

/// A job says by zero that it has no limit. Here that would be the limit of all queues, which is not what it says.
fn default_timeout(given: &Given<'_, '_>) -> Result<Option<Duration>, Fault> {
    let [seconds, millis] = ["default_timeout", "default_timeout_ms"].map(|name| given.member(name));
    let timeout = span::timeout(seconds, millis)?.map(|timeout| timeout.span);
    match (seconds.or(millis), timeout) {
        (Some(given), None) => {
            Err(Fault::new(given.place, "must be at least 1; null leaves it to what holds for all queues"))
        }
        (_, timeout) => Ok(timeout),
    }
}

fn types(given: &Given<'_, '_>) -> Result<Vec<Box<str>>, Fault> {
    let types = given.texts()?;
    if types.is_empty() {
        return Err(Fault::new(given.place, "must name at least one type; null lets in all of them"));
    }
    if types.len() > TYPES_MAX {
        return Err(Fault::new(given.place, format_args!("must have at most {TYPES_MAX} items")));
    }
    if let Some((index, pattern)) = types.iter().enumerate().find(|(_, pattern)| !can_match(pattern)) {
        let problem = format_args!(
            "{pattern:?} matches no job type: those are lower-case words joined by dots, such as \"payment.charge\"; \
             a * may stand at the end, as in \"payment.*\""
        );
        return Err(Fault::new(Place::Item(&given.place, index), problem));
    }
    Ok(if types.iter().any(|name| &**name == "*") { Vec::new() } else { types })
}

/// Whether there is a type of jobs that the pattern lets in.
fn can_match(pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("") => true,
        // What it begins with may end in the middle of a type, or behind a dot.
        Some(start) => JobType::parse(start).or_else(|_| JobType::parse(&format!("{start}a"))).is_ok(),
        None => JobType::parse(pattern).is_ok(),
    }
}

impl SettingsChange {
    /// Whether it says how many jobs of the queue may run at a time.
    pub(crate) fn mentions_concurrency(&self) -> bool {
        self.mentioned.contains(&"concurrency")
    }

    /// Whether it says how many of them may start in a while.
    pub(crate) fn mentions_rate(&self) -> bool {
        self.mentioned.contains(&"rate_limit")
    }

    /// The settings after the change. What it says may not go with what was said before.
    pub(crate) fn of(&self, before: QueueSettings) -> Result<QueueSettings, Fault> {
        let given = &self.given;
        let says = |names: &[&str]| names.iter().any(|name| self.mentioned.contains(name));
        let mut after = before;
        if says(&["max_size", "max_depth"]) {
            after.max_depth = given.max_depth;
        }
        if says(&["overflow_policy"]) {
            after.overflow = given.overflow;
        }
        if says(&["warning_threshold"]) {
            after.warning_permille = given.warning_permille;
        }
        if says(&["draining"]) {
            after.draining = given.draining;
        }
        if says(&["visibility_timeout", "visibility_timeout_ms"]) {
            after.visibility_timeout = given.visibility_timeout;
        }
        if says(&["default_timeout", "default_timeout_ms"]) {
            after.timeout = given.timeout;
        }
        if says(&["default_retry"]) {
            let place = Place::Member(&Place::Body, "default_retry");
            let wrong = |error| Fault::coded(Code::ValidationError, place, error);
            let changed = self.retry.as_ref().map(|change| change.of(after.retry.as_ref()));
            after.retry = changed.transpose().map_err(wrong)?;
        }
        if says(&["retention.completed"]) {
            after.retention.completed = given.retention.completed;
        }
        if says(&["retention.cancelled"]) {
            after.retention.cancelled = given.retention.cancelled;
        }
        if says(&["retention.discarded"]) {
            after.retention.discarded = given.retention.discarded;
        }
        if says(&["allowed_job_types"]) {
            after.allowed_types.clone_from(&given.allowed_types);
        }
        if says(&["share"]) {
            after.share = given.share;
        }
        Ok(after)
    }
}
