//! Webhooks: subscriptions and deliveries.

use hapax_core::webhook::Step;
use hapax_core::{State, Timestamp};

use super::Named;
use crate::from_wire::bounds::SUBSCRIPTION_NAMES_MAX;
use crate::openapi::shape::{
    Member, Shape, all, any_object, choice, count, flag, formatted, integer, list, may, moment, named, needs,
    object, text, texts, twice,
};

pub(super) fn shapes() -> Vec<Named> {
    let with = |members: Vec<Member>| twice("subscription", &all([named("Subscription"), object(members)]));
    let secret = vec![
        needs("secret", text().about("Signs what is sent; no other answer shows it.")),
        may("previous_secret_expires_at", moment()),
    ];
    let listed = || list(all([named("Subscription"), object(newest_attempt())]));
    let subscriptions = [
        needs("subscriptions", listed()),
        needs("items", listed().about("The same as `subscriptions`.")),
        needs("pagination", named("Pagination")),
    ];
    let shown = newest_attempt().into_iter().chain([needs("deliveries", courier())]);
    let deliveries = [needs("deliveries", list(named("Delivery"))), needs("pagination", named("Pagination"))];
    let delivery = all([named("Delivery"), object([needs("event", named("Event"))])]);
    vec![
        ("SubscriptionWish", wish()),
        ("SubscriptionPatch", object(changeable()).only()),
        ("RotationWish", object([may("secret", text())]).only()),
        ("Subscription", subscription()),
        ("Subscriptions", object(subscriptions)),
        ("SecretSubscription", with(secret)),
        ("ChangedSubscription", twice("subscription", &named("Subscription"))),
        ("ShownSubscription", with(shown.collect())),
        ("RemovedSubscription", with(vec![needs("deleted", flag())])),
        ("WebhookTest", test()),
        ("Delivery", self::delivery()),
        ("Deliveries", object(deliveries)),
        ("ShownDelivery", twice("delivery", &delivery)),
    ]
}

fn events() -> Shape {
    texts()
        .items_min(1)
        .items_max(SUBSCRIPTION_NAMES_MAX)
        .about("Kinds of events; `queue.*` means all of them, `*` everything.")
}

fn changeable() -> Vec<Member> {
    let names = || texts().items_max(SUBSCRIPTION_NAMES_MAX);
    vec![
        may("url", formatted("uri")),
        may("events", events()),
        may("filter", object([may("queues", names()), may("job_types", names())]).only()),
        may("queues", names().about("As in `filter`.")),
        may("job_types", names().about("As in `filter`.")),
        may(State::Active.name(), flag()),
        may("metadata", any_object()),
    ]
}

fn wish() -> Shape {
    let own = [needs("url", formatted("uri")), needs("events", events()), may("secret", text())];
    let rest = changeable().into_iter().skip(2);
    object(own.into_iter().chain(rest)).only()
}

fn subscription() -> Shape {
    object([
        needs("id", text()),
        needs("url", formatted("uri")),
        needs("events", texts()),
        may("filter", object([may("queues", texts()), may("job_types", texts())])),
        needs(State::Active.name(), flag()),
        may("metadata", any_object()),
        needs("created_at", moment()),
        needs("updated_at", moment()),
    ])
}

fn courier() -> Shape {
    object([
        needs("status", choice(["inactive", "paused", State::Active.name()])),
        needs(State::Pending.name(), count()),
        needs("pending_limit", count()),
        needs("dropped", count()),
        needs("failures_in_a_row", count()),
        may("next_probe_at", moment()),
    ])
}

fn newest_attempt() -> Vec<Member> {
    vec![
        needs("failure_count", count().about("How many attempts have failed since one arrived.")),
        may("last_delivery_at", moment().about("When the newest attempt was made.")),
        may("last_delivery_status", integer().about("What the endpoint answered, if it did.")),
    ]
}

fn test() -> Shape {
    object([
        needs("success", flag()),
        may("status_code", integer()),
        may("status", integer().about("The same as `status_code`.")),
        needs("response_time_ms", count()),
        may("error", text()),
    ])
}

/// The names of the steps of a delivery.
pub(in crate::openapi) fn steps() -> [&'static str; 3] {
    let at = Timestamp::MAX;
    [Step::Pending { next_at: at }, Step::Delivered { at }, Step::Dead { at }].map(Step::name)
}

fn delivery() -> Shape {
    let attempt = object([
        needs("at", moment()),
        needs("response_time_ms", count()),
        may("status_code", integer()),
        may("error", text()),
    ]);
    object([
        needs("id", text()),
        needs("subscription_id", text()),
        needs("event_type", named("EventKind")),
        needs("status", choice(steps())),
        needs("attempts", count()),
        needs("created_at", moment()),
        may("next_attempt_at", moment()),
        may("delivered_at", moment()),
        may("failed_at", moment()),
        may("last_attempt", attempt),
    ])
}
