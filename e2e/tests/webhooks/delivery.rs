//! What arrives, and what is done about what does not.

use e2e::clock::{self, SOON};
use e2e::receiver::{Manner, Receiver};
use e2e::{Request, job};

use super::{SUBSCRIPTIONS, launch, state, subscribe, text, told};

#[test]
fn the_life_of_a_job_arrives_signed_and_in_order() {
    let server = launch().start();
    let receiver = Receiver::start();
    let mut client = server.client();
    let subscription = subscribe(&mut client, &receiver, &["job.*"]);
    let id = client.create(&job("mail.send"));
    let body = r#"{"queues":["default"],"worker_id":"w"}"#;
    client.send(&Request::post("/ojs/v1/workers/fetch", body)).is(200);
    client.send(&Request::post("/ojs/v1/workers/ack", format!(r#"{{"job_id":"{id}"}}"#))).is(200);
    clock::until("three events arrive", SOON, || receiver.arrivals().len() >= 3);
    let arrivals = receiver.arrivals();
    let kinds = ["job.enqueued", "job.started", "job.completed"];
    assert_eq!(told(&arrivals), kinds.map(|kind| (id.clone(), kind.to_owned())));
    for (arrival, kind) in arrivals.iter().zip(kinds) {
        assert_eq!(arrival.header("x-ojs-event-type"), kind);
        assert_eq!(arrival.header("x-ojs-subscription-id"), text(&subscription["id"]));
        assert_eq!(arrival.header("content-type"), "application/json");
        assert!(arrival.header("x-ojs-timestamp").parse::<u64>().is_ok());
        let signature = arrival.header("x-ojs-signature");
        assert!(signature.starts_with("sha256=") && signature.len() == 71, "{signature}");
    }
    let tested =
        client.send(&Request::post(&format!("{SUBSCRIPTIONS}/{}/test", text(&subscription["id"])), ""));
    assert_eq!((&tested.is(200)["success"], &tested["status_code"]), (&true.into(), &200.into()));
    assert_eq!(receiver.arrivals()[3].header("x-ojs-event-type"), "webhook.test");
}

#[test]
fn what_fails_waits_in_order_and_is_sent_again_by_hand_at_once() {
    let server = launch().start();
    let receiver = Receiver::start();
    let mut client = server.client();
    let subscription = subscribe(&mut client, &receiver, &["job.enqueued"]);
    for manner in [Manner::Answers(500), Manner::Answers(429), Manner::HangsUp] {
        receiver.behave(manner);
        let before = receiver.arrivals().len();
        let ids: Vec<String> = (0..3).map(|_| client.create(&job("a.b"))).collect();
        clock::until("the first is tried", SOON, || receiver.arrivals().len() > before);
        clock::until("that is known", SOON, || state(&mut client, &subscription)["failures_in_a_row"] == 1);
        assert_eq!(state(&mut client, &subscription)["pending"], 3);
        receiver.behave(Manner::Answers(204));
        let waiting = client.get(&format!(
            "/ojs/v1/webhooks/deliveries?subscription_id={}&status=pending",
            text(&subscription["id"])
        ));
        let first = text(&waiting["deliveries"][0]["id"]);
        client.send(&Request::post(&format!("/ojs/v1/webhooks/deliveries/{first}/retry"), "")).is(200);
        clock::until("nothing waits", SOON, || state(&mut client, &subscription)["pending"] == 0);
        let arrivals = receiver.arrivals();
        assert_eq!(arrivals.len(), before + 4, "one was sent twice");
        assert_eq!(
            arrivals[before].header("x-ojs-delivery-id"),
            arrivals[before + 1].header("x-ojs-delivery-id"),
            "under the same name"
        );
        let subjects: Vec<String> = told(&arrivals[before..]).into_iter().map(|(id, _)| id).collect();
        assert_eq!(subjects, ids);
    }
}

#[test]
fn what_is_not_wanted_is_given_up_and_after_five_the_endpoint_is_left_in_peace() {
    let server = launch().start();
    let receiver = Receiver::start();
    receiver.behave(Manner::Answers(410));
    let mut client = server.client();
    let subscription = subscribe(&mut client, &receiver, &["job.enqueued"]);
    for _ in 0..8 {
        client.create(&job("a.b"));
    }
    clock::until("it is paused", SOON, || state(&mut client, &subscription)["status"] == "paused");
    let paused = state(&mut client, &subscription);
    assert_eq!((&paused["pending"], &paused["failures_in_a_row"]), (&3.into(), &5.into()));
    assert_eq!(receiver.arrivals().len(), 5);
    let events = client.get("/ojs/v1/events?types=webhook.dead");
    assert_eq!(events["events"].as_array().map(Vec::len), Some(5));
}

#[test]
fn an_endpoint_that_hangs_holds_up_neither_jobs_nor_other_endpoints_nor_the_end() {
    let mut server = launch().start();
    let (slow, quick) = (Receiver::start(), Receiver::start());
    slow.behave(Manner::Hangs);
    let mut client = server.client();
    subscribe(&mut client, &slow, &["*"]);
    subscribe(&mut client, &quick, &["*"]);
    for _ in 0..20 {
        client.create(&job("a.b"));
    }
    clock::until("the quick one has all", SOON, || quick.arrivals().len() == 20);
    assert_eq!(slow.arrivals().len(), 1);
    server.signal("TERM");
    assert_eq!(server.wait(SOON).code(), Some(0));
}
