//! Where a step stands.

/// Where a step stands, as far as its workflow has to know. Whether a job that was let go waits or runs is the job's
/// own matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It waits for others.
    Waiting,
    /// It may run, or does.
    Released,
    /// It was done.
    Completed,
    /// It was given up.
    Failed,
    /// It was called off, or what it waited for went wrong.
    Cancelled,
    /// A callback that was not needed.
    Skipped,
}

impl Mark {
    /// All marks.
    pub const ALL: [Mark; 6] =
        [Mark::Waiting, Mark::Released, Mark::Completed, Mark::Failed, Mark::Cancelled, Mark::Skipped];

    /// The letter that stores keep.
    pub const fn letter(self) -> char {
        match self {
            Mark::Waiting => '.',
            Mark::Released => 'r',
            Mark::Completed => 'c',
            Mark::Failed => 'f',
            Mark::Cancelled => 'x',
            Mark::Skipped => 's',
        }
    }

    /// The mark of that letter.
    pub fn of_letter(letter: char) -> Option<Mark> {
        Mark::ALL.into_iter().find(|mark| mark.letter() == letter)
    }

    /// Whether nothing more happens to the step.
    pub const fn is_end(self) -> bool {
        !matches!(self, Mark::Waiting | Mark::Released)
    }

    /// Whether it ended as those hope who wait for it.
    pub const fn is_well(self) -> bool {
        matches!(self, Mark::Completed | Mark::Skipped)
    }

    /// Whether it ended otherwise.
    pub const fn is_ill(self) -> bool {
        matches!(self, Mark::Failed | Mark::Cancelled)
    }
}
