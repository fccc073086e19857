//! Workflows whose jobs end at the same moment on many threads.

use hapax_core::workflow::{Callback, Shape, WorkflowState};
use hapax_core::{Claimant, Event};

use super::bench::Bench;
use super::draft::plain;
use super::race::{RACERS, race};
use crate::{Action, Change, Done};

const ROUNDS: usize = 15;

pub(super) fn callbacks_of_jobs_that_end_together_run_once(bench: &mut Bench) {
    let batch = || Shape::Batch {
        jobs: vec![Shape::Job(plain()); RACERS],
        callbacks: vec![
            (Callback::OnComplete, plain().queue("done")),
            (Callback::OnSuccess, plain().queue("well")),
        ],
    };
    let ids: Vec<_> = (0..ROUNDS).map(|_| bench.start(batch())).collect();
    let answers = race(bench, ROUNDS, |racer, _| {
        let job = racer.fetch(1).pop().expect("a job for everybody");
        let claimant = Claimant::UNNAMED;
        racer.act(Action::Step { id: job.id, event: Event::Acknowledge { claimant, result: None } })
    });
    let released = answers.iter().flatten().map(|answer| match answer {
        Ok(Done::Stepped(change)) => match &**change {
            Change::To { followers, .. } => followers.len(),
            Change::Removed { .. } => panic!("nothing goes"),
        },
        other => panic!("{other:?}"),
    });
    assert_eq!(released.sum::<usize>(), 2 * ROUNDS, "each callback was let go by one end");
    let called = bench.fetch(&["done", "well"], 999);
    assert_eq!(called.len(), 2 * ROUNDS);
    for job in &called {
        bench.acknowledge(job).unwrap();
    }
    for id in ids {
        assert_eq!(bench.workflow(id).state, WorkflowState::Completed);
    }
}

pub(super) fn a_cancellation_against_ends_leaves_nothing_behind(bench: &mut Bench) {
    for _ in 0..ROUNDS {
        let id = bench
            .start(Shape::Chain(vec![Shape::Group(vec![Shape::Job(plain()); RACERS]), Shape::Job(plain())]));
        race(bench, 1, |racer, _| {
            if racer.number == 0 {
                return drop(racer.act(Action::CancelWorkflow(id)));
            }
            if let Some(job) = racer.fetch(1).pop() {
                let event = Event::Acknowledge { claimant: Claimant::UNNAMED, result: None };
                drop(racer.act(Action::Step { id: job.id, event }));
            }
        });
        let workflow = bench.workflow(id);
        assert_eq!(workflow.state, WorkflowState::Cancelled, "the last step never ran");
        assert!(workflow.marks.iter().all(|mark| mark.is_end()), "{:?}", workflow.marks);
        assert_eq!(bench.fetch_ids(99), []);
    }
}
