//! A connection that sends the same few requests in turn: every kind of enqueue, and every echo ceiling.

use std::sync::Arc;

use anyhow::Result;

use crate::client::Connection;
use crate::clock::{self, Window};
use crate::request::{Numbers, Request, Shape};
use crate::tally::Tally;

/// Of this many requests in a row one carries a new number and the others repeat it: 99 % duplicates.
const REPEATS: u64 = 100;

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) shape: Shape,
    pub(crate) fill: Fill,
    pub(crate) expect: Expect,
    /// What one answered request counts for: 1 request, or as many jobs as the batch has.
    pub(crate) units: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Fill {
    Fresh,
    Repeated,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expect {
    Created,
    /// The first of the repeats is created, the others are answered with the holder.
    CreatedThenOk,
    Echo,
}

impl Expect {
    fn status(self, turn: u64) -> u16 {
        match self {
            Self::Created => 201,
            Self::CreatedThenOk if turn.is_multiple_of(REPEATS) => 201,
            Self::CreatedThenOk | Self::Echo => 200,
        }
    }

    fn creates(self, turn: u64) -> bool {
        self.status(turn) == 201
    }
}

pub(crate) async fn run(
    mut connection: Connection,
    mut steps: Vec<(Step, Request)>,
    numbers: Arc<Numbers>,
    window: Window,
) -> Result<Tally> {
    let mut tally = Tally::new(window);
    let mut started = clock::now();
    for turn in 0.. {
        for (step, request) in &mut steps {
            fill(step.fill, request, &numbers, turn);
            let answer = connection.exchange(request.bytes()).await?;
            let ended = clock::now();
            tally.check(&answer, step.expect.status(turn));
            tally.record(started, ended, step.units);
            tally.waiting_change += if step.expect.creates(turn) { i64::try_from(step.units)? } else { 0 };
            started = ended;
        }
        if started >= window.until {
            break;
        }
    }
    Ok(tally)
}

fn fill(fill: Fill, request: &mut Request, numbers: &Numbers, turn: u64) {
    match fill {
        Fill::Fresh => request.set_numbers(numbers.take(request.holes())),
        Fill::Repeated if turn.is_multiple_of(REPEATS) => request.set_numbers(numbers.take(1)),
        Fill::Repeated | Fill::Nothing => {}
    }
}
