//! Who looks after a connection: its client may do nothing for too long, and its server may stop.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, interval_at};

use super::activity::Activity;
use super::patience::{Patience, Watch};
use crate::limits::{STREAM_CUT_INTERVAL, STREAM_GRACE, WATCH_INTERVAL};

/// What is to be done with a connection.
#[derive(Debug)]
pub(super) enum Order {
    /// What was asked is answered, and nothing more is taken.
    LetGo,
    /// It is closed as it stands.
    End,
}

/// Looks after a connection.
pub(super) struct Keeper {
    activity: Arc<Activity>,
    stopped: watch::Receiver<bool>,
    watch: Watch,
    ticks: Interval,
    /// Once the server stops: when streams are looked at that do not end.
    cut: Option<Interval>,
}

impl Keeper {
    pub(super) fn new(activity: Arc<Activity>, stopped: watch::Receiver<bool>) -> Keeper {
        let mut ticks = interval(WATCH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Keeper { activity, stopped, watch: Watch::default(), ticks, cut: None }
    }

    /// Waits until there is something to be done; then it looks after the connection on.
    pub(super) async fn order(mut self) -> (Order, Keeper) {
        loop {
            let Keeper { activity, stopped, watch, ticks, cut } = &mut self;
            let order = tokio::select! {
                biased;
                _changed = stopped.changed(), if cut.is_none() => {
                    *cut = Some(interval_at(Instant::now() + STREAM_GRACE, STREAM_CUT_INTERVAL));
                    Some(Order::LetGo)
                }
                // Requests may end; a client that does not take the last words of a stream keeps nobody waiting.
                () = tick(cut) => activity.only_lasts().then_some(Order::End),
                _tick = ticks.tick() => match watch.look(activity) {
                    Patience::Goes => None,
                    Patience::LetGo => Some(Order::LetGo),
                    Patience::Ended => Some(Order::End),
                },
            };
            if let Some(order) = order {
                return (order, self);
            }
        }
    }
}

/// The next moment of an interval; never if there is none.
async fn tick(interval: &mut Option<Interval>) {
    match interval {
        Some(interval) => drop(interval.tick().await),
        None => std::future::pending().await,
    }
}
