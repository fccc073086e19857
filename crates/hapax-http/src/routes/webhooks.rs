//! Webhooks: subscriptions and deliveries.

use hapax_core::webhook::{DeliveryId, SubscriptionId};

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::webhook;

/// `POST /ojs/v1/webhooks/subscriptions`: makes one. The reply shows its secret, and no other does.
pub(crate) async fn create(call: Call) -> Result<Reply, Problem> {
    let draft = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::subscription(&body, call.broker().webhook_reach())?
    };
    Ok(webhook::created(&call.broker().add_subscription(draft).await?))
}

/// `GET /ojs/v1/webhooks/subscriptions`: those that there are, oldest first.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let (part, listing) = from_wire::named_or_counted(&call.uri)?;
    let page = call.broker().subscriptions(part.after.as_deref(), part.skipped, part.limit).await?;
    Ok(Reply::ok(webhook::list(&page, listing)))
}

/// `GET /ojs/v1/webhooks/subscriptions/{id}`: one of them, and how its deliveries go.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let view = call.broker().subscription(subscription_id(&call)?).await?;
    Ok(Reply::ok(webhook::shown(&view, call.broker().now())))
}

/// `PATCH /ojs/v1/webhooks/subscriptions/{id}`: changes what is named. The official admin UI calls it `PUT`.
pub(crate) async fn change(call: Call) -> Result<Reply, Problem> {
    let id = subscription_id(&call)?;
    let patch = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::subscription_patch(&body, call.broker().webhook_reach())?
    };
    Ok(Reply::ok(webhook::one(&call.broker().change_subscription(id, patch).await?)))
}

/// `DELETE /ojs/v1/webhooks/subscriptions/{id}`: removes it, with what was to be sent to it.
pub(crate) async fn remove(call: Call) -> Result<Reply, Problem> {
    let removed = call.broker().remove_subscription(subscription_id(&call)?).await?;
    Ok(Reply::ok(webhook::removed(&removed)))
}

/// `POST /ojs/v1/webhooks/subscriptions/{id}/test`: sends an event of type `webhook.test` at once.
pub(crate) async fn test(call: Call) -> Result<Reply, Problem> {
    let probe = call.broker().test_subscription(subscription_id(&call)?).await?;
    Ok(Reply::ok(webhook::probed(&probe)))
}

/// `POST /ojs/v1/webhooks/subscriptions/{id}/rotate-secret`: another secret, made or given.
pub(crate) async fn rotate_secret(call: Call) -> Result<Reply, Problem> {
    let id = subscription_id(&call)?;
    let secret = from_wire::rotation(&call.body.bytes)?;
    Ok(Reply::ok(webhook::with_secret(&call.broker().rotate_secret(id, secret).await?)))
}

/// `GET /ojs/v1/webhooks/deliveries`: deliveries of all subscriptions, or of one.
pub(crate) async fn deliveries(call: Call) -> Result<Reply, Problem> {
    let (filter, after, limit) = from_wire::deliveries(&call.uri)?;
    let page = call.broker().deliveries(filter, after.as_deref(), limit).await?;
    Ok(Reply::ok(webhook::deliveries(&page, limit)))
}

/// `GET /ojs/v1/webhooks/deliveries/{id}`: one of them, with its event.
pub(crate) async fn delivery(call: Call) -> Result<Reply, Problem> {
    let delivery = call.broker().delivery(delivery_id(&call)?).await?;
    Ok(Reply::ok(webhook::delivery(&delivery)))
}

/// `POST /ojs/v1/webhooks/deliveries/{id}/retry`: sends one again that was given up or waits.
pub(crate) async fn retry(call: Call) -> Result<Reply, Problem> {
    let delivery = call.broker().retry_delivery(delivery_id(&call)?).await?;
    Ok(Reply::ok(webhook::delivery(&delivery)))
}

fn subscription_id(call: &Call) -> Result<SubscriptionId, Problem> {
    call.parameter.parse().map_err(|_| Problem::no_resource("webhook", &call.parameter))
}

fn delivery_id(call: &Call) -> Result<DeliveryId, Problem> {
    call.parameter.parse().map_err(|_| Problem::no_resource("delivery", &call.parameter))
}
