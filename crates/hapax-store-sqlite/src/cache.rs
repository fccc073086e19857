//! Jobs that were touched lately, as they are: a worker's answer usually follows soon on its fetch.

use std::collections::VecDeque;
use std::sync::Arc;

use hapax_core::{Failure, Job, Phase, State};
use rustc_hash::FxHashMap;

use crate::row::{Seq, Stored};

/// Running jobs are apart from the others, so that a wave of new jobs does not push them out: a running job
/// is needed once more for certain, when its worker answers.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    running: Shelf<49_152>,
    others: Shelf<16_384>,
}

/// How many bytes the jobs of one shelf may have, in all that clients and workers decide the size of.
const SHELF_BYTES_MAX: usize = 32 << 20;

/// So many jobs, first in, first out.
#[derive(Debug, Default)]
struct Shelf<const JOBS_MAX: usize> {
    jobs: FxHashMap<Seq, Arc<Stored>>,
    order: VecDeque<Seq>,
    bytes: usize,
}

impl Cache {
    pub(crate) fn get(&self, seq: Seq) -> Option<&Arc<Stored>> {
        self.running.jobs.get(&seq).or_else(|| self.others.jobs.get(&seq))
    }

    /// Puts the job in the place of what it was.
    pub(crate) fn insert(&mut self, stored: Arc<Stored>) {
        if stored.job.state() == State::Active {
            self.others.remove(stored.seq);
            self.running.insert(stored);
        } else {
            self.running.remove(stored.seq);
            self.others.insert(stored);
        }
    }

    pub(crate) fn remove(&mut self, seq: Seq) {
        self.running.remove(seq);
        self.others.remove(seq);
    }

    pub(crate) fn clear(&mut self) {
        *self = Cache::default();
    }
}

impl<const JOBS_MAX: usize> Shelf<JOBS_MAX> {
    fn insert(&mut self, stored: Arc<Stored>) {
        let seq = stored.seq;
        self.bytes += bytes(&stored);
        match self.jobs.insert(seq, stored) {
            Some(old) => self.bytes -= bytes(&old),
            None => self.order.push_back(seq),
        }
        // Jobs that were removed stay in the order, which may name a job twice if it came back: then it goes
        // a little early.
        while (self.order.len() > JOBS_MAX || self.bytes > SHELF_BYTES_MAX)
            && let Some(oldest) = self.order.pop_front()
        {
            self.remove(oldest);
        }
    }

    fn remove(&mut self, seq: Seq) {
        if let Some(old) = self.jobs.remove(&seq) {
            self.bytes -= bytes(&old);
        }
    }
}

fn bytes(stored: &Stored) -> usize {
    let Job { spec, phase, history, ledger, released, .. } = &stored.job;
    let texts = [&spec.args, &spec.meta, &spec.extra].map(|json| json.as_str().len());
    let result = match phase {
        Phase::Completed { result, .. } => result.as_ref().map_or(0, |json| json.as_str().len()),
        _ => 0,
    };
    let failures: usize = history.entries().iter().map(bytes_of_failure).sum();
    let requests = ledger.recent().iter().filter_map(|entry| entry.request_id.as_deref());
    let reason = released.as_ref().and_then(|release| release.reason.as_deref()).map_or(0, str::len);
    texts.iter().sum::<usize>() + result + failures + requests.map(str::len).sum::<usize>() + reason
}

fn bytes_of_failure(failure: &Failure) -> usize {
    let Failure { kind, code, message, details, backtrace, .. } = failure;
    let lines: usize = backtrace.iter().map(|line| size_of::<Box<str>>() + line.len()).sum();
    let details = details.as_ref().map_or(0, |json| json.as_str().len());
    kind.len() + code.len() + message.len() + details + lines
}

#[cfg(test)]
mod tests;
