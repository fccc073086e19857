//! Rate limits: how many run at a time, how many start, and what becomes of the others.

use std::time::Duration;

use hapax_core::limit::{LimitKey, Limits, OnLimit, Pace, Ruling, Strategy, Window};
use hapax_core::unique::{Field, Replacement};
use hapax_core::workflow::{Shape, WorkflowState};
use hapax_core::{Bound, Event, Job, JobId, Overflow, Phase, SpecPatch, State, Timestamp};

use super::bench::{ALL, Bench, HOUR, INSTANT, MINUTE, SECOND, error, holder_of};
use super::draft::{Draft, plain, queue, unique};
use super::wait;
use crate::limit::{self, POSTPONED_FOR};
use crate::{Action, Done, HeldBack, LimitFacts, LimitQuery};

pub(super) fn at_a_time(concurrency: u32) -> Limits {
    Limits { concurrency: Some(concurrency), ..Limits::default() }
}

pub(super) fn per(limit: i64, period: Duration) -> Limits {
    Limits { rate: Some(Pace::new(limit, period, Window::Sliding).unwrap()), ..Limits::default() }
}

pub(super) fn spaced(limit: i64, period: Duration) -> Limits {
    Limits { throttle: Some(Pace::new(limit, period, Window::Spaced).unwrap()), ..Limits::default() }
}

pub(super) fn key(name: &str) -> LimitKey {
    LimitKey::parse(name).unwrap()
}

fn many(bench: &mut Bench, count: usize, draft: &Draft) -> Vec<JobId> {
    (0..count).map(|_| bench.create(draft.clone())).collect()
}

fn decide(bench: &Bench, key: &LimitKey, ruling: Option<Ruling>) {
    let edit = limit::decided(ruling, bench.now);
    let done = bench.act(Action::Edit { key: limit::key(key), edit }).unwrap();
    assert!(matches!(done, Done::Edited { .. }));
}

fn ruling(limits: Limits, expires_at: Option<Timestamp>) -> Ruling {
    Ruling { limits, expires_at }
}

fn facts(bench: &Bench, key: &LimitKey) -> Option<LimitFacts> {
    wait(bench.store().limit(key.clone())).unwrap()
}

fn ids(jobs: &[Job]) -> Vec<JobId> {
    jobs.iter().map(|job| job.id).collect()
}

/// For whom there was no room.
fn held(bench: &mut Bench, count: usize) -> Vec<HeldBack> {
    let wish = bench.wish(&["default"], count);
    wait(bench.store().claim(wish)).unwrap().held
}

pub(super) fn only_so_many_run_at_a_time(bench: &mut Bench) {
    let all = many(bench, 4, &plain().limited("api", at_a_time(2)));
    let running = bench.fetch(&["default"], 9);
    assert_eq!(ids(&running), all[..2]);
    assert_eq!(bench.fetch_ids(9), []);
    assert_eq!(bench.state(all[2]), State::Available, "it waits where it was");
    bench.acknowledge(&running[1]).unwrap();
    assert_eq!(bench.fetch_ids(9), all[2..3]);
    bench.reopen();
    assert_eq!(bench.fetch_ids(9), [], "nor after a restart");
    bench.acknowledge(&running[0]).unwrap();
    assert_eq!(bench.fetch_ids(9), all[3..]);
}

pub(super) fn others_go_past_those_for_whom_there_is_no_room(bench: &mut Bench) {
    let limited = many(bench, 3, &plain().limited("api", at_a_time(1)).priority(5));
    let other = bench.create(plain().limited("other", at_a_time(1)));
    let free = bench.create(plain());
    assert_eq!(bench.fetch_ids(9), [limited[0], other, free]);
    let late = bench.create(plain().priority(-5));
    let held = held(bench, 9);
    assert_eq!(bench.state(late), State::Active);
    let [held] = &held[..] else { return assert!(held.is_empty(), "{held:?}") };
    assert_eq!((held.job, &held.key), (limited[1], &key("api")));
    assert_eq!((held.closed.strategy, held.closed.limit, held.closed.current), (Strategy::Concurrency, 1, 1));
}

pub(super) fn a_key_is_shared_by_queues(bench: &mut Bench) {
    let draft = plain().limited("api", at_a_time(1));
    let first = bench.create(draft.clone().queue("alpha"));
    let second = bench.create(draft.queue("beta"));
    let running = bench.fetch(&["beta"], 1);
    assert_eq!(ids(&running), [second]);
    assert_eq!(bench.fetch(&["alpha"], 1), []);
    bench.acknowledge(&running[0]).unwrap();
    assert_eq!(ids(&bench.fetch(&["beta", "alpha"], 1)), [first]);
}

pub(super) fn a_lapsed_lease_makes_room(bench: &mut Bench) {
    let draft = plain().limited("api", at_a_time(1)).visibility_timeout(MINUTE);
    let all = many(bench, 2, &draft);
    assert_eq!(bench.fetch_ids(2), all[..1]);
    assert_eq!(bench.fetch_ids(2), []);
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.fetch_ids(2), all[1..], "the one that lapsed went to the end of the line");
}

pub(super) fn every_end_makes_room(bench: &mut Bench) {
    let draft = plain().limited("api", at_a_time(1));
    let ends: [fn(&Bench, &Job); 4] = [
        |bench, job| drop(bench.acknowledge(job).unwrap()),
        |bench, job| drop(bench.fail(job).unwrap()),
        |bench, job| drop(bench.step(job.id, Event::Cancel).unwrap()),
        |bench, job| {
            let directive = hapax_core::Directive::Policy;
            drop(bench.fail_with(job, directive, hapax_core::Handback::Requeue).unwrap());
        },
    ];
    for end in ends {
        bench.create(draft.clone());
        bench.create(draft.clone());
        let running = bench.fetch(&["default"], 2);
        assert_eq!((running.len(), bench.fetch_ids(1)), (1, vec![]));
        end(bench, &running[0]);
        let next = bench.fetch(&["default"], 2);
        assert_eq!(next.len(), 1);
        bench.renew();
    }
}

pub(super) fn what_a_dropped_job_held_up_goes_on(bench: &mut Bench) {
    let limited = || plain().limited("api", at_a_time(1)).on_limit(OnLimit::Drop);
    bench.create(limited());
    assert_eq!(bench.fetch_ids(1).len(), 1);
    let line = [limited(), plain()].map(|draft| bench.create(draft.ordered("k")));
    let steps = [limited().queue("steps"), plain().queue("steps")].map(Shape::Job);
    let workflow = bench.start(Shape::Chain(steps.to_vec()));
    bench.fetch_ids(9);
    assert_eq!(bench.state(line[0]), State::Discarded);
    let next = bench.state(line[1]);
    assert!(matches!(next, State::Available | State::Active), "it is {next:?}");
    bench.fetch(&["steps"], 9);
    assert_eq!(bench.state(workflow.job(0)), State::Discarded);
    // A shared store may leave that to the chores.
    bench.advance();
    assert_eq!((&*bench.marks(workflow), bench.workflow(workflow).state), ("fx", WorkflowState::Failed));
    assert_eq!(bench.state(workflow.job(1)), State::Cancelled);
}

pub(super) fn only_so_many_start_in_a_window(bench: &mut Bench) {
    let all = many(bench, 5, &plain().limited("api", per(2, MINUTE)));
    let first = bench.fetch(&["default"], 9);
    assert_eq!(ids(&first), all[..2]);
    bench.acknowledge(&first[0]).unwrap();
    let held = held(bench, 9);
    assert_eq!(held[0].closed.until, Some(bench.now + MINUTE));
    assert_eq!(bench.advance().next_due, Some(bench.now + MINUTE), "the store knows when there is room");
    bench.pass_almost(MINUTE);
    bench.advance();
    assert_eq!(bench.fetch_ids(9), [], "ends make no room");
    bench.reopen();
    bench.pass_and_advance(INSTANT);
    assert_eq!(bench.fetch_ids(9), all[2..4]);
    bench.pass_and_advance(MINUTE * 2);
    assert_eq!(bench.fetch_ids(9), all[4..]);
}

pub(super) fn starts_keep_their_distance(bench: &mut Bench) {
    let all = many(bench, 3, &plain().limited("api", spaced(10, SECOND)));
    assert_eq!(bench.fetch_ids(9), all[..1]);
    assert_eq!(bench.fetch_ids(9), []);
    bench.pass_and_advance(Duration::from_millis(99));
    assert_eq!(bench.fetch_ids(9), []);
    bench.pass_and_advance(INSTANT);
    assert_eq!(bench.fetch_ids(9), all[1..2]);
}

pub(super) fn the_order_within_a_limit_is_kept(bench: &mut Bench) {
    let draft = plain().limited("api", at_a_time(1));
    let low = bench.create(draft.clone());
    let later = bench.create(draft.clone());
    let running = bench.fetch(&["default"], 9);
    assert_eq!((ids(&running), bench.fetch_ids(1)), (vec![low], vec![]));
    let high = bench.create(draft.clone().priority(9));
    assert_eq!(bench.fetch_ids(1), []);
    let newest = bench.create(draft);
    bench.acknowledge(&running[0]).unwrap();
    let mut order = Vec::new();
    while let [job] = &bench.fetch(&["default"], 9)[..] {
        order.push(job.id);
        bench.acknowledge(job).unwrap();
    }
    assert_eq!(order, [high, later, newest]);
}

pub(super) fn a_job_may_come_back_later_instead(bench: &mut Bench) {
    let draft = plain().limited("api", per(1, MINUTE)).on_limit(OnLimit::Reschedule);
    let all = many(bench, 3, &draft);
    assert_eq!(bench.fetch_ids(1), all[..1]);
    let there = bench.now + MINUTE;
    assert_eq!(bench.fetch(&["default"], 9).iter().filter(|job| job.state() == State::Active).count(), 0);
    for id in &all[1..] {
        assert_eq!(bench.job(*id).phase, Phase::Scheduled { at: there });
    }
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.state(all[1]), State::Available);
    assert_eq!(bench.fetch_ids(1), all[1..2]);
    let draft = plain().limited("slow", at_a_time(0)).on_limit(OnLimit::Reschedule).queue("slow");
    let never = bench.create(draft);
    bench.fetch(&["slow"], 1);
    assert_eq!(bench.job(never).phase, Phase::Scheduled { at: bench.now + POSTPONED_FOR });
}

pub(super) fn a_job_may_be_dropped_instead(bench: &mut Bench) {
    let draft = plain().limited("api", at_a_time(1)).on_limit(OnLimit::Drop);
    let all = many(bench, 3, &draft);
    assert_eq!(bench.fetch_ids(9), all[..1]);
    for id in &all[1..] {
        let job = bench.job(*id);
        assert_eq!((job.state(), job.phase.is_dead_letter()), (State::Discarded, false));
        assert_eq!(&*job.history.current().unwrap().code, "rate_limited");
    }
}

pub(super) fn a_worker_closes_a_key_for_a_while(bench: &mut Bench) {
    let draft = plain().limited("api", at_a_time(5));
    let all = many(bench, 2, &draft);
    let running = bench.fetch(&["default"], 1);
    let until = bench.now + MINUTE;
    let error =
        hapax_core::WorkerError { rate_limit_until: Some(until), ..error(hapax_core::Directive::DeadLetter) };
    let (claimant, handback) = (holder_of(&running[0]), hapax_core::Handback::Failed);
    let event = Event::Fail { claimant, error, handback, chance: hapax_core::Chance(0) };
    bench.step(running[0].id, event).unwrap();
    assert_eq!(bench.fetch_ids(9), []);
    assert_eq!(facts(bench, &key("api")).unwrap().memory.closed_until, Some(until));
    let free = bench.create(plain());
    assert_eq!(bench.fetch_ids(9), [free]);
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.fetch_ids(9), all[1..]);
}

pub(super) fn an_operator_decides_for_a_while(bench: &mut Bench) {
    let all = many(bench, 4, &plain().limited("api", at_a_time(1)));
    let end = bench.now + MINUTE;
    decide(bench, &key("api"), Some(ruling(at_a_time(0), Some(end))));
    assert_eq!(bench.fetch_ids(9), []);
    decide(bench, &key("api"), Some(ruling(at_a_time(2), Some(end))));
    assert_eq!(bench.fetch_ids(9), all[..2]);
    decide(bench, &key("api"), None);
    assert_eq!(bench.fetch_ids(9), []);
    decide(bench, &key("api"), Some(ruling(at_a_time(0), Some(end))));
    for id in &all[..2] {
        bench.step(*id, Event::Cancel).unwrap();
    }
    assert_eq!(bench.fetch_ids(9), []);
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.fetch_ids(9), all[2..3], "its own figures count again");
    assert_eq!(facts(bench, &key("api")).unwrap().memory.ruling, None);
}

pub(super) fn an_operator_can_be_the_only_one_who_decides(bench: &mut Bench) {
    let all = many(bench, 3, &plain().limited("api", Limits::default()));
    decide(bench, &key("api"), Some(ruling(at_a_time(1), None)));
    assert_eq!(bench.fetch_ids(9), all[..1]);
    decide(bench, &key("api"), None);
    assert_eq!(bench.fetch_ids(9), all[1..]);
}

pub(super) fn a_limit_of_a_queue_counts_all_of_its_jobs(bench: &mut Bench) {
    let mail = LimitKey::of_queue(&queue("mail"));
    let all = many(bench, 6, &plain().queue("mail"));
    let other = bench.create(plain());
    decide(bench, &mail, Some(ruling(at_a_time(2), None)));
    let running = bench.fetch(&["mail", "default"], 9);
    assert_eq!(ids(&running), [all[0], all[1], other]);
    bench.reopen();
    assert_eq!(bench.fetch(&["mail"], 9), []);
    bench.acknowledge(&running[0]).unwrap();
    assert_eq!(ids(&bench.fetch(&["mail"], 9)), all[2..3]);
    assert_eq!(facts(bench, &mail).unwrap().active, 2);
    decide(bench, &mail, Some(ruling(per(1, MINUTE), None)));
    assert_eq!(ids(&bench.fetch(&["mail"], 9)), all[3..4]);
    assert_eq!(bench.fetch(&["mail"], 9), []);
    bench.pass_and_advance(MINUTE);
    assert_eq!(ids(&bench.fetch(&["mail"], 9)), all[4..5]);
    decide(bench, &mail, None);
    assert_eq!(ids(&bench.fetch(&["mail"], 9)), all[5..]);
}

pub(super) fn a_queue_keeps_its_own_limit_beside_those_of_its_jobs(bench: &mut Bench) {
    let mail = LimitKey::of_queue(&queue("mail"));
    let limited = many(bench, 2, &plain().queue("mail").limited("api", at_a_time(1)));
    let free = many(bench, 2, &plain().queue("mail"));
    decide(bench, &mail, Some(ruling(at_a_time(2), None)));
    assert_eq!(ids(&bench.fetch(&["mail"], 9)), [limited[0], free[0]]);
    bench.step(free[0], Event::Cancel).unwrap();
    assert_eq!(ids(&bench.fetch(&["mail"], 9)), free[1..]);
    assert_eq!(bench.state(limited[1]), State::Available);
}

pub(super) fn limits_are_shown_while_they_matter(bench: &mut Bench) {
    assert_eq!(facts(bench, &key("api")), None);
    let limits = at_a_time(2).or(per(9, HOUR));
    many(bench, 3, &plain().limited("api", limits));
    let shown = facts(bench, &key("api")).unwrap();
    assert_eq!((shown.active, shown.available), (0, 3));
    assert_eq!(shown.newest.map(|newest| newest.limits), Some(limits));
    let running = bench.fetch(&["default"], 9);
    let shown = facts(bench, &key("api")).unwrap();
    assert_eq!((shown.active, shown.available), (2, 1));
    assert_eq!(shown.memory.starts.in_window(HOUR, bench.now), 2);
    for job in running.iter().chain(&bench.fetch(&["default"], 9)) {
        bench.acknowledge(job).unwrap();
    }
    let last = bench.fetch_one();
    bench.acknowledge(&last).unwrap();
    let shown = facts(bench, &key("api")).unwrap();
    assert_eq!((shown.active, shown.available, shown.newest), (0, 0, None), "what started is remembered");
    bench.pass_and_advance(HOUR * 2);
    assert_eq!(facts(bench, &key("api")), None);
}

pub(super) fn limits_are_listed_by_key(bench: &mut Bench) {
    for name in ["b", "a", "d", "C"] {
        bench.create(plain().limited(name, at_a_time(1)));
    }
    decide(bench, &key("c"), Some(ruling(at_a_time(1), None)));
    let list = |after: Option<&str>, limit| {
        let query = LimitQuery { after: after.map(key), limit };
        let page = wait(bench.store().limits(query)).unwrap();
        (page.limits.iter().map(|facts| facts.key.to_string()).collect::<Vec<_>>(), page.has_more)
    };
    assert_eq!(list(None, ALL), (["C", "a", "b", "c", "d"].map(String::from).to_vec(), false));
    assert_eq!(list(None, 2), (["C", "a"].map(String::from).to_vec(), true));
    assert_eq!(list(Some("a"), 2), (["b", "c"].map(String::from).to_vec(), true));
    assert_eq!(list(Some("c"), 2), (["d"].map(String::from).to_vec(), false));
}

pub(super) fn what_was_remembered_is_forgotten(bench: &mut Bench) {
    bench.create(plain().limited("api", per(1, MINUTE)));
    bench.complete_one();
    assert!(wait(bench.store().entry(limit::key(&key("api")))).unwrap().is_some());
    bench.pass_and_advance(MINUTE);
    assert_eq!(wait(bench.store().entry(limit::key(&key("api")))).unwrap(), None);
    bench.create(plain().limited("few", at_a_time(1)));
    bench.complete_one();
    assert_eq!(wait(bench.store().entry(limit::key(&key("few")))).unwrap(), None, "nothing to remember");
}

pub(super) fn a_job_that_goes_to_another_queue_limits_itself_there(bench: &mut Bench) {
    let of_jobs = |name: &str| LimitKey::of_jobs_in(&queue(name));
    let mut draft = plain().queue("alpha").limited("x", at_a_time(1)).dies_at_once();
    if let Some(limit) = &mut draft.spec.rate_limit {
        limit.key = of_jobs("alpha");
    }
    let id = bench.create(draft);
    let running = bench.fetch(&["alpha"], 1);
    assert_eq!(facts(bench, &of_jobs("alpha")).unwrap().active, 1);
    bench.fail(&running[0]).unwrap();
    let patch = SpecPatch { queue: Some(queue("beta")), ..SpecPatch::default() };
    bench.step(id, Event::Revive { patch }).unwrap();
    assert_eq!(facts(bench, &of_jobs("alpha")), None);
    assert_eq!(facts(bench, &of_jobs("beta")).unwrap().available, 1);
    assert_eq!(ids(&bench.fetch(&["beta"], 1)), [id]);
}

pub(super) fn a_running_job_that_goes_to_another_queue_makes_room_where_it_was(bench: &mut Bench) {
    let limited = |draft: Draft| {
        let mut draft = draft.queue("alpha").limited("x", at_a_time(1));
        if let Some(limit) = &mut draft.spec.rate_limit {
            limit.key = LimitKey::of_jobs_in(&queue("alpha"));
        }
        draft
    };
    let first = bench.create(limited(unique("k")));
    let second = bench.create(limited(plain()));
    let running = bench.fetch(&["alpha"], 2);
    assert_eq!((ids(&running), bench.fetch(&["alpha"], 1)), (vec![first], vec![]));
    let to_beta = Replacement::everywhere([Field::Queue].into_iter().collect());
    let moved = bench.enqueue(unique("k").queue("beta").replacing(to_beta)).job;
    assert_eq!((moved.id, moved.state(), &moved.spec.queue), (first, State::Active, &queue("beta")));
    assert_eq!(ids(&bench.fetch(&["alpha"], 1)), [second]);
    bench.acknowledge(&running[0]).unwrap();
}

pub(super) fn a_full_queue_gives_up_one_that_has_no_room(bench: &mut Bench) {
    let mut draft = plain().queue("small").limited("api", at_a_time(0));
    draft.bound = Some(Bound { max: 2, overflow: Overflow::DropOldest });
    let first = bench.create(draft.clone());
    bench.create(draft.clone());
    assert_eq!(bench.fetch(&["small"], 9), []);
    let third = bench.enqueue(draft).job.id;
    assert_eq!((bench.state(first), bench.state(third)), (State::Discarded, State::Available));
}

pub(super) fn many_without_room_are_in_nobodys_way(bench: &mut Bench) {
    let closed: Vec<Draft> =
        (0..300).map(|n| plain().limited(&format!("key-{n}"), at_a_time(0)).priority(9)).collect();
    let behind_one = vec![plain().limited("one", at_a_time(0)).priority(8); 1500];
    for batch in [closed, behind_one] {
        bench.try_enqueue_all(batch).unwrap();
    }
    let free = many(bench, 3, &plain());
    for id in free {
        assert_eq!(bench.fetch_ids(1), [id]);
    }
    assert_eq!(bench.fetch_ids(9), []);
    decide(bench, &key("one"), Some(ruling(at_a_time(1), None)));
    assert_eq!(bench.fetch_ids(9).len(), 1);
}
