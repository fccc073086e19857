//! Queues that are deleted: what becomes of them, and of the jobs that wait in them.

use hapax_core::{Event, JobId, Refusal, State, StateSet};

use super::bench::{Bench, HOUR, SECOND, waits_for};
use super::draft::{plain, queue, unique};
use crate::{Action, Answer, Done};

fn remove(bench: &Bench, name: &str) -> Answer {
    bench.act(Action::RemoveQueue(queue(name)))
}

fn to(name: &str) -> Event {
    Event::MoveTo { queue: queue(name) }
}

fn line(bench: &mut Bench, name: &str, count: usize) -> Vec<JobId> {
    (0..count).map(|_| bench.create(plain().ordered("k").queue(name))).collect()
}

pub(super) fn a_removed_queue_is_forgotten_with_its_pause_and_made_anew(bench: &mut Bench) {
    bench.pause("a");
    bench.create(plain().queue("b"));
    assert_eq!(remove(bench, "a"), Ok(Done::QueueRemoved(queue("a"))));
    assert_eq!(bench.queue("a"), None);
    bench.reopen();
    assert_eq!(bench.queue("a"), None);
    assert!(bench.queue("b").is_some(), "others stay");
    bench.pass(HOUR);
    let id = bench.create(plain().queue("a"));
    let anew = bench.queue("a").unwrap();
    assert_eq!((anew.paused, anew.created_at), (false, bench.now));
    assert_eq!(bench.fetch(&["a"], 9)[0].id, id);
    assert_eq!(remove(bench, "never"), Ok(Done::QueueRemoved(queue("never"))));
}

pub(super) fn a_queue_is_not_removed_while_one_of_its_jobs_lives(bench: &mut Bench) {
    for state in State::ALL {
        let id = bench.create_in(state, plain());
        let in_use = Refusal::QueueInUse { queue: queue("default"), jobs: 1 };
        let answer = remove(bench, "default");
        assert_eq!(answer.is_err(), !state.is_terminal(), "{state}");
        if let Err(refusal) = answer {
            assert_eq!(refusal, in_use);
            bench.step(id, Event::Cancel).unwrap();
        }
    }
}

pub(super) fn a_queue_of_which_ended_jobs_are_kept_loses_its_pause_and_goes_with_the_last(bench: &mut Bench) {
    let id = bench.create_in(State::Completed, plain());
    let before = bench.queue("default").unwrap();
    bench.pause("default");
    remove(bench, "default").unwrap();
    assert_eq!(bench.queue("default"), Some(before), "its counts are those of what is kept");
    bench.reopen();
    bench.step(id, Event::Delete).unwrap();
    remove(bench, "default").unwrap();
    assert_eq!(bench.queue("default"), None);
    assert_eq!(bench.totals().counts, crate::Counts::default());
}

pub(super) fn jobs_that_move_keep_their_turn_their_key_and_all_else(bench: &mut Bench) {
    let first = bench.create(unique("k").queue("old"));
    let between = bench.create(plain().queue("new"));
    let last = bench.create(plain().queue("old"));
    let urgent = bench.create(plain().queue("old").priority(5));
    bench.pass(SECOND);
    for id in [last, urgent, first] {
        let before = bench.job(id);
        bench.step(id, to("new")).unwrap();
        let after = bench.job(id);
        assert_eq!(
            (&after.key, &after.phase, after.enqueued_at),
            (&before.key, &before.phase, before.enqueued_at)
        );
    }
    assert!(bench.try_enqueue(unique("k")).unwrap().refusal().is_some(), "its key is held");
    assert_eq!(bench.queue("old").unwrap().counts.waiting(), 0);
    assert_eq!(bench.queue("new").unwrap().counts.waiting(), 4);
    bench.reopen();
    let order: Vec<JobId> = bench.fetch(&["old", "new"], 9).iter().map(|job| job.id).collect();
    assert_eq!(order, [urgent, first, between, last]);
}

pub(super) fn only_jobs_that_wait_move_or_are_lost_with_their_queue(bench: &mut Bench) {
    for state in State::ALL {
        for event in [to("new"), Event::LoseQueue] {
            let id = bench.create_in(state, plain());
            let answer = bench.step(id, event.clone());
            if !state.is_waiting() {
                assert_eq!(answer, Err(Refusal::WrongState { id, state, expected: StateSet::WAITING }));
            } else if event == Event::LoseQueue {
                assert_eq!(bench.state(id), State::Discarded, "{state}");
            } else {
                assert_eq!((bench.state(id), bench.job(id).spec.queue.as_str()), (state, "new"));
            }
            bench.fetch(&["default", "new"], 9);
        }
    }
    assert_eq!(bench.totals().dead_letters, 0);
}

pub(super) fn jobs_of_a_line_move_one_after_the_other(bench: &mut Bench) {
    let here = line(bench, "old", 3);
    let there = line(bench, "new", 2);
    let early = Refusal::NotItsTurn { id: here[1], after: here[0] };
    assert_eq!(bench.step(here[1], to("new")), Err(early), "the one before it has not moved");
    for id in &here {
        bench.step(*id, to("new")).unwrap();
    }
    let later = line(bench, "new", 1);
    let order: Vec<JobId> = there.into_iter().chain(here).chain(later).collect();
    let waiting: Vec<Option<JobId>> = order.iter().map(|id| waits_for(&bench.job(*id))).collect();
    let before: Vec<Option<JobId>> =
        [None].into_iter().chain(order.iter().copied().map(Some)).take(6).collect();
    assert_eq!(waiting, before);
    for id in order {
        let job = bench.fetch(&["old", "new"], 9).pop().unwrap();
        assert_eq!(job.id, id);
        assert_eq!(bench.fetch(&["old", "new"], 9), [], "no other runs beside it");
        bench.acknowledge(&job).unwrap();
    }
}

pub(super) fn those_behind_one_that_runs_move_when_it_has_ended(bench: &mut Bench) {
    let ids = line(bench, "old", 3);
    let running = bench.fetch(&["old"], 9).pop().unwrap();
    assert_eq!(running.id, ids[0]);
    for id in &ids[1..] {
        assert!(bench.step(*id, to("new")).is_err());
    }
    bench.acknowledge(&running).unwrap();
    for id in &ids[1..] {
        bench.step(*id, to("new")).unwrap();
    }
    assert_eq!(bench.fetch(&["new"], 9)[0].id, ids[1]);
    assert_eq!(waits_for(&bench.job(ids[2])), Some(ids[1]));
    assert_eq!(
        remove(bench, "old").unwrap_or_else(|refusal| panic!("{refusal}")),
        Done::QueueRemoved(queue("old"))
    );
}

pub(super) fn a_line_whose_queue_is_lost_goes_one_after_the_other(bench: &mut Bench) {
    let ids = line(bench, "old", 3);
    bench.step(ids[1], Event::LoseQueue).unwrap();
    assert_eq!(waits_for(&bench.job(ids[2])), Some(ids[0]), "it waits for the one before that");
    bench.step(ids[0], Event::LoseQueue).unwrap();
    assert_eq!(bench.state(ids[2]), State::Available);
    bench.step(ids[2], Event::LoseQueue).unwrap();
    assert_eq!(bench.queue("old").unwrap().counts.living(), 0);
}

pub(super) fn a_job_that_waits_for_its_next_attempt_enters_no_line_before_that(bench: &mut Bench) {
    let id = bench.create(plain().ordered("k").queue("old").attempts(3));
    let first = bench.fetch(&["old"], 1).pop().unwrap();
    bench.fail(&first).unwrap();
    assert_eq!(bench.state(id), State::Retryable);
    let busy = line(bench, "new", 1)[0];
    let early = Refusal::NotItsTurn { id, after: busy };
    assert_eq!(bench.step(id, to("new")), Err(early), "it would be let go before its time");
    bench.pass_and_advance(HOUR);
    bench.step(id, to("new")).unwrap();
    assert_eq!(waits_for(&bench.job(id)), Some(busy));
}

pub(super) fn a_job_whose_predecessor_has_moved_elsewhere_waits_for_its_end(bench: &mut Bench) {
    let ids = line(bench, "old", 2);
    let other = line(bench, "third", 1)[0];
    bench.step(ids[0], to("new")).unwrap();
    let early = Refusal::NotItsTurn { id: ids[1], after: ids[0] };
    assert_eq!(bench.step(ids[1], to("third")), Err(early), "both could run at once");
    let running = bench.fetch(&["new"], 1).pop().unwrap();
    bench.acknowledge(&running).unwrap();
    bench.step(ids[1], to("third")).unwrap();
    assert_eq!(waits_for(&bench.job(ids[1])), Some(other));
}
