//! Schedules: when a repeated job is due, by the clocks of its time zone or by a fixed interval.
//!
//! # Expressions
//!
//! Five fields, `minute hour day-of-month month day-of-week`, or six with the second in front; without it the second
//! is 0. Each is a list of `*`, a value, a range `a-b`, or one of these with a step: `*/15`, `10-40/10`, `5/20` (from 5
//! to the end of the field). Months and weekdays may be named `JAN` … `DEC`, `SUN` … `SAT`; 0 and 7 are both Sunday,
//! also as the end of a range (`FRI-SUN`, `5-7`, `5-0`). The case of letters does not count.
//!
//! - Day of month: `L` is the last day, `L-3` the third before it, `15W` the weekday from Monday to Friday that is
//!   nearest to the 15th in the same month, `LW` the last such weekday.
//! - Day of week: `5L` is the last Friday of the month, `5#3` the third.
//! - A day that a month lacks is left out there. A date that no month of the expression has is refused, as is a range
//!   that runs backwards (`22-2`; the refusal says how to write it) and a step of more values than the field has.
//! - If both day fields are restricted, a day fits if **either** of them does, as in every cron. A day field is
//!   unrestricted if it has a `*` without a step: `*/2` restricts.
//!
//! `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight` and `@hourly` stand for expressions.
//! `@every 1h30m` counts real time from an anchor, whatever the clocks do: it is due one interval after the anchor, then
//! one after that, and never at the anchor itself.
//!
//! # When clocks are set forward or back
//!
//! An expression names times that clocks show, and each of them is due once, when clocks show it **for the first
//! time** (Cron 5.2). So no tick is due twice, and no moment has two ticks:
//!
//! - A time that clocks jump over is not due at all: `30 2 * * *` does not run on the night on which 2:30 is missing.
//!   [`Schedule::skipped_between`] tells of it.
//! - A time that clocks show twice is due at the first showing.
//! - This holds for `*` as well, since the rule knows no exception: `* * * * *` runs in every real minute where clocks
//!   jump forward, and pauses for the repeated hour where they go back. Who needs every real minute writes
//!   `@every 1m`, or keeps to UTC, which is the default.

mod calendar;
mod day_of_month;
mod day_of_week;
mod days;
mod error;
mod field;
mod interval;
mod month;
mod recurring;
mod schedule;
#[cfg(test)]
mod tests;
mod values;
mod zone;

pub use error::ScheduleError;
pub use field::Field;
pub use recurring::{Cron, Outcome, Overlap, Run, Template};
pub use schedule::{Schedule, Skip};
pub use zone::{Zone, ZoneError};
