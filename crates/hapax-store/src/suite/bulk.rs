//! Lists: each job of one is answered by itself, in order, and sees the ones before it.

use std::sync::Arc;

use hapax_core::unique::{JobKeyMode, Strategy};
use hapax_core::{Admission, Incoming, JobId, Refusal, State, Verdict};

use super::bench::{Bench, HOUR, waits_for};
use super::draft::{Draft, job_key, plain, unique};
use super::picture::Picture;
use crate::{ANSWER_BYTES_MAX, Action, Answer, Done, Memo, MemoKey, Remembered};

fn verdicts(answers: &[Result<Admission, Refusal>]) -> Vec<Verdict> {
    answers.iter().map(|answer| answer.as_ref().unwrap().verdict.clone()).collect()
}

fn shown(answers: &[Result<Admission, Refusal>]) -> Vec<JobId> {
    answers.iter().map(|answer| answer.as_ref().unwrap().job.id).collect()
}

pub(super) fn each_job_of_a_list_is_answered_in_order(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    let answers = bench.enqueue_each(vec![plain(), unique("k"), unique("new"), plain().queue("other")]);
    let created = Verdict::Created;
    assert_eq!(verdicts(&answers), [created.clone(), Verdict::Rejected, created.clone(), created]);
    let ids = bench.ids()[1..].to_vec();
    assert_eq!(shown(&answers), [ids[0], holder, ids[2], ids[3]]);
    for id in [ids[0], ids[2], ids[3]] {
        assert_eq!(bench.state(id), State::Available);
    }
    assert_eq!((bench.get(ids[1]), bench.job(holder).ledger.count()), (None, 1));
}

pub(super) fn an_empty_list_is_no_trouble(bench: &mut Bench) {
    assert_eq!(bench.enqueue_each(Vec::new()), []);
}

pub(super) fn a_refused_job_holds_up_no_other(bench: &mut Bench) {
    let taken = bench.create(plain());
    let [first, last] = [bench.new_id(), bench.new_id()];
    let incoming = vec![
        plain().incoming(first),
        plain().queue("made").incoming(taken),
        plain().incoming(first),
        plain().incoming(last),
    ];
    let Ok(Done::EnqueuedEach(answers)) = bench.act(Action::EnqueueEach { incoming, memo: None }) else {
        panic!("a list is answered job by job")
    };
    let state = State::Available;
    assert_eq!(answers[1], Err(Refusal::IdTaken { id: taken, state }));
    assert_eq!(answers[2], Err(Refusal::IdTaken { id: first, state }), "by an earlier one of the list");
    assert_eq!(bench.fetch_ids(9), [taken, first, last]);
    assert_eq!(bench.queue("made"), None, "a refused job makes no queue");
}

pub(super) fn a_list_of_nothing_but_refusals_is_an_answer(bench: &mut Bench) {
    let taken = bench.create(plain());
    let before = Picture::of(bench);
    let incoming = vec![plain().incoming(taken), plain().incoming(taken)];
    let refused = Err(Refusal::IdTaken { id: taken, state: State::Available });
    let answer = bench.act(Action::EnqueueEach { incoming, memo: None });
    assert_eq!(answer, Ok(Done::EnqueuedEach(vec![refused.clone(), refused])));
    assert_eq!(Picture::of(bench), before);
}

pub(super) fn duplicates_inside_a_list_follow_every_strategy(bench: &mut Bench) {
    for strategy in Strategy::ALL {
        bench.renew();
        let at = bench.now + HOUR;
        let draft = || unique("k").on_conflict(strategy).scheduled_at(at);
        let answers = bench.enqueue_each(vec![draft().args("[1]"), plain(), draft().args("[2]")]);
        let [first, _, last] = bench.ids() else { panic!("three ids") };
        let (verdict, holder) = match strategy {
            Strategy::Reject => (Verdict::Rejected, first),
            Strategy::Ignore => (Verdict::Existing, first),
            Strategy::Replace => (Verdict::Replaced(vec![*first]), last),
            Strategy::ReplaceExceptSchedule => (Verdict::Updated(vec!["args"]), first),
        };
        assert_eq!(verdicts(&answers), [Verdict::Created, Verdict::Created, verdict], "{strategy}");
        assert_eq!(shown(&answers)[2], *holder, "{strategy}");
        assert_eq!(bench.totals().keys_held, 1);
    }
}

pub(super) fn duplicates_inside_a_list_follow_every_mode_of_job_keys(bench: &mut Bench) {
    let draft = |mode| job_key("k").mode(mode);
    let answers = bench.enqueue_each(vec![
        draft(JobKeyMode::Replace).args("[[1]]"),
        draft(JobKeyMode::UnsafeDedupe).args("[[2]]"),
        draft(JobKeyMode::PreserveRunAt).args("[[3]]").scheduled_at(bench.now + HOUR),
        draft(JobKeyMode::Replace).args("[[4]]"),
    ]);
    let holder = bench.ids()[0];
    assert_eq!(shown(&answers), [holder; 4]);
    assert_eq!(verdicts(&answers)[1], Verdict::Existing);
    let job = bench.job(holder);
    assert_eq!((job.spec.args.as_str(), job.state()), ("[[1,3,4]]", State::Available));
    assert_eq!(job.ledger.count(), 3);
    assert_eq!(answers[3].as_ref().unwrap().job, job, "the last answer shows what is stored");
}

pub(super) fn duplicates_inside_a_list_are_debounced(bench: &mut Bench) {
    let draft = |args: &str| unique("k").debounced(HOUR, None).args(args);
    let answers = bench.enqueue_each(vec![draft("[[1]]"), draft("[[2]]"), draft("[[3]]")]);
    let holder = bench.ids()[0];
    assert_eq!(shown(&answers), [holder; 3]);
    let job = bench.job(holder);
    assert_eq!((job.spec.args.as_str(), job.ledger.count()), ("[[1,2,3]]", 2));
}

pub(super) fn duplicates_inside_a_list_wait_behind_what_runs(bench: &mut Bench) {
    let running = bench.create_in(State::Active, unique("k"));
    let draft = |args: &str| unique("k").queue_latest().args(args);
    let answers = bench.enqueue_each(vec![draft("[1]"), draft("[2]"), draft("[3]")]);
    let successor = bench.ids()[1];
    assert_eq!(shown(&answers), [successor; 3]);
    let job = bench.job(successor);
    assert_eq!((waits_for(&job), job.spec.args.as_str()), (Some(running), "[3]"));
}

pub(super) fn the_jobs_of_a_list_keep_their_order(bench: &mut Bench) {
    bench.enqueue_each((0..30).map(|_| plain()).collect());
    let ids = bench.ids().to_vec();
    assert_eq!(bench.fetch_ids(99), ids);
}

pub(super) fn a_list_of_a_thousand_is_one_operation(bench: &mut Bench) {
    let draft = |number: usize| match number % 4 {
        0 => plain(),
        1 => job_key(&format!("{}", number % 40)).args(&format!("[[{number}]]")),
        2 => unique(&format!("{}", number % 100)),
        _ => unique("one").on_conflict(Strategy::Ignore),
    };
    let answers = bench.enqueue_each((0..1000).map(draft).collect());
    assert_eq!(answers.len(), 1000);
    let created = answers.iter().filter(|answer| answer.as_ref().unwrap().verdict == Verdict::Created);
    assert_eq!(created.count(), 250 + 10 + 25 + 1);
    let items: usize =
        answers.iter().flatten().filter(|answer| answer.verdict == Verdict::Created).map(items).sum();
    assert_eq!(items, 0, "answers show a job as it was at that point of the list");
    let named =
        bench.ids().iter().filter_map(|id| bench.get(*id)).filter(|job| job.spec.args.as_str() != "[]");
    assert_eq!(named.map(|job| job.spec.args.as_str().matches(',').count() + 1).sum::<usize>(), 250);
}

/// How many items of others the job has already.
fn items(admission: &Admission) -> usize {
    admission.job.spec.args.as_str().matches(',').count()
}

/// A reply that counts who was admitted.
fn memo(fingerprint: u8) -> Memo {
    let render = |answer: &Answer| match answer {
        Ok(Done::EnqueuedEach(answers)) => {
            let text: Vec<&str> = answers
                .iter()
                .map(|answer| answer.as_ref().map_or("refused", |a| a.verdict.name()))
                .collect();
            Remembered { status: 207, body: text.join(" ").into_bytes().into() }
        }
        other => panic!("a list was answered by {other:?}"),
    };
    Memo { key: MemoKey("m".into()), fingerprint: [fingerprint; 32], render: Arc::new(render) }
}

fn send(bench: &mut Bench, drafts: Vec<Draft>, memo: Memo) -> Answer {
    let incoming: Vec<Incoming> = drafts.into_iter().map(|draft| draft.incoming(bench.new_id())).collect();
    bench.act(Action::EnqueueEach { incoming, memo: Some(memo) })
}

pub(super) fn an_answer_that_would_grow_too_large_is_abridged(bench: &mut Bench) {
    const BYTES: usize = 1 << 20;
    let whole = ANSWER_BYTES_MAX / BYTES;
    let large = format!("[\"{}\"]", "x".repeat(BYTES - 8));
    let draft = || unique("k").on_conflict(Strategy::Ignore).args(&large);
    let holder = bench.create(draft());
    let lists = [
        bench.enqueue_each(vec![draft(); whole + 2]),
        bench.try_enqueue_all(vec![draft(); whole + 2]).unwrap().into_iter().map(Ok).collect(),
    ];
    for answers in lists {
        for (index, answer) in answers.into_iter().enumerate() {
            let Admission { verdict, job, is_abridged, .. } = answer.unwrap();
            assert_eq!(
                (verdict, job.id, is_abridged),
                (Verdict::Existing, holder, index >= whole),
                "{index}"
            );
            assert_eq!(job.spec.args.as_str() == large, !is_abridged, "{index}");
        }
    }
    assert_eq!(bench.job(holder).spec.args.as_str(), large, "what is stored is whole");
    assert_eq!(bench.job(holder).ledger.count(), 2 * (whole as u64 + 2));
}

pub(super) fn a_list_is_remembered_as_a_whole(bench: &mut Bench) {
    let drafts = || vec![job_key("k").args("[[1]]"), unique("u"), unique("u"), job_key("k").args("[[2]]")];
    assert!(matches!(send(bench, drafts(), memo(1)), Ok(Done::EnqueuedEach(_))));
    bench.reopen();
    let before = Picture::of(bench);
    let Ok(Done::Remembered(reply)) = send(bench, drafts(), memo(1)) else { panic!("it is remembered") };
    assert_eq!((reply.status, &*reply.body), (207, &b"created created rejected updated"[..]));
    assert_eq!(send(bench, drafts(), memo(2)), Err(Refusal::IdempotencyMismatch));
    assert_eq!(Picture::of(bench), before, "nothing is done twice, no array grows, no ledger counts");
}

pub(super) fn a_batch_with_names_is_all_or_nothing(bench: &mut Bench) {
    let holder = bench.create(job_key("k").args("[[1]]"));
    bench.create_in(State::Active, job_key("running").priority(9));
    bench.create(unique("taken").queue("elsewhere"));
    let drafts = || vec![job_key("k").args("[[2]]"), job_key("running"), job_key("new"), unique("taken")];
    let before = Picture::of(bench);
    assert!(matches!(bench.try_enqueue_all(drafts()), Err(Refusal::InBatch { index: 3, .. })));
    assert_eq!(Picture::of(bench), before, "no name is given up, no array grows");
    bench.reopen();
    assert_eq!(Picture::of(bench), before);
    bench.try_enqueue_all(drafts()[..3].to_vec()).unwrap();
    assert_eq!(bench.job(holder).spec.args.as_str(), "[[1,2]]");
}

pub(super) fn a_refused_batch_takes_back_the_waiting_and_the_letting_go(bench: &mut Bench) {
    let running = bench.create_in(State::Active, unique("a"));
    let other = bench.create_in(State::Active, unique("b").priority(9));
    let waiting = bench.create(unique("b").queue_latest());
    let debounced = bench.create(unique("c").debounced(HOUR, None).args("[[1]]"));
    let taken = bench.create(unique("taken").queue("elsewhere"));
    let active = hapax_core::StateSet::of(&[State::Active]);
    let drafts = vec![
        unique("a").queue_latest(),
        unique("b").states(active).on_conflict(Strategy::Replace),
        unique("c").debounced(HOUR, None).args("[[2]]"),
        unique("taken"),
    ];
    let before = Picture::of(bench);
    bench.try_enqueue_all(drafts).unwrap_err();
    assert_eq!(Picture::of(bench), before);
    assert_eq!([running, other].map(|id| bench.state(id)), [State::Active; 2]);
    assert_eq!((waits_for(&bench.job(waiting)), bench.state(debounced)), (Some(other), State::Scheduled));
    assert_eq!(
        bench.fetch(&["default", "elsewhere"], 9).iter().map(|job| job.id).collect::<Vec<_>>(),
        [taken]
    );
}
