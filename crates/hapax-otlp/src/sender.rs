//! One batch on its way: again and again for a while, as far as the collector leaves that open.

use std::sync::Arc;
use std::time::Duration;

use hapax_core::webhook::Response;

use crate::batch::Batch;
use crate::collector::Collector;

/// The pauses between attempts. After the last one a batch is given up: what happens meanwhile matters more.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];
/// How long a collector may ask to be left alone.
const RETRY_AFTER_MAX: Duration = Duration::from_mins(1);

/// Sends batches.
#[derive(Debug)]
pub(crate) struct Sender {
    collector: Arc<dyn Collector>,
}

/// What an answer means (OTLP, "Failures").
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Taken,
    /// Not now.
    Later {
        not_before: Duration,
        why: Box<str>,
    },
    /// Never.
    Refused(Box<str>),
}

impl Sender {
    pub(crate) fn new(collector: Arc<dyn Collector>) -> Sender {
        Sender { collector }
    }

    /// Sends a batch until it is taken, refused, or given up; why it was not taken.
    pub(crate) async fn send(&self, batch: &Batch) -> Result<(), Box<str>> {
        let mut pauses = PAUSES.into_iter();
        loop {
            match (self.try_once(batch).await, pauses.next()) {
                (Fate::Taken, _) => return Ok(()),
                (Fate::Refused(why), _) | (Fate::Later { why, .. }, None) => return Err(why),
                (Fate::Later { not_before, why: _ }, Some(usual)) => pause(usual.max(not_before)).await,
            }
        }
    }

    /// Sends a batch once.
    pub(crate) async fn try_once(&self, batch: &Batch) -> Fate {
        fate(self.collector.take(batch.body.clone()).await)
    }
}

fn fate(response: Response) -> Fate {
    match response {
        Response::Answered { status: 200..=299, .. } => Fate::Taken,
        Response::Answered { status: status @ (429 | 502 | 503 | 504), retry_after } => Fate::Later {
            not_before: retry_after.unwrap_or_default().min(RETRY_AFTER_MAX),
            why: answered(status),
        },
        Response::Answered { status, .. } => Fate::Refused(answered(status)),
        Response::Failed(why) => Fate::Later { not_before: Duration::ZERO, why },
    }
}

fn answered(status: u16) -> Box<str> {
    format!("the collector answered with status {status}").into()
}

#[expect(clippy::disallowed_methods, reason = "nobody but the exporter waits here, and only for a collector")]
async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::testing::Scripted;

    fn answer(status: u16) -> Response {
        Response::Answered { status, retry_after: None }
    }

    /// How it went, how often the collector was asked, and how many seconds that took.
    async fn sent(answers: Vec<Response>) -> (Result<(), Box<str>>, usize, u64) {
        let (collector, start) = (Arc::new(Scripted::new(answers)), Instant::now());
        let batch = Batch { body: "{}".into(), spans: 1 };
        let sent = Sender::new(Arc::clone(&collector) as _).send(&batch).await;
        (sent, collector.taken().len(), start.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_collector_cannot_take_now_is_sent_again_after_growing_pauses() {
        assert_eq!(sent(vec![answer(200)]).await, (Ok(()), 1, 0));
        for busy in [answer(429), answer(502), answer(503), answer(504), Response::Failed("gone".into())] {
            let answers = vec![busy.clone(), busy.clone(), busy, answer(202)];
            assert_eq!(sent(answers).await, (Ok(()), 4, 1 + 2 + 4));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_collector_is_left_alone_for_as_long_as_it_asks_within_reason() {
        let asks = |secs| Response::Answered { status: 429, retry_after: Some(Duration::from_secs(secs)) };
        assert_eq!(sent(vec![asks(7), answer(200)]).await, (Ok(()), 2, 7));
        assert_eq!(sent(vec![asks(0), answer(200)]).await, (Ok(()), 2, 1));
        assert_eq!(sent(vec![asks(86_400), answer(200)]).await, (Ok(()), 2, 60));
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_collector_does_not_want_is_not_sent_again() {
        for status in [301, 400, 401, 404, 413, 500, 501] {
            let why = format!("the collector answered with status {status}").into();
            assert_eq!(sent(vec![answer(status)]).await, (Err(why), 1, 0));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_is_given_up_after_half_a_minute() {
        let gone = || Response::Failed("the connection could not be made".into());
        let answers = (0..10).map(|_| gone()).collect();
        let why = "the connection could not be made".into();
        assert_eq!(sent(answers).await, (Err(why), 6, 31));
    }
}
