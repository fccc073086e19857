//! Many jobs, each for itself.

use hapax_core::{Refusal, State, StateSet};

use super::*;
use crate::testing::{draft, rig};

fn waiting() -> JobFilter {
    JobFilter { states: StateSet::of(&[State::Available]), ..JobFilter::default() }
}

#[tokio::test(start_paused = true)]
async fn each_job_is_treated_for_itself_and_told_of_in_order() {
    let rig = rig();
    let mut ids = Vec::new();
    for _ in 0..250 {
        ids.push(rig.enqueue(draft()).await.id);
    }
    rig.broker.cancel(ids[120]).await.unwrap();
    let treated = rig.broker.treat(ids.clone(), None, Deed::Cancel).await;
    assert_eq!(treated.iter().map(|one| one.id).collect::<Vec<_>>(), ids);
    let refused: Vec<usize> = (0..250).filter(|index| treated[*index].outcome.is_err()).collect();
    assert_eq!(refused, [120]);
    assert!(matches!(treated[120].outcome, Err(Error::Refused(Refusal::WrongState { .. }))));
    let deleted = rig.broker.treat(ids.clone(), None, Deed::Delete).await;
    assert!(deleted.iter().all(|one| one.outcome.is_ok()));
    assert!(rig.broker.job(ids[0]).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_job_that_changed_since_it_was_selected_is_left_alone() {
    let rig = rig();
    let taken = rig.enqueue(draft()).await.id;
    let other = rig.enqueue(draft()).await.id;
    let selection = rig.broker.select_jobs(&waiting(), None).await.unwrap();
    rig.take("default").await.unwrap();
    let treated = rig.broker.treat(selection.ids, Some(&waiting()), Deed::Cancel).await;
    let missed: Vec<JobId> = treated.iter().filter(|one| one.outcome.is_err()).map(|one| one.id).collect();
    assert_eq!(missed, [taken]);
    assert_eq!(rig.job(taken).await.state(), State::Active);
    assert_eq!(rig.job(other).await.state(), State::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn when_the_store_fails_the_rest_is_not_tried() {
    let rig = rig();
    let mut ids = Vec::new();
    for _ in 0..150 {
        ids.push(rig.enqueue(draft()).await.id);
    }
    rig.store.fail();
    let treated = rig.broker.treat(ids.clone(), None, Deed::Cancel).await;
    assert_eq!(treated.len(), 150, "all are told of");
    assert!(treated.iter().all(|one| matches!(one.outcome, Err(Error::Store(_)))));
    assert_eq!(rig.job(ids[149]).await.state(), State::Available);
}
