//! Recurring jobs: one job for each moment, whoever looks and however often.

use std::sync::Arc;
use std::time::Duration;

use hapax_core::cron::{Cron, Outcome, Overlap, Schedule, Template, Zone};
use hapax_core::unique::Strategy;
use hapax_core::{
    Event, Job, JobId, KeptFor, QueueSettings, Refusal, RetryPolicy, State, StateSet, Timestamp, Unsaid,
    UnsaidRetry,
};

use super::bench::{Bench, DAY, HOUR, MINUTE, SECOND, release, waits_for};
use super::draft::{Draft, job_key, plain, unique};
use super::race::race;
use super::wait;
use crate::record::cron as record;
use crate::{
    Action, Answer, DEFAULT_SETTINGS, Done, Edit, Memo, MemoKey, Remembered, Tick, Written, cron, settings,
};

fn recurring(bench: &Bench, expression: &str, draft: Draft) -> Cron {
    let mut cron = Cron {
        name: "nightly".into(),
        expression: expression.into(),
        schedule: Schedule::parse(expression).unwrap(),
        zone: Zone::UTC,
        overlap: Overlap::Skip,
        enabled: true,
        description: Some("for people".into()),
        template: Template {
            spec: draft.spec,
            key: draft.key,
            starts_after: None,
            expires_after: None,
            unsaid: Unsaid {
                retry: UnsaidRetry::Policy,
                timeout: true,
                visibility_timeout: true,
                share: true,
            },
        },
        created_at: bench.now,
        anchor: bench.now,
        last_run_at: None,
        last_job: None,
        next_run_at: None,
        run_count: 0,
        told_until: bench.now,
    };
    cron.next_run_at = cron.next_after(bench.now);
    cron
}

fn register(bench: &Bench, cron: &Cron) {
    let written = cron::written(cron);
    let edit = Edit::new(move |_| Ok(Some(written.clone())));
    bench.act(Action::Edit { key: cron::key(&cron.name), edit }).unwrap();
}

fn stored(bench: &Bench) -> Cron {
    let entry = wait(bench.store().entry(cron::key("nightly"))).unwrap().expect("it is registered");
    record::read("nightly", &entry.written.body).unwrap()
}

/// Lets everything happen that is due; what recurring jobs did.
fn ticks(bench: &mut Bench) -> Vec<Tick> {
    let ticks = bench.advance().ticks;
    let admitted = ticks.iter().filter_map(|tick| tick.admission.as_ref());
    let made = admitted.filter(|admission| admission.verdict.is_new()).map(|admission| admission.job.id);
    let made: Vec<JobId> = made.collect();
    bench.add_ids(made);
    ticks
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

pub(super) fn a_recurring_job_makes_one_job_for_each_moment(bench: &mut Bench) {
    let cron = recurring(bench, "* * * * *", plain().args("[1.0]"));
    register(bench, &cron);
    assert_eq!(stored(bench), cron);
    assert!(ticks(bench).is_empty());
    bench.pass(MINUTE);
    let made = ticks(bench);
    assert_eq!((made.len(), made[0].at), (1, bench.now));
    let job = bench.fetch_one();
    assert_eq!((made[0].outcome.clone(), job.spec.args.as_str()), (Some(Outcome::Made(job.id)), "[1.0]"));
    assert_eq!(
        job.spec.meta.as_str(),
        r#"{"cron_name":"nightly","cron_triggered_at":"2026-03-01T09:31:00.000Z"}"#
    );
    bench.reopen();
    assert!(ticks(bench).is_empty(), "no second one for the same moment");
    bench.acknowledge(&job).unwrap();
    bench.pass(MINUTE);
    assert_eq!(ticks(bench).len(), 1);
    let after = stored(bench);
    assert_eq!((after.run_count, after.last_run_at), (2, Some(bench.now)));
    assert_eq!(after.next_run_at, Some(bench.now + MINUTE));
    assert_eq!(bench.advance().next_due, after.next_run_at);
}

pub(super) fn a_moment_whose_job_is_gone_is_not_seen_to_again(bench: &mut Bench) {
    register(bench, &recurring(bench, "* * * * *", plain()));
    bench.pass(MINUTE);
    assert_eq!(ticks(bench).len(), 1);
    let job = bench.fetch_one();
    bench.acknowledge(&job).unwrap();
    bench.step(job.id, Event::Delete).unwrap();
    assert_eq!(bench.get(job.id), None);
    let mut settled = stored(bench);
    settled.next_run_at = settled.last_run_at;
    register(bench, &settled);
    let again = ticks(bench);
    assert_eq!((again.len(), again[0].outcome.clone()), (1, None));
    assert_eq!((bench.fetch_ids(9), stored(bench).run_count), (vec![], 1));
}

pub(super) fn the_next_run_waits_whatever_becomes_of_keys(bench: &mut Bench) {
    let waiting = || StateSet::of(&[State::Scheduled, State::Available]);
    for (draft, releases) in [(unique("k").states(waiting()), true), (job_key("name"), false)] {
        let cron = Cron { overlap: Overlap::Enqueue, ..recurring(bench, "@yearly", draft) };
        register(bench, &cron);
        let first = run(bench).admission.unwrap().job.id;
        let running = bench.fetch_one();
        let second = run(bench).admission.unwrap().job;
        assert_eq!((running.id, waits_for(&second)), (first, Some(first)));
        if releases {
            bench.step(first, release()).unwrap();
        }
        bench.heartbeat(&running).unwrap();
        assert_eq!(bench.fetch_ids(9), [], "its key is free, but it runs");
        bench.acknowledge(&running).unwrap();
        assert_eq!(bench.fetch_ids(9), [second.id]);
        bench.renew();
    }
}

pub(super) fn missed_moments_are_made_up_for_once(bench: &mut Bench) {
    register(bench, &recurring(bench, "0 * * * *", plain()));
    bench.pass(DAY);
    let made = ticks(bench);
    assert_eq!((made.len(), made[0].at), (1, at("2026-03-01T10:00:00Z")));
    assert_eq!(stored(bench).next_run_at, Some(at("2026-03-02T10:00:00Z")));
    bench.set_back(HOUR * 5);
    assert!(ticks(bench).is_empty(), "a clock that is set back makes nothing twice");
}

pub(super) fn what_a_clock_jumped_over_is_told_once(bench: &mut Bench) {
    let zone = Zone::parse("Europe/Berlin").unwrap();
    let cron = recurring(bench, "30 2 * * *", plain());
    let mut cron = Cron { zone, ..cron };
    cron.next_run_at = cron.next_after(bench.now);
    register(bench, &cron);
    let mut told = Vec::new();
    // The first job never ends, so that no later moment has one.
    for _ in 0..31 {
        bench.pass(DAY);
        told.extend(ticks(bench).into_iter().flat_map(|tick| tick.skipped));
    }
    assert_eq!(told.len(), 1, "the clocks went ahead on 29 March: {told:?}");
}

pub(super) fn a_job_that_has_not_ended_is_treated_as_the_policy_says(bench: &mut Bench) {
    for overlap in Overlap::ALL {
        register(bench, &Cron { overlap, ..recurring(bench, "* * * * *", plain()) });
        bench.pass(MINUTE);
        ticks(bench);
        let first = bench.fetch_one();
        bench.pass(MINUTE);
        let tick = ticks(bench).remove(0);
        let second = bench.fetch(&["default"], 9);
        let ids = |jobs: &[Job]| jobs.iter().map(|job| job.id).collect::<Vec<_>>();
        match overlap {
            Overlap::Skip => {
                assert_eq!(tick.outcome, Some(Outcome::Overlapped(first.id)));
                assert_eq!((ids(&second), stored(bench).run_count), (vec![], 1));
            }
            Overlap::Allow => assert_eq!(tick.outcome, Some(Outcome::Made(second[0].id))),
            Overlap::CancelPrevious => {
                assert_eq!((bench.state(first.id), second.len()), (State::Cancelled, 1));
                assert!(tick.cancelled.is_some());
            }
            Overlap::Enqueue => {
                assert_eq!(ids(&second), []);
                bench.acknowledge(&first).unwrap();
                assert_eq!(tick.outcome, Some(Outcome::Made(bench.fetch_one().id)));
            }
        }
        bench.renew();
    }
}

pub(super) fn a_unique_recurring_job_meets_the_holder_of_its_key(bench: &mut Bench) {
    for (strategy, made) in [(Strategy::Ignore, false), (Strategy::Reject, false), (Strategy::Replace, true)]
    {
        let holder = bench.create(unique("k").scheduled_at(bench.now + DAY));
        register(bench, &recurring(bench, "* * * * *", unique("k").on_conflict(strategy)));
        bench.pass(MINUTE);
        let tick = ticks(bench).remove(0);
        assert_eq!(tick.outcome == Some(Outcome::Duplicate(holder)), !made, "{strategy:?}");
        assert_eq!((bench.fetch_ids(9).len(), stored(bench).run_count), (usize::from(made), u64::from(made)));
        bench.renew();
    }
}

pub(super) fn times_of_a_recurring_job_count_from_its_moment(bench: &mut Bench) {
    let mut cron = recurring(bench, "* * * * *", plain());
    cron.template.starts_after = Some(Duration::from_secs(10));
    cron.template.expires_after = Some(Duration::from_secs(20));
    register(bench, &cron);
    bench.pass(MINUTE);
    let job = ticks(bench).remove(0).admission.unwrap().job;
    let given = |given: &Option<hapax_core::GivenTime>| given.as_ref().map(|given| given.at);
    assert_eq!(given(&job.spec.scheduled_at), Some(bench.now + SECOND * 10));
    assert_eq!(given(&job.spec.expires_at), Some(bench.now + SECOND * 20));
}

pub(super) fn a_disabled_one_makes_nothing_and_a_removed_one_neither(bench: &mut Bench) {
    let cron = recurring(bench, "* * * * *", plain());
    register(bench, &Cron { enabled: false, ..cron.clone() });
    bench.pass(HOUR);
    assert!(ticks(bench).is_empty());
    register(bench, &cron);
    bench.act(Action::Edit { key: cron::key("nightly"), edit: Edit::new(|_| Ok(None)) }).unwrap();
    bench.pass(HOUR);
    assert!(ticks(bench).is_empty());
}

pub(super) fn it_can_be_run_by_hand(bench: &mut Bench) {
    let cron = recurring(bench, "@yearly", plain());
    let id = bench.new_id();
    let run = |bench: &Bench, id| bench.act(Action::RunCron { key: cron::key("nightly"), id, memo: None });
    assert_eq!(run(bench, id), Err(Refusal::NoEntry { register: "cron", name: "nightly".into() }));
    register(bench, &cron);
    let Ok(Done::CronRan(tick)) = run(bench, id) else { panic!("it runs") };
    assert_eq!(tick.outcome, Some(Outcome::Made(id)));
    assert_eq!(bench.fetch_ids(9), [id]);
    assert_eq!((stored(bench).run_count, stored(bench).next_run_at), (1, cron.next_run_at));
    let other = bench.new_id();
    let Ok(Done::CronRan(tick)) = run(bench, other) else { panic!("it runs") };
    assert_eq!(tick.outcome, Some(Outcome::Overlapped(id)));
}

pub(super) fn a_run_by_hand_that_is_asked_for_again_makes_no_other_job(bench: &mut Bench) {
    let cron = Cron { overlap: Overlap::Allow, ..recurring(bench, "@yearly", plain()) };
    register(bench, &cron);
    let run = |bench: &Bench, id, name: &str| {
        let render = |_: &Answer| Remembered { status: 200, body: (*b"ran").into() };
        let key = MemoKey(name.into());
        let memo = Some(Memo { key, fingerprint: [7; 32], render: Arc::new(render) });
        bench.act(Action::RunCron { key: cron::key("nightly"), id, memo })
    };
    let (first, again, other) = (bench.new_id(), bench.new_id(), bench.new_id());
    assert!(matches!(run(bench, first, "a"), Ok(Done::CronRan(_))));
    assert!(matches!(run(bench, again, "a"), Ok(Done::Remembered(_))));
    bench.reopen();
    assert!(matches!(run(bench, again, "a"), Ok(Done::Remembered(_))));
    assert!(matches!(run(bench, other, "b"), Ok(Done::CronRan(_))));
    assert_eq!(bench.fetch_ids(9), [first, other]);
    assert_eq!(stored(bench).run_count, 2);
}

/// Lets it make a job now.
fn run(bench: &mut Bench) -> Tick {
    let id = bench.new_id();
    let Ok(Done::CronRan(tick)) = bench.act(Action::RunCron { key: cron::key("nightly"), id, memo: None })
    else {
        panic!("it runs")
    };
    *tick
}

pub(super) fn a_run_that_leaves_its_line_lets_nobody_overlap(bench: &mut Bench) {
    let cron = Cron { overlap: Overlap::Enqueue, ..recurring(bench, "@yearly", plain()) };
    register(bench, &cron);
    let ids: Vec<JobId> = (0..5).map(|_| run(bench).admission.unwrap().job.id).collect();
    bench.step(ids[1], Event::Cancel).unwrap();
    assert_eq!(waits_for(&bench.job(ids[2])), Some(ids[0]));
    let first = bench.fetch_one();
    assert_eq!((first.id, bench.fetch_ids(9)), (ids[0], vec![]));
    bench.step(ids[3], Event::Cancel).unwrap();
    bench.acknowledge(&first).unwrap();
    let third = bench.fetch_one();
    assert_eq!((third.id, bench.fetch_ids(9)), (ids[2], vec![]));
    bench.acknowledge(&third).unwrap();
    assert_eq!(bench.fetch_ids(9), [ids[4]]);
}

pub(super) fn a_run_that_expires_in_its_line_lets_nobody_overlap(bench: &mut Bench) {
    let cron = Cron { overlap: Overlap::Enqueue, ..recurring(bench, "@yearly", plain()) };
    register(bench, &cron);
    let first = run(bench).admission.unwrap().job.id;
    let mut hurried = stored(bench);
    hurried.template.expires_after = Some(Duration::from_secs(20));
    register(bench, &hurried);
    let second = run(bench).admission.unwrap().job.id;
    hurried = stored(bench);
    hurried.template.expires_after = None;
    register(bench, &hurried);
    let third = run(bench).admission.unwrap().job.id;
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.state(second), State::Discarded);
    assert_eq!((waits_for(&bench.job(third)), bench.fetch_ids(9)), (Some(first), vec![first]));
}

fn decide_about(bench: &Bench, name: &str, settings: &QueueSettings) {
    let body: std::sync::Arc<str> = crate::record::queue::write(settings).into();
    let edit = Edit::new(move |_| Ok(Some(Written { body: body.clone(), due_at: None })));
    bench.act(Action::Edit { key: settings::key(name), edit }).unwrap();
}

pub(super) fn a_run_follows_the_settings_of_its_queue(bench: &mut Bench) {
    let second = Some(Duration::from_secs(1));
    let of_all = QueueSettings { timeout: second, visibility_timeout: second, ..QueueSettings::default() };
    decide_about(bench, DEFAULT_SETTINGS, &of_all);
    let retry = RetryPolicy { max_attempts: 9, ..RetryPolicy::default() };
    let retention = KeptFor { completed: second, ..KeptFor::default() };
    let own = QueueSettings { retry: Some(retry), retention, ..QueueSettings::default() };
    decide_about(bench, "default", &own);
    register(bench, &recurring(bench, "* * * * *", plain()));
    bench.pass(MINUTE);
    let by_time = ticks(bench).remove(0).admission.unwrap().job;
    bench.fetch_one();
    register(bench, &Cron { overlap: Overlap::Allow, ..stored(bench) });
    let by_hand = run(bench).admission.unwrap().job;
    for job in [by_time, by_hand] {
        assert_eq!((job.spec.retry.max_attempts, job.spec.kept_for), (9, retention));
        assert_eq!(job.spec.timeout.map(|timeout| timeout.span), second);
        assert_eq!(job.spec.visibility_timeout, second);
    }
    let mut decided = stored(bench);
    decided.template.unsaid = Unsaid::default();
    register(bench, &decided);
    assert_eq!(run(bench).admission.unwrap().job.spec.retry, decided.template.spec.retry);
}

pub(super) fn a_queue_that_takes_no_jobs_takes_none_of_a_recurring_one(bench: &mut Bench) {
    let cancelling = Cron { overlap: Overlap::CancelPrevious, ..recurring(bench, "* * * * *", plain()) };
    register(bench, &cancelling);
    let before = run(bench).admission.unwrap().job;
    let others = QueueSettings { allowed_types: vec!["other".into()], ..QueueSettings::default() };
    let draining = QueueSettings { draining: Some(true), ..QueueSettings::default() };
    for (settings, reason) in [(draining, "queue_draining"), (others, "type_not_allowed")] {
        decide_about(bench, "default", &settings);
        bench.pass(MINUTE);
        let tick = ticks(bench).remove(0);
        let by_hand = run(bench);
        for tick in [tick, by_hand] {
            assert_eq!(tick.outcome.and_then(|outcome| outcome.reason()), Some(reason));
            assert_eq!((tick.admission, tick.cancelled), (None, None));
        }
    }
    assert_eq!((bench.fetch_ids(9), stored(bench).run_count), (vec![before.id], 1));
}

pub(super) fn a_run_that_is_refused_names_no_job_that_is_not_there(bench: &mut Bench) {
    bench.create(job_key("k").queue("a").ordered("line").scheduled_at(bench.now + DAY));
    register(bench, &recurring(bench, "@yearly", job_key("k").queue("b").ordered("line")));
    let tick = run(bench);
    assert!(matches!(tick.outcome, Some(Outcome::Refused(_))), "{:?}", tick.outcome);
    assert_eq!((tick.admission, stored(bench).last_job), (None, None));
}

pub(super) fn a_run_that_makes_nothing_calls_nothing_off(bench: &mut Bench) {
    let cancelling = |cron| Cron { overlap: Overlap::CancelPrevious, ..cron };
    register(bench, &cancelling(recurring(bench, "@yearly", unique("k"))));
    let first = run(bench).admission.unwrap().job.id;
    let second = run(bench);
    assert!(second.cancelled.is_some(), "its own key is no obstacle");
    let second = second.admission.unwrap().job.id;
    let other = bench.create(unique("k").states(StateSet::of(&[State::Completed])));
    let third = run(bench);
    assert_eq!(third.cancelled, None);
    assert!(matches!(third.outcome, Some(Outcome::Duplicate(id)) if id == second || id == other));
    assert_eq!((bench.state(first), bench.state(second)), (State::Cancelled, State::Available));
}

pub(super) fn a_moment_that_was_seen_to_calls_nothing_off(bench: &mut Bench) {
    let cron = recurring(bench, "* * * * *", plain());
    register(bench, &Cron { overlap: Overlap::CancelPrevious, ..cron });
    bench.pass(MINUTE);
    let made = ticks(bench).remove(0).admission.unwrap().job.id;
    // As if a clock had been set back.
    let mut again = stored(bench);
    again.next_run_at = Some(bench.now);
    register(bench, &again);
    let tick = ticks(bench).remove(0);
    assert_eq!((tick.outcome, tick.cancelled), (None, None));
    assert_eq!((bench.fetch_ids(9), stored(bench).run_count), (vec![made], 1));
}

pub(super) fn many_who_look_at_once_make_one_job(bench: &mut Bench) {
    register(bench, &Cron { overlap: Overlap::Allow, ..recurring(bench, "* * * * *", plain()) });
    let rounds = 10;
    let start = bench.now;
    let made = race(bench, rounds, |racer, round| {
        let now = start + MINUTE * (1 + u32::try_from(round).unwrap());
        let advance = wait(racer.store.advance(now, 100, hapax_core::Chance(0))).unwrap();
        advance
            .ticks
            .iter()
            .filter_map(|tick| tick.admission.as_ref())
            .map(|made| made.job.id)
            .collect::<Vec<_>>()
    });
    for round in made {
        let ids: Vec<JobId> = round.into_iter().flatten().collect();
        assert_eq!(ids.len(), 1, "one job for each moment");
        bench.add_ids(ids);
    }
}
