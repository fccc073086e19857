//! Every text with rules: what is accepted must be what is printed again.

use hapax_core::unique::Key;
use hapax_core::{JobId, JobType, LeaseToken, QueueName, Timestamp, WorkerId, format_iso8601, parse_iso8601};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(moment) = Timestamp::parse(text) {
        assert_eq!(Timestamp::parse(&moment.to_string()), Ok(moment));
    }
    if let Ok(span) = parse_iso8601(text) {
        assert_eq!(parse_iso8601(&format_iso8601(span)), Ok(span));
    }
    if let Ok(id) = text.parse::<JobId>() {
        assert_eq!(id.to_string(), text);
    }
    if let Ok(token) = text.parse::<LeaseToken>() {
        assert_eq!(token.to_string(), text);
    }
    if let Ok(key) = text.parse::<Key>() {
        assert_eq!(key.to_string(), text);
    }
    if let Ok(kind) = JobType::parse(text) {
        assert_eq!(kind.as_str(), text);
    }
    if let Ok(queue) = QueueName::parse(text) {
        assert_eq!(queue.as_str(), text);
    }
    if let Some(worker) = WorkerId::parse(text) {
        assert_eq!(worker.as_str(), text);
    }
}
