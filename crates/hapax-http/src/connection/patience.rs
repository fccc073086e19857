//! How long a client may do nothing.

use std::time::Duration;

use super::activity::Activity;
use crate::limits::{HEAD_TIME, IDLE_TIME, WATCH_INTERVAL, WRITE_STALL_TIME};

/// What to do about a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Patience {
    Goes,
    LetGo,
    Ended,
}

/// How long a connection has been doing nothing.
#[derive(Debug, Default)]
pub(super) struct Watch {
    requests: usize,
    idle: Duration,
    blocked: Duration,
}

impl Watch {
    /// Looks at the connection, one interval after the last time.
    pub(super) fn look(&mut self, activity: &Activity) -> Patience {
        let requests = activity.requests();
        // Whoever writes clears the mark, so that only a standstill over a whole interval counts.
        self.blocked =
            if activity.is_write_blocked() { self.blocked + WATCH_INTERVAL } else { Duration::ZERO };
        let is_idle = activity.in_progress() == 0 && requests == self.requests;
        self.idle = if is_idle { self.idle + WATCH_INTERVAL } else { Duration::ZERO };
        self.requests = requests;
        // The first look comes at once and counts an interval that has not passed.
        if self.blocked > WRITE_STALL_TIME || (requests == 0 && self.idle > HEAD_TIME + WATCH_INTERVAL) {
            Patience::Ended
        } else if self.idle > IDLE_TIME {
            Patience::LetGo
        } else {
            Patience::Goes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many looks pass until something is done about a connection that does nothing more, and what.
    fn end(activity: &Activity) -> (u32, Patience) {
        let mut watch = Watch::default();
        let end = (0..1000)
            .map(|look| (look, watch.look(activity)))
            .find(|(_, patience)| *patience != Patience::Goes);
        end.unwrap_or((1000, Patience::Goes))
    }

    #[test]
    fn a_client_that_never_asks_is_cut_off_soon() {
        let (looks, patience) = end(&Activity::default());
        assert_eq!(patience, Patience::Ended);
        assert!((HEAD_TIME..HEAD_TIME * 2).contains(&(WATCH_INTERVAL * looks)), "{looks}");
    }

    #[test]
    fn a_client_that_asked_before_is_let_go_later() {
        let activity = Activity::of(1, 0);
        let (looks, patience) = end(&activity);
        assert_eq!(patience, Patience::LetGo);
        assert!(WATCH_INTERVAL * looks >= IDLE_TIME, "{looks}");
    }

    #[test]
    fn a_request_in_progress_is_not_idle_unless_nobody_reads_the_answer() {
        let busy = || Activity::of(1, 1);
        assert_eq!(end(&busy()), (1000, Patience::Goes));
        let stuck = busy();
        stuck.mark_written(false);
        let (looks, patience) = end(&stuck);
        assert_eq!(patience, Patience::Ended);
        assert!(WATCH_INTERVAL * looks >= WRITE_STALL_TIME, "{looks}");
    }
}
