//! Subscriptions and deliveries: wrapped, as the suite wants them, and flat, as the document shows them.

use axum::http::StatusCode;
use hapax_broker::{DeliveryPage, OUTBOX_MAX, Probe, SubscriptionPage, SubscriptionView};
use hapax_core::Timestamp;
use hapax_core::webhook::{Attempt, Delivery, Pattern, Response, Step, Subscription, Verdict};
use hapax_core::{JobType, QueueName};
use hapax_store::record::courier::Courier;
use hapax_wire::writer::{self, Object};

use super::pagination;
use crate::from_wire::Listing;
use crate::reply::Reply;

/// A subscription that was made. Only here and after a rotation its secret is shown.
pub(crate) fn created(subscription: &Subscription) -> Reply {
    Reply::json(StatusCode::CREATED, with_secret(subscription))
}

/// A subscription with its secret.
pub(crate) fn with_secret(subscription: &Subscription) -> Vec<u8> {
    wrapped(|o| {
        members(o, subscription);
        o.text("secret", subscription.secret.reveal());
        if let Some((_, until)) = &subscription.previous_secret {
            o.moment("previous_secret_expires_at", *until);
        }
    })
}

/// A subscription.
pub(crate) fn one(subscription: &Subscription) -> Vec<u8> {
    wrapped(|o| members(o, subscription))
}

/// A subscription, and how its deliveries go.
pub(crate) fn shown(view: &SubscriptionView, now: Timestamp) -> Vec<u8> {
    wrapped(|o| {
        members(o, &view.subscription);
        newest_attempt(o, &view.courier);
        delivery_members(o, view, now);
    })
}

/// A subscription that was removed.
pub(crate) fn removed(subscription: &Subscription) -> Vec<u8> {
    wrapped(|o| {
        members(o, subscription);
        o.flag("deleted", true);
    })
}

/// A page of subscriptions.
pub(crate) fn list(page: &SubscriptionPage, listing: Listing) -> Vec<u8> {
    let SubscriptionPage { subscriptions, has_more, total } = page;
    let mut out = Vec::with_capacity(256 + 1024 * subscriptions.len());
    writer::object(&mut out, |o| {
        // The second is where the official admin UI looks.
        for name in ["subscriptions", "items"] {
            o.array(name, subscriptions, |(subscription, courier), out| {
                writer::object(out, |o| {
                    members(o, subscription);
                    newest_attempt(o, courier);
                });
            });
        }
        let last = subscriptions.last().filter(|_| *has_more);
        let next = last.map(|(subscription, _)| subscription.id.to_string());
        pagination::listed(o, listing, Some(*total), next.as_deref());
    });
    out
}

/// How the newest attempt went, and how many have failed since one arrived: what the official admin UI shows.
fn newest_attempt(o: &mut Object<'_>, courier: &Courier) {
    o.number("failure_count", courier.circuit.failures);
    if let Some((at, status)) = courier.last {
        o.moment("last_delivery_at", at);
        o.number_if("last_delivery_status", status);
    }
}

/// How an endpoint answered to a test. What it said is not shown: it may be a neighbour of the server.
pub(crate) fn probed(probe: &Probe) -> Vec<u8> {
    let Probe { response, took } = probe;
    let mut out = Vec::with_capacity(256);
    writer::object(&mut out, |o| {
        o.flag("success", response.verdict() == Verdict::Delivered);
        // The official admin UI reads the second.
        for name in ["status_code", "status"] {
            o.number_if(name, response.status());
        }
        o.number("response_time_ms", took.as_millis());
        if let Response::Failed(error) = response {
            o.text("error", error);
        }
    });
    out
}

/// A delivery.
pub(crate) fn delivery(delivery: &Delivery) -> Vec<u8> {
    let mut out = Vec::with_capacity(2048);
    writer::object(&mut out, |o| {
        o.twice("delivery", |o| {
            of_delivery(o, delivery);
            o.raw("event", &delivery.event);
        });
    });
    out
}

/// A page of deliveries, without their events.
pub(crate) fn deliveries(page: &DeliveryPage, limit: usize) -> Vec<u8> {
    let DeliveryPage { deliveries, next, total } = page;
    let mut out = Vec::with_capacity(256 + 512 * deliveries.len());
    writer::object(&mut out, |o| {
        o.array("deliveries", deliveries, |delivery, out| writer::object(out, |o| of_delivery(o, delivery)));
        o.object("pagination", |o| {
            o.number("total", total);
            o.number("limit", limit);
            o.flag("has_more", next.is_some());
            o.text_if("next_cursor", next.as_deref());
        });
    });
    out
}

fn wrapped(fill: impl Fn(&mut Object<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    writer::object(&mut out, |o| o.twice("subscription", fill));
    out
}

fn members(o: &mut Object<'_>, subscription: &Subscription) {
    let Subscription {
        id,
        endpoint,
        events,
        queues,
        job_types,
        active,
        secret: _,
        previous_secret: _,
        metadata,
        created_at,
        updated_at,
    } = subscription;
    o.plain("id", id);
    o.text("url", endpoint.url());
    o.texts("events", events.iter().map(Pattern::as_str));
    if !queues.is_empty() || !job_types.is_empty() {
        o.object("filter", |o| {
            if !queues.is_empty() {
                o.texts("queues", queues.iter().map(QueueName::as_str));
            }
            if !job_types.is_empty() {
                o.texts("job_types", job_types.iter().map(JobType::as_str));
            }
        });
    }
    o.flag("active", *active);
    if let Some(metadata) = metadata {
        o.raw("metadata", metadata.as_str());
    }
    o.moment("created_at", *created_at);
    o.moment("updated_at", *updated_at);
}

fn delivery_members(o: &mut Object<'_>, view: &SubscriptionView, now: Timestamp) {
    let SubscriptionView { subscription, courier, pending, first_at: _ } = view;
    let Courier { circuit, dropped, last: _, sender: _ } = courier;
    let next_probe_at = view.next_probe_at(now);
    o.object("deliveries", |o| {
        o.word(
            "status",
            match (subscription.active, next_probe_at.is_some()) {
                (false, _) => "inactive",
                (true, true) => "paused",
                (true, false) => "active",
            },
        );
        o.number("pending", pending);
        o.number("pending_limit", OUTBOX_MAX);
        o.number("dropped", dropped);
        o.number("failures_in_a_row", circuit.failures);
        o.moment_if("next_probe_at", next_probe_at);
    });
}

fn of_delivery(o: &mut Object<'_>, delivery: &Delivery) {
    let Delivery { id, event_type, event: _, created_at, step, attempts, last } = delivery;
    o.plain("id", id);
    o.plain("subscription_id", id.subscription);
    o.text("event_type", event_type);
    o.word("status", step.name());
    o.number("attempts", attempts);
    o.moment("created_at", *created_at);
    match step {
        Step::Pending { next_at } => o.moment("next_attempt_at", *next_at),
        Step::Delivered { at } => o.moment("delivered_at", *at),
        Step::Dead { at } => o.moment("failed_at", *at),
    }
    if let Some(Attempt { at, took, status, error }) = last {
        o.object("last_attempt", |o| {
            o.moment("at", *at);
            o.number("response_time_ms", took.as_millis());
            o.number_if("status_code", *status);
            o.text_if("error", error.as_deref());
        });
    }
}
