//! Lists that are longer than one look.

use hapax_core::{KindPattern, State, StateSet};

use super::*;
use crate::testing::{draft, rig};

#[tokio::test(start_paused = true)]
async fn a_list_is_read_in_parts_newest_first() {
    let rig = rig();
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(rig.enqueue(draft().on(if number == 2 { "other" } else { "default" })).await.id);
        tokio::time::advance(std::time::Duration::from_millis(1)).await;
    }
    let filter = JobFilter { queue: Some(crate::testing::queue("default")), ..JobFilter::default() };
    let first = rig.broker.jobs(JobQuery::of(filter.clone(), 3)).await.unwrap();
    assert_eq!(first.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [ids[4], ids[3], ids[1]]);
    let rest = JobQuery { after: first.next, ..JobQuery::of(filter, 3) };
    let rest = rig.broker.jobs(rest).await.unwrap();
    assert_eq!((rest.jobs[0].id, rest.jobs.len(), rest.next), (ids[0], 1, None));
}

#[tokio::test(start_paused = true)]
async fn a_selection_is_the_oldest_first_and_says_where_to_go_on() {
    let rig = rig();
    let drafts = || vec![draft(); 5000];
    for _ in 0..3 {
        rig.broker.enqueue_each(drafts(), "request", None).await.unwrap();
        tokio::time::advance(std::time::Duration::from_millis(1)).await;
    }
    let all = JobFilter { states: StateSet::of(&[State::Available]), ..JobFilter::default() };
    let first = rig.broker.select_jobs(&all, None).await.unwrap();
    assert_eq!(first.ids.len(), BULK_MAX);
    assert!(first.ids.is_sorted());
    let rest = rig.broker.select_jobs(&all, first.next).await.unwrap();
    assert_eq!((rest.ids.len(), rest.next), (5000, None));
    assert!(first.ids.last() < rest.ids.first());
}

#[tokio::test(start_paused = true)]
async fn a_rare_type_is_found_behind_several_looks() {
    let rig = rig();
    let rare = || {
        let mut rare = draft();
        rare.spec.kind = hapax_core::JobType::parse("work.rare").unwrap();
        rare
    };
    let oldest = rig.enqueue(rare()).await.id;
    tokio::time::advance(std::time::Duration::from_millis(1)).await;
    for _ in 0..3 {
        rig.broker.enqueue_each(vec![draft(); crate::BATCH_MAX], "request", None).await.unwrap();
    }
    let filter = JobFilter { kind: KindPattern::parse("work.rare").ok(), ..JobFilter::default() };
    let page = rig.broker.jobs(JobQuery::of(filter.clone(), 5)).await.unwrap();
    assert_eq!(page.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [oldest]);
    assert_eq!(rig.broker.select_jobs(&filter, None).await.unwrap().ids, [oldest]);
}
