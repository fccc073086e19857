//! Removing jobs by their job keys.

use hapax_core::unique::{JobKey, JobKeyMode};
use hapax_core::{Claimant, Directive, Handback, Refusal, State};

use super::*;
use crate::testing::{draft, error, rig};

#[tokio::test(start_paused = true)]
async fn what_waits_is_removed_and_what_runs_runs_to_its_end() {
    let rig = rig();
    let key = JobKey::key("abc").unwrap();
    let waiting = rig.enqueue(draft().job_key("abc", JobKeyMode::Replace)).await;
    let removal = rig.broker.remove_by_key(key, None).await.unwrap();
    assert_eq!(removal, Removal { removed: vec![waiting.id], released: Vec::new() });
    assert!(rig.broker.job(waiting.id).await.is_err());

    let running = rig.enqueue(draft().job_key("abc", JobKeyMode::Replace)).await;
    rig.take("default").await.unwrap();
    let removal = rig.broker.remove_by_key(key, None).await.unwrap();
    assert_eq!(removal, Removal { removed: Vec::new(), released: vec![running.id] });
    let failed = rig.broker.fail(running.id, Claimant::UNNAMED, error(Directive::Policy), Handback::Failed);
    assert_eq!(failed.await.unwrap().state(), State::Discarded, "it is not tried again");

    let nobody = rig.broker.remove_by_key(key, None).await;
    assert!(matches!(nobody, Err(Error::Refused(Refusal::KeyNotHeld))), "{nobody:?}");
}
