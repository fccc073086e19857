//! Unique jobs over HTTP: what is a duplicate, and what becomes of it.

mod batches;
mod echo;
mod in_place;
mod keys;
mod ledger;
mod policies;
mod reentry;
mod refusals;
mod scenarios;
mod strategies;

use e2e::{Client, Delivery, FAR_FUTURE, Job};

/// A job that was brought into a state, with the delivery if a worker had it.
#[derive(Debug)]
struct Holder {
    id: String,
    delivery: Option<Delivery>,
}

impl Holder {
    /// Enqueues the job on a queue of its own and brings it into the state.
    #[track_caller]
    fn bring(client: &mut Client, job: &Job, queue: &str, state: &str) -> Holder {
        let job = job.clone().on(queue).retried(200_000, 5);
        let job = match state {
            "scheduled" => job.with("scheduled_at", FAR_FUTURE),
            "pending" => job.with("pending", true),
            _ => job,
        };
        let id = client.create(&job);
        let delivery = match state {
            "scheduled" | "available" | "pending" => None,
            "cancelled" => {
                client.cancel(&id).is(200);
                None
            }
            _ => Some(client.fetch_one(queue)),
        };
        if let Some(delivery) = &delivery {
            match state {
                "retryable" => client.nack(delivery).is(200).status,
                "completed" => client.ack(delivery).is(200).status,
                "discarded" => client.give_up(delivery).is(200).status,
                _ => 200,
            };
        }
        assert_eq!(client.state(&id), state);
        Holder { id, delivery }
    }
}
