//! Room in a queue that takes only so many jobs.

use hapax_core::{Admission, Bound, Event, JobId, Overflow, Refusal, Timestamp};

use crate::{Change, Followed, Ground, workflow};

/// Makes room for a new job, or refuses it. Gives back what happened to the job that lost its place.
pub fn make<G: Ground>(
    ground: &mut G,
    admission: &mut Admission,
    bound: Option<Bound>,
    now: Timestamp,
) -> Result<Result<Option<Change>, Refusal>, G::Trouble> {
    let Some(Bound { max, overflow }) = bound.filter(|_| admission.verdict.is_new()) else {
        return Ok(Ok(None));
    };
    let queue = admission.job.spec.queue.clone();
    let freed = admission.freed(&queue);
    let depth = ground.depth(&queue)?.saturating_sub(freed);
    admission.depth = Some((depth + 1).min(max));
    if depth < max {
        return Ok(Ok(None));
    }
    let full = Refusal::QueueFull { queue: queue.clone(), depth, max };
    let oldest = match overflow {
        Overflow::Reject | Overflow::Block => None,
        Overflow::DropOldest => {
            // Those whose place it takes leave anyway, and the one for which it waits has to stay.
            let leaving = admission.changed.iter().map(|(_, job)| job.id);
            let leaving: Vec<JobId> = leaving.chain(admission.job.waits_for()).collect();
            let oldest = ground.oldest_in_line(&queue, &leaving)?;
            if oldest.is_none() && freed > 0 {
                return Ok(Ok(None));
            }
            oldest
        }
    };
    let Some(id) = oldest else { return Ok(Err(full)) };
    let Ok(mut change) = ground.step_alone(id, Event::Displace, now)? else { return Ok(Err(full)) };
    if let Change::To { before, job, followers, workflow, said: _ } = &mut change
        && let Some(Followed { workflow: stands, followers: more }) =
            workflow::follow(ground, *before, job, now)?
    {
        followers.extend(more);
        *workflow = Some(Box::new(stands));
    }
    Ok(Ok(Some(change)))
}

/// Tells of the job that lost its place, among the others that changed.
pub fn tell(admission: &mut Admission, displaced: Option<Change>) {
    if let Some(Change::To { before, job, followers, workflow, said: _ }) = displaced {
        admission.changed.push((before, job));
        admission.changed.extend(followers);
        admission.workflows.extend(workflow.map(|workflow| *workflow));
    }
}
