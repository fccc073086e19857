//! What an answer to a delivery means.

use std::time::Duration;

/// How long an endpoint may ask to be left alone.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// An HTTP answer.
    Answered {
        /// Its status.
        status: u16,
        /// How long the endpoint asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// None: the name was not found, nobody listened, the certificate was not good, or it took too long.
    Failed(Box<str>),
}

/// What a response means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It arrived.
    Delivered,
    /// It may arrive later.
    Retry {
        /// Not before so long.
        not_before: Duration,
    },
    /// The endpoint does not want it.
    Refused,
}

impl Response {
    /// What it means. Redirects count as failures: where they lead, nobody has subscribed.
    pub fn verdict(&self) -> Verdict {
        match self {
            Response::Answered { status: 200..=299, .. } => Verdict::Delivered,
            Response::Answered { status: 408 | 429 | 500..=599, retry_after } => {
                Verdict::Retry { not_before: retry_after.unwrap_or_default().min(RETRY_AFTER_MAX) }
            }
            Response::Answered { status: 400..=499, .. } => Verdict::Refused,
            Response::Answered { .. } | Response::Failed(_) => Verdict::Retry { not_before: Duration::ZERO },
        }
    }

    /// The status, if there was an answer.
    pub fn status(&self) -> Option<u16> {
        match self {
            Response::Answered { status, .. } => Some(*status),
            Response::Failed(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16) -> Verdict {
        Response::Answered { status, retry_after: None }.verdict()
    }

    #[test]
    fn what_the_endpoint_does_not_want_is_not_sent_again() {
        for status in [200, 201, 204, 299] {
            assert_eq!(of(status), Verdict::Delivered, "{status}");
        }
        for status in [400, 401, 403, 404, 410, 422, 451, 499] {
            assert_eq!(of(status), Verdict::Refused, "{status}");
        }
        for status in [100, 301, 302, 307, 308, 408, 429, 500, 502, 503, 599, 600] {
            assert_eq!(of(status), Verdict::Retry { not_before: Duration::ZERO }, "{status}");
        }
        let broken = Response::Failed("connection refused".into());
        assert_eq!(broken.verdict(), Verdict::Retry { not_before: Duration::ZERO });
    }

    #[test]
    fn an_endpoint_may_ask_for_time_but_not_for_ever() {
        let asks = |secs| Response::Answered { status: 429, retry_after: Some(Duration::from_secs(secs)) };
        assert_eq!(asks(90).verdict(), Verdict::Retry { not_before: Duration::from_secs(90) });
        assert_eq!(asks(u64::MAX).verdict(), Verdict::Retry { not_before: RETRY_AFTER_MAX });
    }
}
