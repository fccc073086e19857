//! The book: every job that was ever asked for, and what is known about it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use e2e::{Client, Delivery, Failure, Request, TERMINAL};
use serde_json::Value;

use crate::counters::{Counters, count};
use crate::order::Order;
use crate::record::{Birth, End, Record};

/// Everything the clients know together.
#[derive(Debug, Default)]
pub(crate) struct Book {
    jobs: Mutex<BTreeMap<String, Record>>,
    /// The job of each marker, for jobs whose ids the server chose.
    markers: Mutex<BTreeMap<String, Option<String>>>,
    /// Orders without an answer, to be sent again.
    open: Mutex<Vec<Order>>,
    /// Jobs that were spoken of since the last crash.
    touched: Mutex<BTreeSet<String>>,
    now: AtomicUsize,
    pub(crate) counters: Counters,
}

impl Book {
    /// A moment in the order of the book.
    pub(crate) fn moment(&self) -> usize {
        self.now.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn jobs(&self) -> MutexGuard<'_, BTreeMap<String, Record>> {
        self.jobs.lock().unwrap_or_else(|_| panic!("another client failed"))
    }

    /// Sends an order and writes down what came of it. Says whether the server is still there.
    pub(crate) fn place(&self, client: &mut Client, order: Order) -> bool {
        self.intend(&order);
        match client.try_send(&order.request()) {
            Ok(answer) => {
                count(&self.counters.answered);
                order.settle(self, &answer);
                true
            }
            Err(Failure::NotSent(_)) => {
                self.never_was(&order);
                false
            }
            Err(Failure::Unknown(_)) => {
                count(&self.counters.unknown);
                self.leave_open(order);
                false
            }
        }
    }

    /// Sends a request about known jobs; none if the answer never came.
    pub(crate) fn ask(&self, client: &mut Client, request: &Request) -> Option<e2e::Answer> {
        let answer = client.try_send(request).ok();
        count(if answer.is_some() { &self.counters.answered } else { &self.counters.unknown });
        answer
    }

    pub(crate) fn take_open(&self) -> Vec<Order> {
        std::mem::take(&mut *self.open.lock().unwrap_or_else(|_| panic!("another client failed")))
    }

    pub(crate) fn take_touched(&self) -> Vec<String> {
        let mut touched = self.touched.lock().unwrap_or_else(|_| panic!("another client failed"));
        std::mem::take(&mut *touched).into_iter().collect()
    }

    fn leave_open(&self, order: Order) {
        // Without a key a repetition would not be safe; such an order stays unknown until somebody looks.
        if order.is_repeatable() {
            self.open.lock().unwrap_or_else(|_| panic!("another client failed")).push(order);
        }
    }

    fn intend(&self, order: &Order) {
        for id in order.ids() {
            self.touch(id);
            self.jobs().insert(id.clone(), Record::new(order.key()));
        }
        if let Some(marker) = order.marker() {
            self.markers
                .lock()
                .unwrap_or_else(|_| panic!("another client failed"))
                .insert(marker.to_owned(), None);
        }
    }

    fn never_was(&self, order: &Order) {
        for id in order.ids() {
            self.jobs().remove(id);
        }
    }

    pub(crate) fn touch(&self, id: &str) {
        self.touched.lock().unwrap_or_else(|_| panic!("another client failed")).insert(id.to_owned());
    }

    /// The job was acknowledged, or seen.
    pub(crate) fn accepted(&self, id: &str) {
        self.touch(id);
        let mut jobs = self.jobs();
        let record = jobs.entry(id.to_owned()).or_insert_with(|| Record::new(None));
        assert_ne!(record.birth, Birth::Refused, "{id} was refused and exists");
        if record.birth == Birth::Unknown {
            record.birth = Birth::Accepted;
            count(&self.counters.accepted);
        }
    }

    /// Another job was named in the place of this one, which therefore must hold the same key.
    pub(crate) fn refused(&self, id: &str, existing: &str) {
        count(&self.counters.duplicates);
        assert_ne!(id, existing, "a job is its own duplicate");
        let mut jobs = self.jobs();
        let key = jobs.get(id).and_then(|record| record.key.clone());
        let holder = jobs.get(existing).unwrap_or_else(|| panic!("{existing} was named and never asked for"));
        assert_eq!(holder.key, key, "{existing} was named for {id}");
        assert_ne!(holder.birth, Birth::Refused, "{existing} was named and does not exist");
        if let Some(record) = jobs.get_mut(id) {
            record.birth = Birth::Refused;
        }
    }

    /// The server says that the job with this marker has this id: it must always say the same.
    pub(crate) fn is_marked(&self, marker: &str, id: &str) {
        let mut markers = self.markers.lock().unwrap_or_else(|_| panic!("another client failed"));
        let known = markers.get_mut(marker).unwrap_or_else(|| panic!("{marker} was never asked for"));
        let known = known.get_or_insert_with(|| id.to_owned());
        assert_eq!(known, id, "{marker} became two jobs");
    }

    /// An end was acknowledged.
    pub(crate) fn ended(&self, id: &str, end: End) {
        self.touch(id);
        let moment = self.moment();
        let mut jobs = self.jobs();
        let record = jobs.entry(id.to_owned()).or_insert_with(|| Record::new(None));
        if let Some((earlier, _)) = record.end {
            panic!("{id} was {earlier}, and then {end}");
        }
        record.end = Some((end, moment));
        count(&self.counters.ended);
    }

    /// An end was asked for and not answered.
    pub(crate) fn may_have_ended(&self, id: &str, end: End) {
        self.touch(id);
        if let Some(record) = self.jobs().get_mut(id) {
            record.possible.insert(end);
        }
    }

    /// A worker received the job from a fetch that began at this moment.
    pub(crate) fn delivered(&self, delivery: &Delivery, since: usize) {
        let Delivery { id, fence, job, .. } = delivery;
        if let Some(marker) = job["args"][0]["marker"].as_str() {
            self.is_marked(marker, id);
        }
        self.accepted(id);
        count(&self.counters.delivered);
        if *fence > 1 {
            count(&self.counters.redelivered);
        }
        let mut jobs = self.jobs();
        let Some(record) = jobs.get_mut(id) else { return };
        if let Some((end, moment)) = record.end {
            assert!(moment > since, "{id} was {end} and then delivered");
        }
        let last = record.fences.last().copied().unwrap_or(0);
        assert!(record.fences.insert(*fence), "{id} was delivered twice with the fence {fence}");
        // Who asked before the last delivery was noted may note its own after it: both answers may have waited for the disk for longer
        // than a lease lasts.
        assert!(*fence > last || record.noted_at > since, "{id}: the fence went from {last} to {fence}");
        if *fence > last {
            record.noted_at = self.moment();
        }
    }
}

/// What a look at the server says.
impl Book {
    /// The server does not know the job.
    pub(crate) fn is_absent(&self, id: &str) {
        if let Some(record) = self.jobs().get_mut(id) {
            assert_ne!(record.birth, Birth::Accepted, "{id} is lost: {record:?}");
            assert!(record.end.is_none() && record.fences.is_empty(), "{id} is lost: {record:?}");
            if record.birth == Birth::Unknown {
                record.birth = Birth::Refused;
                count(&self.counters.unknown_had_not_happened);
            }
        }
    }

    /// The server shows the job.
    pub(crate) fn exists(&self, id: &str, job: &Value) {
        let mut jobs = self.jobs();
        let Some(record) = jobs.get_mut(id) else { panic!("{id} was never asked for") };
        assert_ne!(record.birth, Birth::Refused, "{id} was refused and exists: {job}");
        if record.birth == Birth::Unknown {
            record.birth = Birth::Accepted;
            count(&self.counters.unknown_had_happened);
        }
        let attempts = job["attempt"].as_u64().unwrap_or_default();
        let last = record.fences.last().copied().unwrap_or(0);
        assert!(attempts >= last, "{id} was delivered with the fence {last}: {job}");
        let state = job["state"].as_str().unwrap_or_default();
        let found = TERMINAL.into_iter().find(|end| *end == state);
        match (record.end, found) {
            (Some((end, _)), _) => assert_eq!(state, end, "{id} was {end}: {job}"),
            (None, None) => {}
            (None, Some(end)) => {
                assert!(record.possible.contains(end), "nobody asked for the end of {id}: {job} {record:?}");
                record.end = Some((end, self.now.fetch_add(1, Ordering::SeqCst)));
                count(&self.counters.ended);
            }
        }
    }
}
