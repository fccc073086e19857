//! Webhooks.

use axum::http::Method;
use hapax_wire::error::Code;

use crate::from_wire::bounds::{ENTRY_OFFSET_MAX, LIMIT_DEFAULT};
use crate::openapi::operation::{Operation, delete, get, patch, post};
use crate::openapi::parameter::{counted, cursor, query, uncounted};
use crate::openapi::shape::{choice, named, text};
use crate::openapi::shapes::delivery_steps;

pub(super) fn operations() -> Vec<Operation> {
    let statuses = choice(delivery_steps().into_iter().chain(["success", "failed"]));
    vec![
        get("/ojs/v1/webhooks/subscriptions", "List subscriptions, the oldest first")
            .with(counted(ENTRY_OFFSET_MAX))
            .with([cursor()])
            .gives(200, "A page of subscriptions.", "Subscriptions"),
        post("/ojs/v1/webhooks/subscriptions", "Subscribe to events")
            .takes(named("SubscriptionWish"))
            .gives(201, "The subscription, with its secret.", "SecretSubscription")
            .fails([Code::Conflict]),
        get("/ojs/v1/webhooks/subscriptions/{id}", "Look at a subscription")
            .gives(200, "The subscription, and how its deliveries stand.", "ShownSubscription")
            .fails([Code::NotFound]),
        patch("/ojs/v1/webhooks/subscriptions/{id}", "Change a subscription")
            .details("What is not named stays as it is, with either method.")
            .also(Method::PUT, "/ojs/v1/webhooks/subscriptions/{id}")
            .takes(named("SubscriptionPatch"))
            .gives(200, "The subscription.", "ChangedSubscription")
            .fails([Code::NotFound]),
        delete("/ojs/v1/webhooks/subscriptions/{id}", "Unsubscribe")
            .gives(200, "It is gone, and what was on its way.", "RemovedSubscription")
            .fails([Code::NotFound]),
        post("/ojs/v1/webhooks/subscriptions/{id}/test", "Send a test event right away")
            .gives(200, "What the endpoint answered.", "WebhookTest")
            .fails([Code::NotFound, Code::BackendUnavailable]),
        post("/ojs/v1/webhooks/subscriptions/{id}/rotate-secret", "Give a subscription another secret")
            .details("The one before signs as well for a while.")
            .may_take(named("RotationWish"))
            .gives(200, "The subscription, with its secret.", "SecretSubscription")
            .fails([Code::NotFound]),
        get("/ojs/v1/webhooks/deliveries", "List deliveries, the newest first")
            .with([
                query("subscription_id", "Of this subscription.", text()),
                query("status", "At this step; needs `subscription_id`.", statuses),
            ])
            .with(uncounted(LIMIT_DEFAULT))
            .gives(200, "A page of deliveries.", "Deliveries")
            .fails([Code::NotFound]),
        get("/ojs/v1/webhooks/deliveries/{id}", "Look at a delivery and what it carries")
            .gives(200, "The delivery.", "ShownDelivery")
            .fails([Code::NotFound]),
        post("/ojs/v1/webhooks/deliveries/{id}/retry", "Deliver again")
            .gives(200, "The delivery.", "ShownDelivery")
            .fails([Code::NotFound, Code::Conflict]),
    ]
}
