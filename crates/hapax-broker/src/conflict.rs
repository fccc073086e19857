//! Counting the incoming jobs that met a holder of their key.

use hapax_core::unique::Uniqueness;
use hapax_core::{Admission, Phase, Refusal, Verdict};

use crate::{Broker, Draft};

/// What decides about a job that meets a holder, in one word; nothing for a job that cannot meet one.
pub(crate) type Rule = Option<&'static str>;

/// The rule of a draft.
pub(crate) fn rule(draft: &Draft) -> Rule {
    draft.spec.unique.as_ref().map(Uniqueness::rule)
}

impl Broker {
    /// Counts what became of one incoming job.
    pub(crate) fn count(&self, answer: Result<&Admission, &Refusal>, rule: Rule) {
        let observer = &self.shared.observer;
        if let Ok(Admission { verdict: Verdict::Existing | Verdict::Updated(_), .. }) = answer {
            observer.deduplicated();
        }
        if let (true, Some(rule)) = (answer.map_or_else(names_holder, met_holder), rule) {
            observer.conflict(rule);
        }
    }
}

/// A job may be created all the same: to wait for the end of a holder, or beside one that gives up its key.
fn met_holder(admission: &Admission) -> bool {
    let Admission { verdict, job, changed, is_abridged: _ } = admission;
    let waits_for_another = matches!(job.phase, Phase::Pending { after: Some(_) });
    *verdict != Verdict::Created || !changed.is_empty() || waits_for_another
}

fn names_holder(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Duplicate { .. } | Refusal::Twin { .. } | Refusal::PayloadFull { .. })
}
