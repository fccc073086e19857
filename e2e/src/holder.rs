//! A job that a test brings into a state, to stand against others.

use crate::{Client, Delivery, FAR_FUTURE, Job, clock};

/// A job in the state that a test wants, with the delivery if a worker had it.
#[derive(Debug)]
pub struct Holder {
    /// The job's id.
    pub id: String,
    /// The last delivery of it, if there was one.
    pub delivery: Option<Delivery>,
}

impl Holder {
    /// Enqueues the job on a queue of its own and brings it into the state.
    #[track_caller]
    pub fn bring(client: &mut Client, job: &Job, queue: &str, state: &str) -> Holder {
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

    /// Enqueues the job on a queue of its own, lets it fail once, and waits until it is available again.
    #[track_caller]
    pub fn bring_tried(client: &mut Client, job: &Job, queue: &str) -> Holder {
        let id = client.create(&job.clone().on(queue).retried(1, 5));
        let delivery = client.fetch_one(queue);
        client.nack(&delivery).is(200);
        clock::until("the next attempt is due", clock::SOON, || client.state(&id) == "available");
        Holder { id, delivery: Some(delivery) }
    }

    /// The delivery of a holder that a worker had.
    #[track_caller]
    pub fn delivery(&self) -> &Delivery {
        self.delivery.as_ref().unwrap_or_else(|| panic!("no worker had {}", self.id))
    }
}
