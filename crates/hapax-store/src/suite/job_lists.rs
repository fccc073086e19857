//! Lists of jobs by what they are.

use hapax_core::{
    Claimant, Directive, Event, Handback, Job, JobFilter, JobId, Json, KindPattern, MetaMember, Phase,
    Priority, State, StateSet, TimeRange, WorkerId, json,
};

use super::bench::{Bench, HOUR, MINUTE, SECOND, holder_of};
use super::draft::{Draft, plain, queue};
use super::wait;
use crate::{Claim, JOB_SCAN_BYTES_MAX, JOB_SCAN_MAX, JobPage, JobQuery, ListOrder};

fn look(bench: &Bench, query: JobQuery) -> JobPage {
    wait(bench.store().jobs(query)).unwrap()
}

/// All of them, in parts of that length.
fn walk(bench: &Bench, filter: &JobFilter, order: ListOrder, limit: usize) -> Vec<JobId> {
    let mut query = JobQuery { order, ..JobQuery::of(filter.clone(), limit) };
    let mut ids = Vec::new();
    loop {
        let JobPage { jobs, next } = look(bench, query.clone());
        assert!(jobs.len() <= limit, "no more than were wanted");
        ids.extend(jobs.iter().map(|job| job.id));
        if next.is_none() {
            return ids;
        }
        query.after = next;
    }
}

fn listed(bench: &Bench, filter: &JobFilter) -> Vec<JobId> {
    walk(bench, filter, ListOrder::NewestFirst, 100)
}

fn all() -> JobFilter {
    JobFilter::default()
}

/// Jobs one second apart, the oldest first.
fn create_apart(bench: &mut Bench, drafts: impl IntoIterator<Item = Draft>) -> Vec<JobId> {
    let create = |draft| {
        bench.pass(SECOND);
        bench.create(draft)
    };
    drafts.into_iter().map(create).collect()
}

pub(super) fn jobs_are_listed_in_the_order_of_their_ids_from_either_end(bench: &mut Bench) {
    let mut ids = create_apart(bench, [plain(), plain().queue("b"), plain().pending()]);
    bench.set_back(HOUR);
    ids.insert(0, bench.create(plain()));
    // Made at one moment: their ids have no other order than their own.
    ids.extend((0..5).map(|_| bench.create(plain())));
    ids.sort();
    for limit in [1, 2, 3, 100] {
        assert_eq!(walk(bench, &all(), ListOrder::OldestFirst, limit), ids, "by {limit}");
        let newest: Vec<JobId> = ids.iter().rev().copied().collect();
        assert_eq!(walk(bench, &all(), ListOrder::NewestFirst, limit), newest, "by {limit}");
    }
    bench.reopen();
    assert_eq!(walk(bench, &all(), ListOrder::OldestFirst, 2), ids);
}

pub(super) fn listed_jobs_are_shown_without_their_texts(bench: &mut Bench) {
    let id = bench.create(plain().args("[1]").meta("{\"a\":1}").tags(&["t"]));
    let mut shown = bench.job(id);
    shown.forget_texts();
    assert_eq!(look(bench, JobQuery::of(all(), 9)), JobPage { jobs: vec![shown], next: None });
    let (state, notes) = (Json::from_trusted("[2]"), Json::empty_object());
    bench.step(id, Event::SaveCheckpoint { claimant: Claimant::UNNAMED, state, notes }).unwrap();
    let claimant = holder_of(&bench.fetch_one());
    bench.step(id, Event::Acknowledge { claimant, result: Some(Json::from_trusted("[3]")) }).unwrap();
    let [shown] = &look(bench, JobQuery::of(all(), 9)).jobs[..] else { panic!("there is one job") };
    assert_eq!(shown.checkpoint, None);
    assert!(matches!(shown.phase, Phase::Completed { result: None, .. }), "{:?}", shown.phase);
}

pub(super) fn each_state_lists_its_own_jobs(bench: &mut Bench) {
    let mut made = Vec::new();
    for state in State::ALL {
        made.push((state, bench.create_in(state, plain())));
        bench.fetch(&["default"], 9);
    }
    // What was available has been fetched by the next.
    let now = |id| bench.state(id);
    for wanted in State::ALL {
        let filter = JobFilter { states: StateSet::of(&[wanted]), ..all() };
        let mut expected: Vec<JobId> =
            made.iter().map(|(_, id)| *id).filter(|id| now(*id) == wanted).collect();
        expected.sort_by(|a, b| b.cmp(a));
        assert_eq!(listed(bench, &filter), expected, "{wanted}");
    }
    assert_eq!(listed(bench, &JobFilter { states: StateSet::NONE, ..all() }), []);
    let mut ended = listed(bench, &JobFilter { states: StateSet::INCOMPLETE.complement(), ..all() });
    ended.sort();
    let mut expected: Vec<JobId> = made[5..].iter().map(|(_, id)| *id).collect();
    expected.sort();
    assert_eq!(ended, expected);
}

pub(super) fn a_queue_a_type_and_a_priority_narrow_the_list(bench: &mut Bench) {
    let drafts = [
        plain().queue("mail").kind("email.send").priority(5),
        plain().queue("mail").kind("email.sent"),
        plain().kind("email-send").priority(-5),
    ];
    let [send, bounced, other] = create_apart(bench, drafts)[..] else { panic!("three jobs") };
    let kind = |text: &str| JobFilter { kind: Some(KindPattern::parse(text).unwrap()), ..all() };
    assert_eq!(listed(bench, &JobFilter { queue: Some(queue("mail")), ..all() }), [bounced, send]);
    assert_eq!(listed(bench, &JobFilter { queue: Some(queue("nowhere")), ..all() }), []);
    assert_eq!(listed(bench, &kind("email.send")), [send]);
    assert_eq!(listed(bench, &kind("email.*")), [bounced, send]);
    assert_eq!(listed(bench, &kind("email.send*")), [send]);
    assert_eq!(listed(bench, &kind("email*")), [other, bounced, send]);
    assert_eq!(listed(bench, &kind("*")), [other, bounced, send]);
    let of_priority = |number| JobFilter { priority: Priority::new(number).ok(), ..all() };
    assert_eq!(listed(bench, &of_priority(5)), [send]);
    assert_eq!(listed(bench, &of_priority(0)), [bounced]);
    assert_eq!(listed(bench, &of_priority(-5)), [other]);
}

pub(super) fn a_time_begins_with_its_first_moment_and_ends_before_its_last(bench: &mut Bench) {
    let ids = create_apart(bench, [plain(), plain(), plain()]);
    let at = |n: usize| Some(bench.job(ids[n]).created_at);
    let created = |since, until| JobFilter { created: TimeRange { since, until }, ..all() };
    assert_eq!(listed(bench, &created(at(1), None)), [ids[2], ids[1]]);
    assert_eq!(listed(bench, &created(None, at(1))), [ids[0]]);
    assert_eq!(listed(bench, &created(at(1), at(2))), [ids[1]]);
    assert_eq!(listed(bench, &created(at(2), at(1))), []);
}

pub(super) fn when_a_job_became_available_and_when_it_ended_are_times_of_their_own(bench: &mut Bench) {
    let done = bench.create(plain());
    bench.complete_one();
    bench.pass(MINUTE);
    let since = Some(bench.now);
    let waiting = bench.create(plain());
    let scheduled = bench.create(plain().scheduled_at(bench.now + HOUR));
    let late = TimeRange { since, until: None };
    let early = TimeRange { since: None, until: since };
    assert_eq!(listed(bench, &JobFilter { enqueued: late, ..all() }), [waiting]);
    assert_eq!(
        listed(bench, &JobFilter { enqueued: early, ..all() }),
        [done],
        "{scheduled} never was available"
    );
    assert_eq!(listed(bench, &JobFilter { ended: early, ..all() }), [done]);
    assert_eq!(listed(bench, &JobFilter { ended: late, ..all() }), []);
}

pub(super) fn the_jobs_of_a_worker_are_those_it_holds(bench: &mut Bench) {
    let [a, b, c] = create_apart(bench, [plain(), plain(), plain()])[..] else { panic!("three jobs") };
    for (name, id) in [("first", a), ("second", b)] {
        let wish = Claim { worker: WorkerId::parse(name), ..bench.wish(&["default"], 1) };
        assert_eq!(bench.claim(wish)[0].job().id, id);
    }
    let of = |name: &str| JobFilter { worker: WorkerId::parse(name), ..all() };
    assert_eq!(listed(bench, &of("first")), [a]);
    assert_eq!(listed(bench, &of("second")), [b]);
    bench.step(a, Event::Cancel).unwrap();
    assert_eq!(listed(bench, &of("first")), [], "{c} was never held");
}

pub(super) fn failures_and_dead_letters_are_found(bench: &mut Bench) {
    let failed = bench.create_in(State::Retryable, plain());
    bench.pass(SECOND);
    let discarded = bench.create_in(State::Discarded, plain());
    bench.pass(SECOND);
    let letter = bench.create(plain());
    let job = bench.fetch_one();
    bench.fail_with(&job, Directive::DeadLetter, Handback::Failed).unwrap();
    bench.pass(SECOND);
    bench.create(plain());
    let trouble = JobFilter { error_type: Some("Trouble".into()), ..all() };
    assert_eq!(listed(bench, &trouble), [letter, discarded, failed]);
    assert_eq!(
        listed(bench, &JobFilter { states: StateSet::of(&[State::Discarded]), ..trouble }),
        [letter, discarded]
    );
    assert_eq!(listed(bench, &JobFilter { error_type: Some("Other".into()), ..all() }), []);
    assert_eq!(listed(bench, &JobFilter { dead_letters_only: true, ..all() }), [letter]);
}

pub(super) fn members_of_the_metadata_are_compared(bench: &mut Bench) {
    let acme = bench.create(plain().meta(r#"{"tenant_id":"acme","n":1.0}"#));
    bench.create(plain().meta(r#"{"tenant_id":"other"}"#));
    bench.create(plain());
    let of = |name: &str, text: &str| {
        let value = json::read(text, json::Limits::DEFAULT).unwrap();
        JobFilter { meta: vec![MetaMember::new(name, &value).unwrap()], ..all() }
    };
    assert_eq!(listed(bench, &of("tenant_id", "\"acme\"")), [acme]);
    assert_eq!(listed(bench, &of("n", "1")), [acme]);
    assert_eq!(listed(bench, &of("n", "2")), []);
}

pub(super) fn a_place_need_not_have_its_job_any_longer(bench: &mut Bench) {
    let drafts = [plain(), plain().dies_at_once(), plain()];
    let ids = create_apart(bench, drafts);
    let jobs: Vec<Job> = bench.fetch(&["default"], 2);
    bench.fail(&jobs[1]).unwrap();
    bench.step(ids[1], Event::Forget).unwrap();
    let after = |order| {
        let page = look(bench, JobQuery { order, after: Some(ids[1]), ..JobQuery::of(all(), 9) });
        page.jobs.iter().map(|job| job.id).collect::<Vec<_>>()
    };
    assert_eq!(after(ListOrder::NewestFirst), [ids[0]]);
    assert_eq!(after(ListOrder::OldestFirst), [ids[2]]);
}

pub(super) fn a_look_ends_after_so_many_jobs_and_says_where_to_go_on(bench: &mut Bench) {
    const LIST: usize = 1000;
    let rare = JobFilter { kind: Some(KindPattern::parse("work.rare").unwrap()), ..all() };
    let oldest = bench.create(plain().kind("work.rare"));
    bench.pass(SECOND);
    for _ in 0..=JOB_SCAN_MAX / LIST {
        bench.enqueue_each(vec![plain(); LIST]);
    }
    bench.pass(SECOND);
    let newest = bench.create(plain().kind("work.rare"));
    for (order, first) in [(ListOrder::NewestFirst, newest), (ListOrder::OldestFirst, oldest)] {
        let page = look(bench, JobQuery { order, ..JobQuery::of(rare.clone(), 9) });
        assert_eq!(page.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [first]);
        assert!(page.next.is_some(), "a short part, and others follow");
    }
    assert_eq!(listed(bench, &rare), [newest, oldest]);
    let every = LIST * (JOB_SCAN_MAX / LIST + 1) + 2;
    assert_eq!(walk(bench, &all(), ListOrder::OldestFirst, JOB_SCAN_MAX * 2).len(), every);
}

pub(super) fn a_look_ends_after_so_many_bytes(bench: &mut Bench) {
    let large = format!("[\"{}\"]", "x".repeat(JOB_SCAN_BYTES_MAX / 8));
    let other = plain().queue("other").args(&large);
    for draft in [vec![plain().args(&large); 6], vec![other; 2], vec![plain().args(&large); 6]] {
        bench.pass(SECOND);
        bench.try_enqueue_all(draft).unwrap();
    }
    let filter = JobFilter { queue: Some(queue("default")), ..all() };
    let page = look(bench, JobQuery::of(filter.clone(), 100));
    assert_eq!(
        page.jobs.len(),
        8,
        "the one that passes the limit is the last, and those of other queues do not count"
    );
    let rest = look(bench, JobQuery { after: page.next, ..JobQuery::of(filter, 100) });
    assert_eq!((rest.jobs.len(), rest.next), (4, None));
}
