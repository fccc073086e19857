//! What a worker tells and leaves behind on its way: progress and checkpoints.

use std::sync::Arc;

use hapax_core::{
    AgentDeed, Chance, Checkpoint, Claimant, Directive, Event, Fraction, Handback, Job, JobFilter, JobId,
    Json, Phase, Refusal, Report, Said, SpecPatch, State, StateSet, WorkerError,
};

use super::bench::{Bench, MINUTE, SECOND, error, holder_of};
use super::draft::{job_key, plain};
use crate::{CLAIM_BYTES_MAX, Change};

/// A value that no engine may write in another way.
const ODD: &str = "{\"b\": 1.0,\n\"a\":[1e3,\"\\u0000\",12345678901234567890]}";

fn far(number: f64) -> Report {
    Report { value: Some(Fraction::clamped(number)), ..Report::default() }
}

fn says(job: &Job, report: Report) -> Event {
    Event::Progress { claimant: holder_of(job), report }
}

fn save(claimant: Claimant, state: &str) -> Event {
    let notes = Json::from_trusted("{\"step_index\": 3}");
    Event::SaveCheckpoint { claimant, state: Json::from_trusted(state), notes }
}

fn save_unnamed(bench: &Bench, id: JobId, state: &str) -> Checkpoint {
    bench.step(id, save(Claimant::UNNAMED, state)).unwrap();
    bench.job(id).checkpoint.unwrap()
}

fn number(job: &Job) -> Option<f64> {
    job.progress.as_ref().and_then(|progress| progress.value).map(Fraction::get)
}

fn kept(bench: &mut Bench, id: JobId) -> Job {
    let before = bench.job(id);
    bench.reopen();
    assert_eq!(bench.job(id), before, "nothing is lost between two lives of the store");
    before
}

pub(super) fn a_report_is_kept_and_moves_the_end_of_the_lease(bench: &mut Bench) {
    let id = bench.create(plain());
    let job = bench.fetch_one();
    bench.pass(MINUTE);
    let report = Report {
        message: Some("half \"way\"".into()),
        data: Some(Json::from_trusted(ODD)),
        ..far(0.1 + 0.2)
    };
    bench.step(id, says(&job, report.clone())).unwrap();
    let told = kept(bench, id);
    let progress = told.progress.clone().unwrap();
    assert_eq!(
        (progress.value, progress.message, progress.data),
        (report.value, report.message, report.data)
    );
    assert_eq!(progress.updated_at, bench.now);
    let Phase::Active { lease, .. } = told.phase else { panic!("{told:?}") };
    assert_eq!(lease.deadline, bench.now + MINUTE * 30);
}

/// Those who are told of a step cannot see it in the job: one that stays active was beaten for, reported, or neither.
pub(super) fn an_answer_tells_what_was_said_with_a_step(bench: &mut Bench) {
    let id = bench.create(plain());
    let job = bench.fetch_one();
    let until = bench.now + MINUTE;
    let error = WorkerError { rate_limit_until: Some(until), ..error(Directive::Policy) };
    let with_checkpoint = Report { checkpoint: Some(Json::null()), ..far(0.5) };
    let tool = AgentDeed::RetryTool { call: "search".into(), error: None, alternate: false };
    let (claimant, handback) = (holder_of(&job), Handback::Failed);
    let steps = [
        (Event::Heartbeat { claimant: holder_of(&job), visibility_timeout: None }, Said::Heartbeat),
        (says(&job, far(0.5)), Said::Progress { with_checkpoint: false }),
        (says(&job, with_checkpoint), Said::Progress { with_checkpoint: true }),
        (save(holder_of(&job), "1"), Said::Checkpoint),
        (Event::DropCheckpoint, Said::Nothing),
        (Event::Agent(tool), Said::Nothing),
        (Event::Fail { claimant, error, handback, chance: Chance(0) }, Said::LimitClosed { until }),
    ];
    for (event, expected) in steps {
        let event = Event::OnlyIf { filter: Arc::new(JobFilter::default()), event: Box::new(event) };
        let Change::To { said, .. } = bench.step(id, event.clone()).unwrap() else { panic!("it stays") };
        assert_eq!(said, expected, "{event:?}");
    }
}

pub(super) fn the_number_never_goes_back_within_an_attempt(bench: &mut Bench) {
    let id = bench.create(plain());
    let job = bench.fetch_one();
    for (said, known) in [(0.5, 0.5), (0.2, 0.5), (0.7, 0.7), (7.0, 1.0), (0.0, 1.0)] {
        bench.step(id, says(&job, far(said))).unwrap();
        assert_eq!(number(&bench.job(id)), Some(known));
    }
}

pub(super) fn a_report_about_a_job_that_nobody_holds_is_passed_over(bench: &mut Bench) {
    for state in State::ALL.into_iter().filter(|state| *state != State::Active) {
        let id = bench.create_in(state, plain());
        let before = bench.job(id);
        bench.step(id, Event::Progress { claimant: Claimant::UNNAMED, report: far(0.5) }).unwrap();
        assert_eq!(bench.job(id), before, "{state}");
        bench.renew();
    }
}

pub(super) fn only_the_holder_reports(bench: &mut Bench) {
    let id = bench.create(plain());
    let job = bench.fetch_one();
    let stranger = Claimant::showing(Some("not a lease"), None);
    let lost = Refusal::LeaseLost { id, state: State::Active };
    let report = Event::Progress { claimant: stranger.clone(), report: far(0.5) };
    assert_eq!(bench.step(id, report), Err(lost.clone()));
    assert_eq!(bench.step(id, save(stranger, "1")), Err(lost));
    bench.acknowledge(&job).unwrap();
    let lost = Refusal::LeaseLost { id, state: State::Completed };
    assert_eq!(bench.step(id, says(&job, far(0.5))), Err(lost));
    assert_eq!((bench.job(id).progress, bench.job(id).checkpoint), (None, None));
}

pub(super) fn a_completed_job_is_wholly_done_if_it_reported_at_all(bench: &mut Bench) {
    let [silent, talking] = [bench.create(plain()), bench.create(plain())];
    for job in bench.fetch(&["default"], 2) {
        if job.id == talking {
            let report = Report { message: Some("nearly".into()), ..Report::default() };
            bench.step(job.id, says(&job, report)).unwrap();
        }
        bench.pass(SECOND);
        bench.acknowledge(&job).unwrap();
    }
    assert_eq!(bench.job(silent).progress, None);
    let done = kept(bench, talking).progress.unwrap();
    assert_eq!((done.value, done.message.as_deref()), (Some(Fraction::ALL), Some("nearly")));
    assert_eq!(done.updated_at, bench.now);
}

pub(super) fn a_failed_job_keeps_its_progress_until_the_next_attempt(bench: &mut Bench) {
    let id = bench.create(plain());
    let job = bench.fetch_one();
    bench.step(id, says(&job, far(0.73))).unwrap();
    bench.fail(&job).unwrap();
    assert_eq!(number(&kept(bench, id)), Some(0.73));
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.fetch_one().progress, None);
}

pub(super) fn a_checkpoint_goes_along_with_the_job(bench: &mut Bench) {
    let id = bench.create(plain().dies_at_once());
    let job = bench.fetch_one();
    assert_eq!(job.checkpoint, None);
    bench.pass(MINUTE);
    bench.step(id, save(holder_of(&job), ODD)).unwrap();
    let saved = kept(bench, id).checkpoint.unwrap();
    assert_eq!((saved.state.as_str(), saved.notes.as_str()), (ODD, "{\"step_index\": 3}"));
    assert_eq!((saved.sequence, saved.saved_at), (1, bench.now));
    bench.pass(MINUTE * 29);
    assert_eq!(bench.advance().changes, [], "saving is a sign of life");
    bench.fail(&job).unwrap();
    bench.step(id, Event::Revive { patch: SpecPatch::default() }).unwrap();
    assert_eq!(bench.fetch_one().checkpoint, Some(saved));
}

pub(super) fn checkpoints_are_counted_until_they_are_dropped(bench: &mut Bench) {
    let id = bench.create(plain());
    for sequence in 1..=3 {
        assert_eq!(save_unnamed(bench, id, "1").sequence, sequence);
    }
    for _ in 0..2 {
        bench.step(id, Event::DropCheckpoint).unwrap();
        assert_eq!(kept(bench, id).checkpoint, None);
    }
    assert_eq!(save_unnamed(bench, id, "\"after\"").sequence, 1);
}

pub(super) fn an_ended_job_keeps_its_checkpoint_and_takes_no_other(bench: &mut Bench) {
    for state in State::ALL.into_iter().filter(|state| state.is_terminal()) {
        let id = bench.create_in(State::Active, plain().dies_at_once());
        let job = bench.job(id);
        let saved = save_unnamed(bench, id, "{}");
        match state {
            State::Completed => bench.acknowledge(&job).map(drop).unwrap(),
            State::Cancelled => bench.step(id, Event::Cancel).map(drop).unwrap(),
            _ => bench.fail(&job).map(drop).unwrap(),
        }
        assert_eq!(kept(bench, id).checkpoint, Some(saved));
        let expected = StateSet::INCOMPLETE;
        let refused = bench.step(id, save(Claimant::UNNAMED, "1"));
        assert_eq!(refused, Err(Refusal::WrongState { id, state, expected }));
    }
}

pub(super) fn a_report_may_bring_a_checkpoint(bench: &mut Bench) {
    let id = bench.create(plain());
    let job = bench.fetch_one();
    let report = Report { checkpoint: Some(Json::from_trusted(ODD)), ..far(0.4) };
    bench.step(id, says(&job, report)).unwrap();
    let told = kept(bench, id);
    let saved = told.checkpoint.clone().unwrap();
    assert_eq!((number(&told), saved.state.as_str(), saved.sequence), (Some(0.4), ODD, 1));
    bench.step(id, says(&job, far(0.5))).unwrap();
    assert_eq!(bench.job(id).checkpoint, Some(saved), "a report without one leaves it");
}

pub(super) fn new_arguments_make_the_checkpoint_void(bench: &mut Bench) {
    let id = bench.create(job_key("k"));
    save_unnamed(bench, id, "{\"row\":5}");
    assert_eq!(bench.enqueue(job_key("k").args("[2]")).job.id, id);
    assert_eq!(bench.job(id).checkpoint, None);
}

pub(super) fn a_claim_gives_out_only_so_many_bytes_of_checkpoints(bench: &mut Bench) {
    let large = format!("\"{}\"", "x".repeat(CLAIM_BYTES_MAX / 4));
    for _ in 0..3 {
        let id = bench.create(plain());
        save_unnamed(bench, id, &large);
    }
    assert_eq!(bench.fetch_ids(3).len(), 2, "a worker is given the state twice");
    assert_eq!(bench.fetch_ids(3).len(), 1);
}
