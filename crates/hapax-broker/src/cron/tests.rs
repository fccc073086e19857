//! Recurring jobs through the broker.

use std::time::Duration;

use hapax_core::Refusal;

use super::*;
use crate::testing::{Rig, draft, rig};
use crate::{EventKind, EventQuery};

pub(crate) fn every_minute() -> CronDraft {
    let draft = draft();
    let template = Template {
        spec: *draft.spec,
        key: None,
        starts_after: None,
        expires_after: None,
        unsaid: draft.unsaid,
    };
    CronDraft {
        name: "nightly".into(),
        expression: "* * * * *".into(),
        schedule: Schedule::parse("* * * * *").unwrap(),
        zone: Zone::UTC,
        overlap: Overlap::Skip,
        enabled: true,
        description: None,
        template,
        tenant: None,
    }
}

async fn pass(rig: &Rig, seconds: u64) {
    tokio::time::advance(Duration::from_secs(seconds)).await;
    rig.broker.tick(rig.broker.now()).await.unwrap();
}

fn kinds(rig: &Rig) -> Vec<EventKind> {
    let page = rig.broker.events(&EventQuery { limit: 100, ..EventQuery::default() });
    page.events.iter().map(crate::Notice::kind).collect()
}

#[tokio::test(start_paused = true)]
async fn a_recurring_job_is_told_and_calls_those_who_wait() {
    let rig = rig();
    let (cron, is_new) = rig.broker.register_cron(every_minute()).await.unwrap();
    assert!(is_new);
    assert_eq!(rig.broker.cron("nightly").await.unwrap(), Some(cron));
    let waiting = rig.broker.clone();
    let fetch = crate::testing::fetch(&["default"], Duration::from_secs(100));
    let waiting = tokio::spawn(async move { waiting.fetch(fetch).await.unwrap() });
    pass(&rig, 60).await;
    assert_eq!(waiting.await.unwrap().len(), 1);
    pass(&rig, 60).await;
    let told = [
        EventKind::WorkerStarted,
        EventKind::CronTriggered,
        EventKind::JobEnqueued,
        EventKind::JobStarted,
        EventKind::CronSkipped,
    ];
    assert_eq!(kinds(&rig), told);
}

#[tokio::test(start_paused = true)]
async fn registering_again_keeps_what_it_has_done() {
    let rig = rig();
    rig.broker.register_cron(every_minute()).await.unwrap();
    pass(&rig, 60).await;
    let (again, is_new) = rig.broker.register_cron(every_minute()).await.unwrap();
    assert_eq!((is_new, again.run_count, again.last_job.is_some()), (false, 1, true));
    let hourly = CronDraft { schedule: Schedule::parse("@hourly").unwrap(), ..every_minute() };
    let (other, _) = rig.broker.register_cron(hourly).await.unwrap();
    assert!(other.next_run_at > again.next_run_at);
    assert_eq!(other.created_at, again.created_at);
}

#[tokio::test(start_paused = true)]
async fn a_switched_off_one_misses_its_moments_for_good() {
    let rig = rig();
    rig.broker.register_cron(every_minute()).await.unwrap();
    assert!(!rig.broker.switch_cron("nightly", false).await.unwrap().enabled);
    pass(&rig, 600).await;
    let on = rig.broker.switch_cron("nightly", true).await.unwrap();
    assert!(on.next_run_at.is_some_and(|at| at > rig.broker.now()));
    assert_eq!(rig.take("default").await, None);
    let missing = Error::Refused(Refusal::NoEntry { register: "cron", name: "other".into() });
    assert_eq!(rig.broker.switch_cron("other", true).await.unwrap_err().to_string(), missing.to_string());
}

#[tokio::test(start_paused = true)]
async fn a_moment_that_clocks_jumped_over_is_told_unless_it_was_switched_off_meanwhile() {
    const DAY: u64 = 86_400;
    for (is_switched_off, told) in [(false, 1), (true, 0)] {
        let rig = rig();
        let schedule = Schedule::parse("30 2 * * *").unwrap();
        let zone = Zone::parse("Europe/Berlin").unwrap();
        let nightly = CronDraft { schedule, zone, overlap: Overlap::Allow, ..every_minute() };
        rig.broker.register_cron(nightly).await.unwrap();
        rig.broker.switch_cron("nightly", !is_switched_off).await.unwrap();
        // From January to April: there was no 02:30 on the last Sunday of March.
        pass(&rig, 80 * DAY).await;
        rig.broker.switch_cron("nightly", true).await.unwrap();
        pass(&rig, DAY).await;
        let skips = kinds(&rig).into_iter().filter(|kind| *kind == EventKind::CronSkipped);
        assert_eq!(skips.count(), told);
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_listed_run_by_hand_and_removed() {
    let rig = rig();
    rig.broker.register_cron(every_minute()).await.unwrap();
    let Receipt::Fresh(tick) = rig.broker.run_cron("nightly", None).await.unwrap() else {
        panic!("it is asked for once")
    };
    assert!(tick.admission.is_some() && rig.take("default").await.is_some());
    let all = EntryPart { limit: 10, ..EntryPart::default() };
    assert_eq!(rig.broker.crons(all.clone(), None).await.unwrap().crons.len(), 1);
    assert_eq!(&*rig.broker.remove_cron("nightly").await.unwrap().name, "nightly");
    assert!(rig.broker.remove_cron("nightly").await.is_err());
    assert_eq!(rig.broker.crons(all, None).await.unwrap().total, Some(0));
}
