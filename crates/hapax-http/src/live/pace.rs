//! The pace of all streams together: what is told to ten thousand listeners must not take the time of those who write.
//!
//! An event that is heard by many is written once for each of them, which no machine does for nothing. Streams therefore
//! draw numbers and take turns in that order, and the turns of all take no more than a share of the machine: each counts
//! for what it took, and the next ones come so much later. Nobody waits for a stream whose turn has come, so a client that
//! does not take what it is told holds up no other. A few listeners hardly ever wait.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hapax_broker::Company;
use tokio::time::{Instant, sleep_until};

/// Of all processors together, streams take one part in so many.
const SHARE: u32 = 4;
/// A turn in a crowd counts so many times: what many hear is worth less than what somebody writes.
const CROWDED: u32 = 2;
/// And so many times if events were dropped in it: who cannot be told everything anyway is told what is new a little later.
const HOPELESS: u32 = 8;
/// What a turn counts for beside its own time: the connection writes after it has ended.
const WRITE: Duration = Duration::from_micros(5);
/// What each byte counts for that is written then.
const BYTE: Duration = Duration::from_nanos(1);
/// What a turn is expected to count for before there was one: rather too much, for those who come at first come at once.
const FIRST_TURN: Duration = Duration::from_micros(100);
/// No turn counts for more: a machine that stood still for a while has told nobody anything.
const TURN_MAX: Duration = Duration::from_millis(1);
/// So much may be used at once after a while of silence: hundreds of listeners hear of an event without a pause.
const SAVED_MAX: Duration = Duration::from_millis(20);
/// What is done beside turns is paid by those that come, so that nobody can fill the time of all turns with it. No more than
/// this is owed.
const OWED_MAX: Duration = Duration::from_secs(1);
/// Who would wait for less than this goes at once: sleeping takes a millisecond or two, however short it is meant to be.
const SLACK: Duration = Duration::from_millis(2);
/// Who waits for longer looks now and then how far the others are: what their turns cost may change, and some may leave.
const LOOK: Duration = Duration::from_secs(1);
/// So many who wait are a crowd.
const CROWD: u64 = 256;

/// Gives turns to streams.
#[derive(Debug)]
pub(crate) struct Pace {
    processors: u32,
    turns: Mutex<Turns>,
}

#[derive(Debug)]
struct Turns {
    /// The number that was drawn last.
    drawn: u64,
    /// Those up to this number have had their turn, or may take it.
    called: u64,
    /// Later numbers for which nobody waits any more.
    gone: BTreeSet<u64>,
    /// What was counted in advance for those who were called and have not come yet.
    counted: BTreeMap<u64, Duration>,
    /// When the next number is called.
    next_at: Instant,
    /// What a turn is expected to count for.
    expected: Duration,
    /// What was done beside turns and is not paid yet.
    owed: Duration,
}

/// The number of a stream that waits.
#[derive(Debug)]
pub(crate) struct Number {
    pace: Arc<Pace>,
    number: u64,
}

/// The turn of one stream, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    pace: Arc<Pace>,
    began: Instant,
    /// What was counted for it when it was called.
    counted: Duration,
    company: Company,
    bytes: usize,
    has_dropped: bool,
}

/// What a stream hears that asks whether it is its turn.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Now {
        company: Company,
        counted: Duration,
    },
    /// It may ask again by then.
    NotBefore(Instant),
}

impl Pace {
    pub(crate) fn new(processors: usize, now: Instant) -> Pace {
        let processors = u32::try_from(processors).unwrap_or(u32::MAX).max(1);
        let turns = Turns {
            drawn: 0,
            called: 0,
            gone: BTreeSet::new(),
            counted: BTreeMap::new(),
            next_at: now,
            expected: FIRST_TURN,
            owed: Duration::ZERO,
        };
        Pace { processors, turns: Mutex::new(turns) }
    }

    /// Draws a number.
    pub(crate) fn draw(self: &Arc<Self>) -> Number {
        let mut turns = self.turns();
        turns.drawn += 1;
        Number { pace: Arc::clone(self), number: turns.drawn }
    }

    /// So much is written beside a turn.
    pub(crate) fn told(&self, bytes: usize) {
        self.worked(price(bytes));
    }

    /// So much was done beside a turn.
    pub(crate) fn worked(&self, time: Duration) {
        let time = self.share(time.min(OWED_MAX));
        let mut turns = self.turns();
        turns.owed = (turns.owed + time).min(OWED_MAX);
    }

    fn ask(&self, number: u64, now: Instant) -> Answer {
        self.turns().ask(number, now)
    }

    /// Nobody is called for so long.
    #[cfg(test)]
    pub(super) fn rest(&self, time: Duration) {
        self.turns().next_at += time;
    }

    /// A turn has ended that took so long, and counts so many times instead of what was expected.
    fn end(&self, took: Duration, bytes: usize, times: u32, expected: Duration) {
        let counts = self.share(took.min(TURN_MAX) + WRITE + price(bytes)) * times;
        self.turns().end(counts, expected);
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long streams have to leave the machine to others for so much work.
    fn share(&self, time: Duration) -> Duration {
        time * SHARE / self.processors
    }
}

impl Turns {
    fn ask(&mut self, number: u64, now: Instant) -> Answer {
        self.next_at = self.next_at.max(now.checked_sub(SAVED_MAX).unwrap_or(now));
        while self.called < self.drawn && self.next_at <= now + SLACK {
            self.called += 1;
            self.counted.insert(self.called, self.expected);
            self.next_at += self.expected;
            self.pass_over();
        }
        if number <= self.called {
            let is_crowd = self.drawn - self.called - self.gone.len() as u64 > CROWD;
            let company = if is_crowd { Company::Crowd } else { Company::Few };
            return Answer::Now { company, counted: self.counted.remove(&number).unwrap_or_default() };
        }
        let before = u32::try_from(number - self.called - 1).unwrap_or(u32::MAX);
        let wait = (self.next_at + self.expected.saturating_mul(before)).saturating_duration_since(now);
        Answer::NotBefore(now + wait.min(LOOK))
    }

    /// Nobody waits for that number any more.
    fn leave(&mut self, number: u64) {
        if number > self.called {
            self.gone.insert(number);
            self.pass_over();
        } else if let Some(counted) = self.counted.remove(&number) {
            self.next_at = self.next_at.checked_sub(counted).unwrap_or(self.next_at);
        }
    }

    /// Calls the numbers that are next and for which nobody waits.
    fn pass_over(&mut self) {
        while self.gone.remove(&(self.called + 1)) {
            self.called += 1;
        }
    }

    fn end(&mut self, counts: Duration, expected: Duration) {
        let paid = self.owed.min(counts);
        self.owed -= paid;
        self.next_at = (self.next_at + counts + paid).checked_sub(expected).unwrap_or(self.next_at);
        self.expected = (self.expected * 7 + counts) / 8;
    }
}

fn price(bytes: usize) -> Duration {
    BYTE.saturating_mul(u32::try_from(bytes).unwrap_or(u32::MAX))
}

impl Number {
    /// Waits until it is called. May be dropped half-way and waited for again.
    pub(crate) async fn turn(&self) -> Turn {
        loop {
            let now = Instant::now();
            match self.pace.ask(self.number, now) {
                Answer::Now { company, counted } => {
                    let pace = Arc::clone(&self.pace);
                    return Turn { pace, began: now, counted, company, bytes: 0, has_dropped: false };
                }
                Answer::NotBefore(moment) => sleep_until(moment).await,
            }
        }
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        self.pace.turns().leave(self.number);
    }
}

impl Turn {
    /// Who else waits to be told something.
    pub(crate) fn company(&self) -> Company {
        self.company
    }

    /// So much was told in it, and is written when it has ended.
    pub(crate) fn told(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Events were dropped.
    pub(crate) fn dropped(&mut self) {
        self.has_dropped = true;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let times = match (self.company, self.has_dropped) {
            (Company::Few, _) => 1,
            (Company::Crowd, false) => CROWDED,
            (Company::Crowd, true) => HOPELESS,
        };
        self.pace.end(self.began.elapsed(), self.bytes, times, self.counted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> (Arc<Pace>, Instant) {
        // Later than now, so that there is time to save from.
        let now = Instant::now() + Duration::from_secs(1);
        (Arc::new(Pace::new(2, now.checked_sub(SAVED_MAX).unwrap())), now)
    }

    fn draw(pace: &Arc<Pace>, count: usize) -> Vec<Number> {
        (0..count).map(|_| pace.draw()).collect()
    }

    /// Who else waits, if it may go. It keeps what was counted for it.
    fn is_called(pace: &Pace, number: &Number, now: Instant) -> Option<Company> {
        match pace.ask(number.number, now) {
            Answer::Now { company, counted } => {
                pace.turns().counted.insert(number.number, counted);
                Some(company)
            }
            Answer::NotBefore(_) => None,
        }
    }

    /// How many of them may go.
    fn called(pace: &Pace, numbers: &[Number], now: Instant) -> usize {
        let is_called = |number: &&Number| is_called(pace, number, now).is_some();
        numbers.iter().take_while(is_called).count()
    }

    /// How many of them may go, of those who ask all the time for so long.
    fn called_within(pace: &Pace, numbers: &[Number], now: Instant, span: Duration) -> usize {
        let moments = (0..=span.as_millis() / 5)
            .map(|step| now + Duration::from_millis(5) * u32::try_from(step).unwrap());
        moments.map(|moment| called(pace, numbers, moment)).last().unwrap()
    }

    #[test]
    fn a_few_go_at_once_and_many_in_the_order_of_their_numbers() {
        let (pace, now) = pace();
        let numbers = draw(&pace, 10_000);
        let first = called(&pace, &numbers, now);
        assert!((100..1000).contains(&first), "{first}");
        assert_eq!(called(&pace, &numbers[first..], now), 0);
        let second = called(&pace, &numbers, now + Duration::from_millis(10));
        assert!((first + 50..first + 500).contains(&second), "{second}");
    }

    #[test]
    fn streams_take_a_share_of_the_machine_whatever_a_turn_costs() {
        for took in [Duration::from_micros(10), Duration::from_micros(500)] {
            let (pace, start) = pace();
            let numbers = draw(&pace, 200_000);
            let (mut now, mut done, mut worked) = (start, 0, Duration::ZERO);
            while now < start + Duration::from_secs(5) {
                now += Duration::from_millis(1);
                let called = called(&pace, &numbers[done..], now);
                for number in &numbers[done..done + called] {
                    let counted = pace.turns().counted.remove(&number.number).unwrap();
                    pace.end(took, 0, 1, counted);
                }
                done += called;
                worked += (took + WRITE) * u32::try_from(called).unwrap();
            }
            // Two processors, for five seconds and what was saved.
            let share = worked.as_secs_f64() / 10.0 * f64::from(SHARE);
            assert!((0.9..1.1).contains(&share), "{took:?}: {share}");
        }
    }

    #[test]
    fn who_does_not_come_when_called_holds_up_nobody() {
        let (pace, now) = pace();
        let _slow = draw(&pace, 5000);
        let here = draw(&pace, 1);
        assert_eq!(called(&pace, &here, now), 0);
        assert_eq!(called_within(&pace, &here, now, Duration::from_secs(1)), 1);
    }

    #[test]
    fn nobody_waits_for_those_who_left() {
        let (pace, now) = pace();
        let (before, leaving) = (draw(&pace, 5000), draw(&pace, 1_000_000));
        let here = draw(&pace, 10);
        drop(leaving);
        assert_eq!(called(&pace, &here, now), 0);
        assert_eq!(called_within(&pace, &before, now, Duration::from_secs(1)), 5000);
        assert_eq!(called(&pace, &here, now + Duration::from_secs(1)), 10);
        drop(draw(&pace, 100));
        assert!(pace.turns().gone.is_empty(), "nothing is kept of them");
    }

    #[test]
    fn a_crowd_is_many_who_wait() {
        let (pace, now) = pace();
        let few = draw(&pace, 1);
        assert_eq!(is_called(&pace, &few[0], now), Some(Company::Few));
        let many = draw(&pace, 10_000);
        assert_eq!(is_called(&pace, &many[0], now), Some(Company::Crowd));
        let rest = draw(&pace, 1);
        drop(many);
        let later = now + Duration::from_secs(1);
        assert_eq!(is_called(&pace, &rest[0], later), Some(Company::Few), "they left");
    }

    #[test]
    fn who_waits_is_told_when_to_look_again_and_goes_when_it_is_time() {
        let (pace, now) = pace();
        let numbers = draw(&pace, 2000);
        pace.rest(Duration::from_secs(5));
        let Answer::NotBefore(then) = pace.ask(numbers[1999].number, now) else {
            panic!("there is no time left")
        };
        assert_eq!(then, now + LOOK, "much may change until then");
        assert_eq!(called_within(&pace, &numbers, now, Duration::from_mins(1)), 2000);
    }

    #[test]
    fn what_is_done_beside_turns_slows_them_down_and_stops_none() {
        let (pace, start) = pace();
        let numbers = draw(&pace, 20_000);
        let taken_within_a_second = |first: usize, beside: Duration| {
            let (mut now, mut done) = (start, first);
            while now < start + Duration::from_secs(1) {
                now += Duration::from_millis(1);
                pace.worked(beside);
                let called = called(&pace, &numbers[done..], now);
                for number in &numbers[done..done + called] {
                    let counted = pace.turns().counted.remove(&number.number).unwrap();
                    pace.end(Duration::from_micros(95), 0, 1, counted);
                }
                done += called;
            }
            done - first
        };
        let beside_much = taken_within_a_second(0, Duration::from_hours(1));
        assert!((2000..3000).contains(&beside_much), "of 5000: {beside_much}");
        assert!(pace.turns().owed <= OWED_MAX);
    }

    #[test]
    fn a_turn_counts_for_more_in_a_crowd_and_most_if_events_were_dropped() {
        let (pace, _) = pace();
        let counts = |company, has_dropped, bytes| {
            let mut turn = Turn {
                pace: Arc::clone(&pace),
                // It never begins, so that it takes no time.
                began: Instant::now() + Duration::from_hours(1),
                counted: Duration::ZERO,
                company,
                bytes: 0,
                has_dropped: false,
            };
            turn.told(bytes);
            if has_dropped {
                turn.dropped();
            }
            let before = pace.turns().next_at;
            drop(turn);
            pace.turns().next_at - before
        };
        let once = counts(Company::Few, false, 0);
        assert_eq!(once, pace.share(WRITE));
        assert_eq!(counts(Company::Few, true, 0), once, "who is not in the way of many hears it at once");
        assert_eq!(counts(Company::Crowd, false, 0), once * CROWDED);
        assert_eq!(counts(Company::Crowd, true, 0), once * HOPELESS);
        assert_eq!(counts(Company::Few, false, 10_000), once + pace.share(BYTE * 10_000));
    }

    #[test]
    fn who_was_called_and_left_has_used_up_nothing() {
        let (pace, now) = pace();
        let numbers = draw(&pace, 100);
        let before = pace.turns().next_at;
        assert_eq!(pace.ask(100, now), Answer::Now { company: Company::Few, counted: FIRST_TURN });
        pace.end(Duration::ZERO, 0, 0, FIRST_TURN);
        drop(numbers);
        assert_eq!(pace.turns().next_at, before);
        assert!(pace.turns().counted.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_number_that_was_waited_for_half_way_keeps_its_place() {
        let pace = Arc::new(Pace::new(2, Instant::now()));
        let number = pace.draw();
        pace.rest(Duration::from_millis(200));
        let early = tokio::time::timeout(Duration::from_millis(1), number.turn()).await;
        assert!(early.is_err());
        let others = draw(&pace, 10_000);
        drop(number.turn().await);
        let last = tokio::time::timeout(Duration::from_millis(100), others[9999].turn()).await;
        assert!(last.is_err(), "it comes after all of them");
    }
}
