//! Figures from events, as the broker keeps them.

use std::time::Duration;

use hapax_core::{Claimant, Directive, Handback};

use super::*;
use crate::testing::{Rig, at, draft, error, queue, rig};

const MINUTE: Duration = Duration::from_mins(1);

async fn complete(rig: &Rig, name: &str) {
    let job = rig.take(name).await.unwrap();
    rig.broker.acknowledge(job.id, Claimant::UNNAMED, None).await.unwrap();
}

async fn fail(rig: &Rig, name: &str) {
    let job = rig.take(name).await.unwrap();
    rig.broker.fail(job.id, Claimant::UNNAMED, error(Directive::Policy), Handback::Failed).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_last_hour_says_how_much_was_done_and_how_fast() {
    let rig = rig();
    for _ in 0..3 {
        rig.enqueue(draft()).await;
    }
    tokio::time::advance(Duration::from_millis(3)).await;
    let job = rig.take("default").await.unwrap();
    tokio::time::advance(Duration::from_millis(40)).await;
    rig.broker.acknowledge(job.id, Claimant::UNNAMED, None).await.unwrap();
    complete(&rig, "default").await;
    fail(&rig, "default").await;
    let hour = rig.broker.last_hour(Some(&queue("default")));
    assert_eq!((hour.completed, hour.failed), (2, 1));
    assert!((hour.processed_per_minute - 3.0).abs() < 1e-9 && (hour.failed_per_minute - 1.0).abs() < 1e-9);
    assert_eq!((hour.wait_p50, hour.wait_p99), (Some(47), Some(47)), "3, 43 and 43 milliseconds");
    assert_eq!(hour.run_average, Some(20.0));
    assert_eq!(hour, rig.broker.last_hour(None), "there is one queue");
    assert_eq!(rig.broker.last_hour(Some(&queue("other"))), LastHour::default());
}

#[tokio::test(start_paused = true)]
async fn a_rate_fades_and_an_hour_passes() {
    let rig = rig();
    for _ in 0..60 {
        rig.enqueue(draft()).await;
        complete(&rig, "default").await;
    }
    let rate = || rig.broker.last_hour(None).processed_per_minute;
    assert!((rate() - 60.0).abs() < 1e-9);
    tokio::time::advance(MINUTE + MINUTE / 4).await;
    assert!((rate() - 45.0).abs() < 1e-9, "{}", rate());
    tokio::time::advance(MINUTE).await;
    assert!(rate().abs() < 1e-9);
    assert_eq!(rig.broker.last_hour(None).completed, 60);
    tokio::time::advance(MINUTE * 60).await;
    assert_eq!(rig.broker.last_hour(None), LastHour::default());
}

#[tokio::test(start_paused = true)]
async fn a_history_has_a_point_for_every_period_also_if_nothing_happened() {
    let rig = rig();
    rig.enqueue(draft().on("a")).await;
    complete(&rig, "a").await;
    tokio::time::advance(MINUTE * 2).await;
    rig.enqueue(draft().on("b")).await;
    let end = at(0) + MINUTE * 3;
    let of = |name: Option<&str>, period, since| {
        let points = rig.broker.history(name.map(queue).as_ref(), period, since, end);
        points.iter().map(|point| (point.enqueued, point.processed)).collect::<Vec<_>>()
    };
    assert_eq!(of(None, Period::Minute, at(0)), [(1, 1), (0, 0), (1, 0)]);
    assert_eq!(of(Some("a"), Period::Minute, at(0)), [(1, 1), (0, 0), (0, 0)]);
    assert_eq!(of(Some("b"), Period::FiveMinutes, at(0)), [(1, 0)]);
    assert_eq!(of(None, Period::Hour, at(0)), [(2, 1)]);
    assert_eq!(of(None, Period::Day, at(0)), [(2, 1)]);
    assert_eq!(of(None, Period::Minute, end), []);
    let long_ago = at(0) - Duration::from_hours(24 * 400);
    assert_eq!(of(None, Period::Minute, long_ago).len(), 24 * 60, "no more than is kept");
    assert_eq!(of(None, Period::Day, long_ago).len(), 366);
}

#[tokio::test(start_paused = true)]
async fn the_queue_that_is_quiet_for_the_longest_time_gives_way() {
    let rig = rig();
    for number in 0..=QUEUES_WITH_FIGURES_MAX {
        rig.enqueue(draft().on(&format!("q{number}"))).await;
        tokio::time::advance(MINUTE).await;
    }
    let enqueued = |name: &str| {
        let points = rig.broker.history(Some(&queue(name)), Period::Day, at(0), at(0) + MINUTE * 300);
        points.iter().map(|point| point.enqueued).sum::<u64>()
    };
    assert_eq!((enqueued("q0"), enqueued("q1"), enqueued("q256")), (0, 1, 1));
    rig.broker.reset().await.unwrap();
    assert_eq!(enqueued("q256"), 0);
}

#[tokio::test(start_paused = true)]
async fn what_a_quiet_queue_did_long_ago_takes_nothing_from_the_others() {
    let rig = rig();
    rig.enqueue(draft().on("quiet")).await;
    tokio::time::advance(Duration::from_hours(30)).await;
    rig.enqueue(draft().on("busy")).await;
    tokio::time::advance(MINUTE).await;
    rig.enqueue(draft().on("busy")).await;
    let now = rig.broker.now();
    let enqueued = |period| -> u64 {
        let points = rig.broker.history(None, period, now - Duration::from_hours(48), now + MINUTE);
        points.iter().map(|point| point.enqueued).sum()
    };
    assert_eq!((enqueued(Period::Minute), enqueued(Period::Hour)), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_was_far_ahead_hides_no_figures() {
    let rig = rig();
    rig.clock.jump(3_600_000 * 24 * 400);
    rig.enqueue(draft()).await;
    rig.clock.jump(-3_600_000 * 24 * 400);
    for _ in 0..2 {
        rig.enqueue(draft()).await;
        complete(&rig, "default").await;
    }
    for name in [None, Some(queue("default"))] {
        assert_eq!(rig.broker.last_hour(name.as_ref()).completed, 2);
        let points = rig.broker.history(name.as_ref(), Period::Day, at(0), at(0) + MINUTE);
        assert_eq!(points.iter().map(|point| point.enqueued).sum::<u64>(), 2);
    }
}
