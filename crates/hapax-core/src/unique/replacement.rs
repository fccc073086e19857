//! The fields of a holder that a duplicate overwrites in place.

use crate::State;

/// A field of a holder that a duplicate may overwrite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// The arguments.
    Args,
    /// The metadata.
    Meta,
    /// The priority.
    Priority,
    /// The queue.
    Queue,
    /// The start time.
    ScheduledAt,
    /// The labels.
    Tags,
    /// The number of attempts.
    MaxAttempts,
    /// The type.
    Type,
}

impl Field {
    /// Every field.
    pub const ALL: [Field; 8] = [
        Field::Args,
        Field::Meta,
        Field::Priority,
        Field::Queue,
        Field::ScheduledAt,
        Field::Tags,
        Field::MaxAttempts,
        Field::Type,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Field::Args => "args",
            Field::Meta => "meta",
            Field::Priority => "priority",
            Field::Queue => "queue",
            Field::ScheduledAt => "scheduled_at",
            Field::Tags => "tags",
            Field::MaxAttempts => "max_attempts",
            Field::Type => "type",
        }
    }
}

/// A set of fields in one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FieldSet(u8);

impl FieldSet {
    /// The set with one more field.
    #[must_use]
    pub const fn with(self, field: Field) -> FieldSet {
        FieldSet(self.0 | 1 << field as u8)
    }

    /// Whether the set names the field.
    pub const fn contains(self, field: Field) -> bool {
        self.0 & (1 << field as u8) != 0
    }

    /// Whether the set names no field.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The fields of the set.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |f| self.contains(*f))
    }
}

impl FromIterator<Field> for FieldSet {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        fields.into_iter().fold(FieldSet::default(), FieldSet::with)
    }
}

/// The fields that a duplicate overwrites, by the state of the holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Replacement([FieldSet; 8]);

impl Replacement {
    /// The same fields in every state.
    pub const fn everywhere(fields: FieldSet) -> Replacement {
        Replacement([fields; 8])
    }

    /// With these fields in this state.
    #[must_use]
    pub const fn with(mut self, state: State, fields: FieldSet) -> Replacement {
        self.0[state as usize] = fields;
        self
    }

    /// The fields that are overwritten in this state.
    pub const fn fields(&self, state: State) -> FieldSet {
        self.0[state as usize]
    }
}
