//! A subscription: who is told of which events, and where.

use std::time::Duration;

use super::{Endpoint, Secret, SubscriptionId};
use crate::{JobType, Json, QueueName, Timestamp};

/// How long deliveries are signed with the secret before a rotation as well.
pub const ROTATION_OVERLAP: Duration = Duration::from_hours(24);

/// Somebody wants to be told.
#[derive(Debug, Clone, PartialEq)]
pub struct Subscription {
    /// Its name.
    pub id: SubscriptionId,
    /// Where to.
    pub endpoint: Endpoint,
    /// Of which kinds of event; at least one.
    pub events: Vec<Pattern>,
    /// Only of events in these queues; of all if there are none.
    pub queues: Vec<QueueName>,
    /// Only of events about jobs of these types; of all if there are none.
    pub job_types: Vec<JobType>,
    /// Whether events are kept for it and sent.
    pub active: bool,
    /// What deliveries are signed with.
    pub secret: Secret,
    /// What they were signed with before, and until when they are signed with it as well.
    pub previous_secret: Option<(Secret, Timestamp)>,
    /// For people: an object.
    pub metadata: Option<Json>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// Which kinds of event: one, all of one beginning (`job.*`), or all (`*`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Box<str>);

/// A text that is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be the name of an event such as \"job.completed\", a beginning such as \"job.*\", or \"*\"")]
pub struct PatternError;

impl Pattern {
    const LENGTH_MAX: usize = 100;

    /// Reads a pattern. Whether there is such an event is for the caller to say.
    pub fn parse(text: &str) -> Result<Pattern, PatternError> {
        let bare = if text == "*" { "" } else { text.strip_suffix(".*").unwrap_or(text) };
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._".contains(&byte);
        let is_fine = text.len() <= Pattern::LENGTH_MAX
            && bare.bytes().all(is_plain)
            && (text == "*" || bare.split('.').all(|part| !part.is_empty()));
        if is_fine { Ok(Pattern(text.into())) } else { Err(PatternError) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it means that kind of event.
    pub fn matches(&self, kind: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(beginning) => kind.starts_with(beginning),
            None => *self.0 == *kind,
        }
    }
}

impl Subscription {
    /// Whether it is to be told of an event of this kind, in this queue, about a job of this type.
    pub fn wants(&self, kind: &str, queue: Option<&QueueName>, job_type: Option<&JobType>) -> bool {
        self.active
            && self.events.iter().any(|pattern| pattern.matches(kind))
            && passes(&self.queues, queue)
            && passes(&self.job_types, job_type)
    }

    /// The signatures of a body: of the new secret first, and for a while after a rotation of the old one too.
    pub fn signatures(&self, now: Timestamp, unix_seconds: i64, body: &[u8]) -> String {
        let mut signatures = self.secret.sign(unix_seconds, body);
        if let Some((old, _)) = self.previous_secret.as_ref().filter(|(_, until)| *until > now) {
            signatures.push(',');
            signatures.push_str(&old.sign(unix_seconds, body));
        }
        signatures
    }

    /// With another secret from now on.
    #[must_use]
    pub fn rotated(&self, secret: Secret, now: Timestamp) -> Subscription {
        let previous_secret = Some((self.secret.clone(), now + ROTATION_OVERLAP));
        Subscription { secret, previous_secret, updated_at: now, ..self.clone() }
    }
}

/// A filter that names something lets nothing pass that has none of it.
fn passes<T: PartialEq>(wanted: &[T], found: Option<&T>) -> bool {
    wanted.is_empty() || found.is_some_and(|found| wanted.contains(found))
}

#[cfg(test)]
mod tests {
    use super::super::Reach;
    use super::*;

    fn subscription(events: &[&str]) -> Subscription {
        let now = Timestamp::from_millis(0);
        Subscription {
            id: SubscriptionId::new(now, [1; 10]),
            endpoint: Endpoint::parse("https://example.com/hook", Reach::Public).unwrap(),
            events: events.iter().map(|text| Pattern::parse(text).unwrap()).collect(),
            queues: Vec::new(),
            job_types: Vec::new(),
            active: true,
            secret: Secret::new([1; 32]),
            previous_secret: None,
            metadata: None,
            created_at: now,
            updated_at: now,
        }
    }

    #[test]
    fn patterns_name_one_kind_a_family_or_all() {
        let wants = |events: &[&str], kind| subscription(events).wants(kind, None, None);
        assert!(wants(&["job.completed"], "job.completed"));
        assert!(!wants(&["job.completed"], "job.completed_twice"));
        assert!(wants(&["queue.paused", "job.*"], "job.failed"));
        assert!(!wants(&["job.*"], "jobs.failed"));
        assert!(!wants(&["job.*"], "queue.paused"));
        assert!(wants(&["*"], "workflow.completed"));
    }

    #[test]
    fn other_texts_are_no_patterns() {
        for text in ["", "job.", ".job", "job*", "*.job", "Job.x", "job..x", "**", "job.*.x", "a b", ".*"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_event_must_pass_every_filter() {
        let (mails, other) = (QueueName::parse("mails").unwrap(), QueueName::parse("other").unwrap());
        let send = JobType::parse("mail.send").unwrap();
        let narrow = Subscription {
            queues: vec![mails.clone()],
            job_types: vec![send.clone()],
            ..subscription(&["job.*"])
        };
        assert!(narrow.wants("job.failed", Some(&mails), Some(&send)));
        assert!(!narrow.wants("job.failed", Some(&other), Some(&send)));
        assert!(!narrow.wants("job.failed", Some(&mails), None));
        assert!(!narrow.wants("cron.triggered", Some(&mails), Some(&send)));
        let asleep = Subscription { active: false, ..narrow };
        assert!(!asleep.wants("job.failed", Some(&mails), Some(&send)));
    }

    #[test]
    fn for_a_day_after_a_rotation_both_secrets_sign() {
        let now = Timestamp::from_millis(0);
        let old = subscription(&["*"]);
        let new = old.rotated(Secret::new([2; 32]), now);
        let both = new.signatures(now, 1, b"{}");
        let only = new.signatures(now + ROTATION_OVERLAP, 1, b"{}");
        assert_eq!(both, format!("{},{}", new.secret.sign(1, b"{}"), old.secret.sign(1, b"{}")));
        assert_eq!(only, new.secret.sign(1, b"{}"));
    }
}
