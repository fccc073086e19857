//! How far the work on a job has come, and from where its next attempt can go on.

use crate::{Json, Timestamp};

/// A share of the whole, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Fraction(f64);

impl Fraction {
    /// Nothing yet.
    pub const NONE: Fraction = Fraction(0.0);
    /// All of it.
    pub const ALL: Fraction = Fraction(1.0);

    /// The share nearest to the number. A worker that miscounts is not worth an error (Progress 5.1).
    pub fn clamped(number: f64) -> Fraction {
        if number > 0.0 { Fraction(number.min(1.0)) } else { Fraction::NONE }
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// What a worker said about how far it has come in the newest attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How far. Never less than it was said before in the same attempt.
    pub value: Option<Fraction>,
    /// The newest report's words.
    pub message: Option<Box<str>>,
    /// The newest report's facts, as sent.
    pub data: Option<Json>,
    /// When it was said.
    pub updated_at: Timestamp,
}

impl Progress {
    /// Longest message, in bytes.
    pub const MESSAGE_BYTES_MAX: usize = 4096;
    /// Longest facts, in bytes: they are written again at every step of the job.
    pub const DATA_BYTES_MAX: usize = 64 << 10;

    /// What is known after a report.
    pub(crate) fn after(before: Option<&Progress>, report: Report, now: Timestamp) -> Progress {
        let Report { value, message, data, checkpoint: _ } = report;
        let so_far = before.and_then(|before| before.value);
        let value = match (so_far, value) {
            (Some(so_far), Some(value)) if value < so_far => Some(so_far),
            (so_far, value) => value.or(so_far),
        };
        Progress { value, message, data, updated_at: now }
    }

    /// The same for a job that is done.
    pub(crate) fn completed(self, now: Timestamp) -> Progress {
        Progress { value: Some(Fraction::ALL), updated_at: now, ..self }
    }
}

/// What a worker reports on its way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// How far it has come.
    pub value: Option<Fraction>,
    /// In words.
    pub message: Option<Box<str>>,
    /// In facts.
    pub data: Option<Json>,
    /// From where another could go on.
    pub checkpoint: Option<Json>,
}

/// From where the next attempt can go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// What the worker needs for that, as sent.
    pub state: Json,
    /// What it wrote beside it, as one object: `step_index` and `metadata` of the official SDKs.
    pub notes: Json,
    /// The how-manieth it is, from 1; a removal starts the count again.
    pub sequence: u64,
    /// When it was saved.
    pub saved_at: Timestamp,
}

impl Checkpoint {
    /// Longest state with its notes, in bytes (Durable Execution 9.1).
    pub const BYTES_MAX: usize = 1 << 20;

    /// The one that takes the place of the one before.
    pub(crate) fn after(before: Option<&Checkpoint>, state: Json, notes: Json, now: Timestamp) -> Checkpoint {
        let sequence = before.map_or(1, |before| before.sequence.saturating_add(1));
        Checkpoint { state, notes, sequence, saved_at: now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    fn report(value: f64) -> Report {
        Report { value: Some(Fraction::clamped(value)), ..Report::default() }
    }

    #[test]
    fn numbers_beyond_the_ends_are_the_ends() {
        for (given, kept) in [(-0.5, 0.0), (-0.0, 0.0), (0.47, 0.47), (1.5, 1.0), (f64::NAN, 0.0)] {
            assert_eq!(Fraction::clamped(given).get().to_bits(), f64::to_bits(kept), "{given}");
        }
    }

    #[test]
    fn the_number_never_goes_back_but_the_words_are_the_newest() {
        let first = Report { message: Some("reading".into()), ..report(0.8) };
        let first = Progress::after(None, first, at(1));
        let second = Report { message: Some("again".into()), ..report(0.2) };
        let second = Progress::after(Some(&first), second, at(2));
        assert_eq!((second.value, second.message.as_deref()), (Some(Fraction(0.8)), Some("again")));
        let third = Progress::after(Some(&second), Report::default(), at(3));
        assert_eq!((third.value, third.message, third.updated_at), (Some(Fraction(0.8)), None, at(3)));
    }

    #[test]
    fn checkpoints_are_counted() {
        let state = |text| Json::from_trusted(text);
        let first = Checkpoint::after(None, state("1"), Json::empty_object(), at(1));
        let second = Checkpoint::after(Some(&first), state("2"), Json::empty_object(), at(2));
        assert_eq!((first.sequence, second.sequence, second.state.as_str()), (1, 2, "2"));
    }
}
