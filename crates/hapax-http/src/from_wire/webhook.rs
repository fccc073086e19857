//! A subscription on its way in.

use axum::http::Uri;
use hapax_broker::{DeliveryFilter, EventKind, SubscriptionDraft, SubscriptionPatch};
use hapax_core::json::Node;
use hapax_core::webhook::{Endpoint, Pattern, Reach, Secret};
use hapax_core::{JobType, Json, QueueName};
use hapax_store::webhook::Shelf;

use super::page::{LIMIT_DEFAULT, uncounted_limit};
use super::query::{fault, read_query};
use super::{Fault, Given, Place};
use crate::compat::kind_of_event;

/// Most kinds of event, queues or job types of one subscription.
pub(crate) const NAMES_MAX: usize = 64;
/// Longest text for people, as JSON.
const METADATA_BYTES_MAX: usize = 4096;
/// What may be said of a subscription.
const MEMBERS: &[&str] = &["url", "events", "filter", "queues", "job_types", "active", "secret", "metadata"];
const PATCHED: &[&str] = &["url", "events", "filter", "queues", "job_types", "active", "metadata"];
const FILTERS: &[&str] = &["queues", "job_types"];

/// Reads the body of `POST /webhooks/subscriptions`.
pub(crate) fn subscription(body: &Node<'_>, reach: Reach) -> Result<SubscriptionDraft, Fault> {
    let body = Given::body(body)?;
    body.expect_only(MEMBERS)?;
    let Filters { queues, job_types } = filters(&body)?;
    Ok(SubscriptionDraft {
        endpoint: read_url(&body.required("url", "where to send events")?, reach)?,
        events: read_events(
            &body.required("events", "an array of names of events, such as \"job.completed\"")?,
        )?,
        queues: queues.unwrap_or_default(),
        job_types: job_types.unwrap_or_default(),
        active: body.member("active").map(|given| given.flag()).transpose()?.unwrap_or(true),
        secret: body.member("secret").map(|given| read_secret(&given)).transpose()?,
        metadata: body.member("metadata").map(|given| read_metadata(&given)).transpose()?,
    })
}

/// Reads the body of `PATCH /webhooks/subscriptions/{id}`.
pub(crate) fn subscription_patch(body: &Node<'_>, reach: Reach) -> Result<SubscriptionPatch, Fault> {
    let body = Given::body(body)?;
    if let Some(secret) = body.member("secret") {
        let problem = "is changed by POST /ojs/v1/webhooks/subscriptions/{id}/rotate-secret";
        return Err(Fault::new(secret.place, problem));
    }
    body.expect_only(PATCHED)?;
    let Filters { queues, job_types } = filters(&body)?;
    Ok(SubscriptionPatch {
        endpoint: body.member("url").map(|given| read_url(&given, reach)).transpose()?,
        events: body.member("events").map(|given| read_events(&given)).transpose()?,
        queues,
        job_types,
        active: body.member("active").map(|given| given.flag()).transpose()?,
        metadata: body.member("metadata").map(|given| read_metadata(&given)).transpose()?,
    })
}

/// Reads the body of `POST /webhooks/subscriptions/{id}/rotate-secret`, which need not be there.
pub(crate) fn rotation(body: &[u8]) -> Result<Option<Secret>, Fault> {
    if body.is_empty() {
        return Ok(None);
    }
    let body = super::read(body)?;
    let body = Given::body(&body)?;
    body.expect_only(&["secret"])?;
    body.member("secret").map(|given| read_secret(&given)).transpose()
}

/// Which deliveries to list, after which to go on, and how many.
pub(crate) fn deliveries(uri: &Uri) -> Result<(DeliveryFilter, Option<Box<str>>, usize), Fault> {
    read_query(uri, |query| {
        let no_id = |_| fault("subscription_id", "must be the id of a subscription");
        let subscription = query.get("subscription_id").map(|text| text.parse().map_err(no_id));
        let subscription = subscription.transpose()?;
        let shelf = query.get("status").map(|text| match text {
            "pending" => Ok(Shelf::Pending),
            "delivered" | "success" => Ok(Shelf::Delivered),
            "dead" | "failed" => Ok(Shelf::Dead),
            _ => Err(fault("status", "must be pending, delivered or dead")),
        });
        let shelf = shelf.transpose()?;
        if shelf.is_some() && subscription.is_none() {
            return Err(fault("status", "needs subscription_id beside it"));
        }
        let filter = DeliveryFilter { subscription, shelf };
        Ok((filter, query.get("cursor").map(Box::from), uncounted_limit(query, LIMIT_DEFAULT)?))
    })
}

fn read_url(given: &Given<'_, '_>, reach: Reach) -> Result<Endpoint, Fault> {
    let text = given.text("an http or https URL")?;
    Endpoint::parse(text, reach).map_err(|error| Fault::new(given.place, error))
}

fn read_events(given: &Given<'_, '_>) -> Result<Vec<Pattern>, Fault> {
    let names = short_list(given)?;
    if names.is_empty() {
        return Err(Fault::new(given.place, "must name at least one event; \"*\" means all"));
    }
    let read = |(index, name): (usize, &str)| {
        let place = Place::Item(&given.place, index);
        let pattern = Pattern::parse(kind_of_event(name)).map_err(|error| Fault::new(place, error))?;
        // A misspelt name would be waited for in vain.
        if sent().any(|kind| pattern.matches(kind)) {
            return Ok(pattern);
        }
        Err(Fault::unknown(place, "event", name, &sent().collect::<Vec<_>>()))
    };
    let mut events: Vec<Pattern> = Vec::with_capacity(names.len());
    for pattern in names.iter().map(AsRef::as_ref).enumerate().map(read) {
        let pattern = pattern?;
        // Two aliases may mean the same event.
        if !events.contains(&pattern) {
            events.push(pattern);
        }
    }
    Ok(events)
}

/// The events that webhooks tell of.
fn sent() -> impl Iterator<Item = &'static str> {
    EventKind::ALL.into_iter().filter(|kind| kind.goes_to_webhooks()).map(EventKind::name)
}

struct Filters {
    queues: Option<Vec<QueueName>>,
    job_types: Option<Vec<JobType>>,
}

/// Under `filter`, as the document has it, or beside the rest.
fn filters(body: &Given<'_, '_>) -> Result<Filters, Fault> {
    let filter = body.member("filter");
    let object = match &filter {
        Some(filter) => {
            filter.expect_object("an object with queues or job_types")?;
            filter.expect_only(FILTERS)?;
            if let Some(twice) = FILTERS.iter().find_map(|name| body.member(name)) {
                return Err(Fault::new(
                    twice.place,
                    "stands beside filter; put it there, or leave filter out",
                ));
            }
            filter
        }
        None => body,
    };
    let queues = object.member("queues").map(|given| read_names(&given, QueueName::parse));
    let job_types = object.member("job_types").map(|given| read_names(&given, JobType::parse));
    Ok(Filters { queues: queues.transpose()?, job_types: job_types.transpose()? })
}

fn read_names<T, E: std::fmt::Display>(
    given: &Given<'_, '_>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Result<Vec<T>, Fault> {
    let names = short_list(given)?;
    let read = |(index, name): (usize, &str)| {
        parse(name).map_err(|error| Fault::new(Place::Item(&given.place, index), error))
    };
    names.iter().map(AsRef::as_ref).enumerate().map(read).collect()
}

fn short_list(given: &Given<'_, '_>) -> Result<Vec<Box<str>>, Fault> {
    let names = given.names()?;
    if names.len() > NAMES_MAX {
        return Err(Fault::new(given.place, format_args!("must have at most {NAMES_MAX} items")));
    }
    Ok(names)
}

/// Whatever is wrong with it, it is not repeated.
fn read_secret(given: &Given<'_, '_>) -> Result<Secret, Fault> {
    Secret::parse(given.text("a text")?).map_err(|error| Fault::new(given.place, error))
}

fn read_metadata(given: &Given<'_, '_>) -> Result<Json, Fault> {
    given.expect_object("an object")?;
    if given.node.raw.len() > METADATA_BYTES_MAX {
        return Err(Fault::new(given.place, format_args!("must have at most {METADATA_BYTES_MAX} bytes")));
    }
    Ok(given.node.to_json())
}
