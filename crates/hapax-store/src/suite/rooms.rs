//! Queues that take only so many jobs.

use hapax_core::{Bound, Overflow, Refusal, State};

use super::bench::{Bench, HOUR, MINUTE, waits_for};
use super::draft::{Draft, plain, queue, unique};
use super::race::race;
use crate::{Action, Done};

fn bounded(max: u64, overflow: Overflow) -> Draft {
    let mut draft = plain().queue("small");
    draft.bound = Some(Bound { max, overflow });
    draft
}

fn full(depth: u64, max: u64) -> Refusal {
    Refusal::QueueFull { queue: queue("small"), depth, max }
}

pub(super) fn a_full_queue_refuses_and_takes_again(bench: &mut Bench) {
    let draft = || bounded(2, Overflow::Reject);
    assert_eq!(bench.enqueue(draft()).depth, Some(1));
    let later = bench.now + HOUR;
    assert_eq!(
        bench.enqueue(draft().scheduled_at(later)).depth,
        Some(2),
        "one that waits for its time counts"
    );
    assert_eq!(bench.try_enqueue(draft()), Err(full(2, 2)));
    assert_eq!(bench.queue("small").unwrap().counts.waiting(), 2);
    bench.create(plain());
    let running = bench.fetch(&["small"], 1);
    assert_eq!(running.len(), 1);
    assert_eq!(bench.enqueue(draft()).depth, Some(2), "one that runs does not");
    bench.fail(&running[0]).unwrap();
    assert_eq!(bench.try_enqueue(draft()), Err(full(3, 2)), "one that waits for another attempt counts");
}

pub(super) fn the_oldest_makes_room(bench: &mut Bench) {
    let draft = || bounded(2, Overflow::DropOldest);
    let first = bench.create(draft().priority(5));
    let second = bench.create(draft());
    let third = bench.enqueue(draft());
    assert_eq!(
        (bench.state(second), bench.state(first)),
        (State::Discarded, State::Available),
        "of the lowest priority"
    );
    assert_eq!(
        third.changed.iter().map(|(before, job)| (*before, job.id)).collect::<Vec<_>>(),
        [(State::Available, second)]
    );
    let error = bench.job(second).history.current().map(|failure| failure.kind.clone());
    assert_eq!(error.as_deref(), Some("overflow"));
    assert_eq!(bench.queue("small").unwrap().counts.waiting(), 2);
    let running = bench.fetch(&["small"], 9);
    assert_eq!(running.len(), 2);
    bench.create(draft().scheduled_at(bench.now + HOUR));
    bench.create(draft().scheduled_at(bench.now + HOUR));
    assert_eq!(bench.try_enqueue(draft()), Err(full(2, 2)), "only what is available makes room");
}

pub(super) fn those_behind_one_that_makes_room_go_on(bench: &mut Bench) {
    let first = bench.create(plain().queue("small").ordered("k"));
    let second = bench.create(plain().queue("small").ordered("k"));
    bench.create(bounded(3, Overflow::DropOldest));
    bench.create(bounded(3, Overflow::DropOldest));
    assert_eq!((bench.state(first), bench.state(second)), (State::Discarded, State::Available));
    let third = bench.create(plain().queue("small").ordered("k"));
    assert_eq!(waits_for(&bench.job(third)), Some(second));
}

pub(super) fn nobody_makes_room_for_one_that_waits_for_it(bench: &mut Bench) {
    let bound = |max| Some(Bound { max, overflow: Overflow::DropOldest });
    let latest = || unique("k").queue_latest().queue("small").visibility_timeout(MINUTE);
    let lapsed = bench.create(latest());
    assert_eq!(bench.fetch(&["small"], 1).len(), 1);
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.state(lapsed), State::Available);
    assert_eq!(bench.try_enqueue(Draft { bound: bound(1), ..latest() }), Err(full(1, 1)));
    let other = bench.create(plain().queue("small"));
    let waiting = bench.create(Draft { bound: bound(2), ..latest() });
    assert_eq!((bench.state(lapsed), bench.state(other)), (State::Available, State::Discarded));
    assert_eq!(waits_for(&bench.job(waiting)), Some(lapsed));
}

pub(super) fn a_duplicate_needs_no_room_and_a_replacement_has_it(bench: &mut Bench) {
    use hapax_core::unique::Strategy;
    let bound = Some(Bound { max: 1, overflow: Overflow::Reject });
    let draft = |strategy| Draft { bound, ..unique("k").on_conflict(strategy).queue("small") };
    let first = bench.create(draft(Strategy::Reject));
    assert_eq!(bench.enqueue(draft(Strategy::Ignore)).job.id, first);
    bench.enqueue(draft(Strategy::Replace));
    assert_eq!((bench.state(first), bench.queue("small").unwrap().counts.waiting()), (State::Cancelled, 1));
}

pub(super) fn a_replacement_displaces_another_than_the_one_it_replaces(bench: &mut Bench) {
    use hapax_core::unique::Strategy;
    let bound = |max| Some(Bound { max, overflow: Overflow::DropOldest });
    let held = bench.create(unique("k").on_conflict(Strategy::Replace).queue("small"));
    let others: Vec<_> = (0..3).map(|_| bench.create(plain().queue("small"))).collect();
    let replacing = || unique("k").on_conflict(Strategy::Replace).queue("small");
    let second = bench.enqueue(Draft { bound: bound(2), ..replacing() }).job.id;
    assert_eq!((bench.state(held), bench.state(others[0])), (State::Cancelled, State::Discarded));
    assert_eq!(
        bench.queue("small").unwrap().counts.waiting(),
        3,
        "one came, one was replaced, one displaced"
    );
    let third = bench.enqueue(Draft { bound: bound(1), ..replacing().priority(-5) }).job.id;
    assert_eq!((bench.state(second), bench.state(others[1])), (State::Cancelled, State::Discarded));
    // The only one of its priority leaves anyway, and one comes for it.
    let fourth = bench.enqueue(Draft { bound: bound(1), ..replacing() }).job.id;
    assert_eq!((bench.state(third), bench.state(fourth)), (State::Cancelled, State::Available));
    assert_eq!(bench.state(others[2]), State::Available);
}

pub(super) fn a_batch_that_does_not_fit_is_refused_whole(bench: &mut Bench) {
    let draft = || bounded(2, Overflow::Reject);
    let refusal = bench.try_enqueue_all(vec![draft(), draft(), draft()]).unwrap_err();
    assert_eq!(refusal, Refusal::InBatch { index: 2, refusal: Box::new(full(2, 2)) });
    assert_eq!(bench.queue("small"), None);
    assert_eq!(bench.try_enqueue_all(vec![draft(), draft()]).unwrap().len(), 2);
}

pub(super) fn a_job_that_is_barred_is_not_stored(bench: &mut Bench) {
    let refusal = Refusal::QueueDraining(queue("small"));
    let barred = Some(refusal.clone());
    assert_eq!(bench.try_enqueue(Draft { barred, ..plain() }), Err(refusal));
    assert_eq!(bench.fetch_ids(9), []);
}

pub(super) fn many_at_once_do_not_overfill_a_queue(bench: &mut Bench) {
    let rounds = 10;
    let answers = race(bench, rounds, |racer, round| {
        let mut draft = bounded(7, Overflow::Reject);
        draft.spec.queue = queue(&format!("small-{round}"));
        let incoming = Box::new(draft.incoming(racer.chances.id(racer.now)));
        match racer.act(Action::Enqueue { incoming, memo: None }) {
            Ok(Done::Enqueued(admission)) => Some(admission.job.id),
            Err(Refusal::QueueFull { .. }) => None,
            other => panic!("{other:?}"),
        }
    });
    for (round, ids) in answers.into_iter().enumerate() {
        let ids: Vec<_> = ids.into_iter().flatten().collect();
        assert_eq!(ids.len(), 7);
        assert_eq!(bench.queue(&format!("small-{round}")).unwrap().counts.waiting(), 7);
        bench.add_ids(ids);
    }
}
