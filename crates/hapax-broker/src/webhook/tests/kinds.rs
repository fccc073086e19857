//! The log and the webhooks tell of the same things, whatever was done.

use std::time::Duration;

use hapax_core::limit::{LimitKey, Limits, OnLimit, RateLimit, Share};
use hapax_core::unique::{Key, Strategy};
use hapax_core::{
    AgentDeed, Claimant, Directive, Fraction, Handback, Job, JobId, Json, Priority, Report, SpecPatch,
    WorkerError, WorkerId,
};
use hapax_store::webhook::Shelf;

use super::{Rig, rig};
use crate::testing::{draft, error, fetch, pass, queue, settle};
use crate::webhook::DeliveryFilter;
use crate::{Deed, Draft, Error, EventFilter, EventKind, EventQuery, Heartbeat, Notice, Receipt};

const SECOND: Duration = Duration::from_secs(1);

impl Rig {
    async fn create(&self, draft: Draft) -> JobId {
        match self.broker.enqueue(draft, "request", None).await.unwrap() {
            Receipt::Fresh(admission) => admission.job.id,
            Receipt::Remembered(_) => panic!("no memo was given"),
        }
    }

    async fn take(&self) -> Option<Job> {
        self.broker.fetch(fetch(&["default"], Duration::ZERO)).await.unwrap().pop()
    }

    /// What was told since the last time it was asked: once in the log and once to the only subscriber.
    async fn told(&self, known: &mut usize) -> (Vec<&'static str>, Vec<String>) {
        // Those of what is no change in the store are stored by a task of their own.
        settle().await;
        let log = log(self).into_iter();
        let log: Vec<&str> = log.filter(|kind| kind.goes_to_webhooks()).map(EventKind::name).collect();
        let filter = DeliveryFilter { subscription: None, shelf: None };
        let sent = self.broker.deliveries(filter, None, 1000).await.unwrap().deliveries;
        let sent = sent.iter().skip(*known).map(|delivery| delivery.event_type.to_string()).collect();
        let new = log[*known..].to_vec();
        *known = log.len();
        (new, sent)
    }
}

/// Everything in the log.
fn log(rig: &Rig) -> Vec<EventKind> {
    let filter = EventFilter { types: vec!["*".into(), WAY.into()], ..EventFilter::default() };
    let page = rig.broker.events(&EventQuery { filter, limit: 1000, ..EventQuery::default() });
    page.events.iter().map(Notice::kind).collect()
}

fn limited(on_limit: OnLimit) -> Draft {
    let limits = Limits { concurrency: Some(1), ..Limits::default() };
    let key = LimitKey::parse("mail").unwrap();
    let mut draft = draft();
    draft.spec.rate_limit = Some(Box::new(RateLimit { key, limits, on_limit, share: Share::default() }));
    draft
}

fn half(checkpoint: Option<&str>) -> Report {
    let checkpoint = checkpoint.map(Json::from_trusted);
    Report { value: Some(Fraction::clamped(0.5)), checkpoint, ..Report::default() }
}

/// Does something, and looks at what is told of it. Whatever is done is done in the same millisecond, so that nothing
/// can be told apart by its time.
macro_rules! tells {
    ($rig:expr, $known:expr, $act:expr, $kinds:expr) => {
        $act.await.unwrap();
        let (log, sent) = $rig.told(&mut $known).await;
        assert_eq!(log, $kinds, "in the log, of {}", stringify!($act));
        assert_eq!(sent, $kinds, "by webhook, of {}", stringify!($act));
    };
}

const NOTHING: [&str; 0] = [];
const WAY: &str = "job.state_changed";

#[tokio::test(start_paused = true)]
async fn what_a_worker_says_is_told_in_the_log_and_by_webhooks() {
    let rig = rig(&[], Duration::ZERO);
    rig.subscribe(&["*", WAY]).await;
    let (broker, anybody, mut known) = (&rig.broker, Claimant::UNNAMED, 0);
    let id = rig.create(draft()).await;
    rig.take().await.unwrap();
    let (log, sent) = rig.told(&mut known).await;
    assert_eq!(log, [WAY, "job.enqueued", "worker.started", WAY, "job.started"]);
    assert_eq!(sent, log);
    let beat = || Heartbeat {
        worker: WorkerId::parse("worker-1"),
        jobs: vec![(id, None)],
        visibility_timeout: None,
        tenant: None,
    };
    let say = |checkpoint| broker.report_progress(id, Claimant::UNNAMED, half(checkpoint));
    let save = || broker.save_checkpoint(id, Claimant::UNNAMED, Json::null(), Json::empty_object());
    tells!(rig, known, say(None), ["job.progress"]);
    tells!(rig, known, save(), ["job.checkpointed"]);
    tells!(rig, known, say(Some("1")), ["job.progress", "job.checkpointed"]);
    tells!(rig, known, broker.heartbeat(beat()), ["job.heartbeat"]);
    tells!(rig, known, broker.drop_checkpoint(id), NOTHING);
    tells!(
        rig,
        known,
        broker.fail(id, anybody, error(Directive::Policy), Handback::Requeue),
        [WAY, "job.enqueued"]
    );
    // Somebody may prepare a checkpoint, but a report of somebody who holds nothing is passed over.
    tells!(rig, known, say(Some("1")), NOTHING);
    tells!(rig, known, save(), ["job.checkpointed"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_done_to_an_agent_is_no_heartbeat_of_its_worker() {
    let rig = rig(&[], Duration::ZERO);
    rig.subscribe(&["*", WAY]).await;
    let mut known = 0;
    let id = rig.create(draft()).await;
    rig.take().await.unwrap();
    rig.told(&mut known).await;
    let tool = AgentDeed::RetryTool { call: "search".into(), error: None, alternate: false };
    let resume = AgentDeed::Resume { approved: true, comment: None, metadata: None };
    tells!(rig, known, rig.broker.agent(id, tool), NOTHING);
    tells!(rig, known, rig.broker.agent(id, AgentDeed::Pause { reason: None }), [WAY]);
    tells!(rig, known, rig.broker.agent(id, resume), [WAY, "job.enqueued"]);
}

#[tokio::test(start_paused = true)]
async fn what_becomes_of_rate_limits_is_told_by_webhooks_as_far_as_the_store_knows_it() {
    let rig = rig(&[], Duration::ZERO);
    let subscription = rig.subscribe(&["rate_limit.*"]).await;
    let id = rig.create(limited(OnLimit::Wait)).await;
    rig.take().await.unwrap();
    let waits = rig.create(limited(OnLimit::Wait)).await;
    assert!(rig.take().await.is_none());
    let closing =
        WorkerError { rate_limit_until: Some(rig.broker.now() + SECOND), ..error(Directive::Discard) };
    rig.broker.fail(id, Claimant::UNNAMED, closing, Handback::Failed).await.unwrap();
    pass(SECOND * 2).await;
    assert_eq!(rig.take().await.unwrap().id, waits);
    rig.create(limited(OnLimit::Drop)).await;
    assert!(rig.take().await.is_none());
    let log = log(&rig).into_iter().map(EventKind::name);
    let log: Vec<&str> = log.filter(|name| name.starts_with("rate_limit.")).collect();
    let [adjusted, dropped] = ["rate_limit.dynamic_adjusted", "rate_limit.dropped"];
    assert_eq!(log, ["rate_limit.exceeded", adjusted, "rate_limit.released", dropped]);
    let filter = DeliveryFilter { subscription: Some(subscription.id), shelf: Some(Shelf::Pending) };
    let sent = rig.broker.deliveries(filter, None, 10).await.unwrap().deliveries;
    let sent: Vec<&str> = sent.iter().map(|delivery| &*delivery.event_type).collect();
    assert_eq!(sent, [adjusted, dropped]);
}

#[tokio::test(start_paused = true)]
async fn other_deeds_are_told_in_the_log_and_by_webhooks() {
    let rig = rig(&[], Duration::ZERO);
    rig.subscribe(&["*", WAY]).await;
    let (broker, mut known) = (&rig.broker, 0);
    let id = rig.create(draft().unique(Strategy::Reject)).await;
    rig.told(&mut known).await;
    tells!(rig, known, broker.reprioritize(id, Priority::default()), NOTHING);
    tells!(rig, known, broker.pause(queue("default")), ["queue.paused"]);
    tells!(rig, known, broker.resume(queue("default")), ["queue.resumed"]);
    rig.take().await.unwrap();
    rig.told(&mut known).await;
    tells!(rig, known, broker.release(Key::of_text("the same"), None, None), NOTHING);
    let fails = || broker.fail(id, Claimant::UNNAMED, error(Directive::DeadLetter), Handback::Failed);
    tells!(rig, known, fails(), ["job.failed", WAY, "job.discarded", "dead_letter.added"]);
    let revive = broker.revive(id, SpecPatch::default());
    tells!(rig, known, revive, [WAY, "job.enqueued", "dead_letter.retried"]);
    let (five, none) = (Priority::new(5).unwrap(), Priority::default());
    tells!(rig, known, broker.reprioritize(id, five), ["priority.changed"]);
    tells!(rig, known, broker.reprioritize(id, none), ["priority.changed"]);
    rig.take().await.unwrap();
    rig.told(&mut known).await;
    tells!(rig, known, fails(), ["job.failed", WAY, "job.discarded", "dead_letter.added"]);
    tells!(rig, known, broker.forget(id), ["dead_letter.deleted"]);
    let id = rig.create(draft()).await;
    rig.told(&mut known).await;
    let cancel = async { Ok::<_, Error>(broker.treat(vec![id], None, Deed::Cancel).await) };
    tells!(rig, known, cancel, [WAY, "job.cancelled", "bulk.cancel.completed"]);
    let id = rig.create(draft()).await;
    rig.told(&mut known).await;
    rig.take().await.unwrap();
    rig.told(&mut known).await;
    tells!(rig, known, broker.acknowledge(id, Claimant::UNNAMED, None), [WAY, "job.completed"]);
    tells!(rig, known, broker.delete(id), NOTHING);
}

#[test]
fn the_page_about_events_names_every_kind_and_which_go_to_webhooks() {
    let page = include_str!("../../../../../docs/events.md");
    let (_, rest) = page.split_once("<!-- kinds of events: begin -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- kinds of events: end -->").unwrap();
    let cells = |row: &str| {
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        (cells[1].clone(), cells[cells.len() - 2].clone())
    };
    let told: Vec<(String, String)> = table.lines().skip(2).map(cells).collect();
    let webhooks = |kind: EventKind| if kind.goes_to_webhooks() { "yes" } else { "no" };
    let known = EventKind::ALL.map(|kind| (kind.name().to_owned(), webhooks(kind).to_owned()));
    assert_eq!(told, known);
}
