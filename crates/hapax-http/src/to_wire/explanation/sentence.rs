//! Explanations in words: one short sentence each, for a person.

use hapax_broker::Explained;
use hapax_core::unique::{
    Anchor, Field, Freeing, JobKeyMode, Resolution, Seen, Standing, Takeover, UniquePolicy, Uniqueness, Watch,
};
use hapax_core::{Admission, Job, JobId, Phase, Refusal, State, StateSet, Timestamp, format_iso8601};

/// Which holder matched, in which state, and what the rule does.
pub(super) fn rule(explained: &Explained) -> String {
    match (&explained.explanation.admission, &explained.uniqueness) {
        (Err(Refusal::IdTaken { id, state }), _) => {
            format!("job {id} has this very id and is {state}: the job is refused, whatever else it says")
        }
        (Ok(_), None) => "the job has neither a unique policy nor a job key: it is created".to_owned(),
        (Err(refusal), _) => refusal.to_string(),
        (Ok(admission), Some(uniqueness)) => decision(explained, uniqueness, admission),
    }
}

fn decision(explained: &Explained, uniqueness: &Uniqueness, admission: &Admission) -> String {
    let found =
        |id: JobId| explained.explanation.holders.iter().map(|seen| &seen.job).find(|job| job.id == id);
    let told = |id: JobId, effect: String| match found(id) {
        Some(job) => format!("{}: {effect}", matched(job, uniqueness)),
        None => effect,
    };
    match &explained.explanation.resolution {
        Resolution::Create => created(explained, uniqueness, admission),
        Resolution::Reject(id) => told(*id, format!("{} refuses the job", conflict(uniqueness))),
        Resolution::Existing(id) => told(*id, existing(uniqueness, found(*id))),
        Resolution::Replace(ids) => match ids[..] {
            [id] => {
                told(id, format!("{} calls it off and creates the job in its place", conflict(uniqueness)))
            }
            _ => format!(
                "{} jobs with this key count: {} calls all of them off and creates the job in their place",
                ids.len(),
                conflict(uniqueness)
            ),
        },
        Resolution::Update { holder, takeover } => {
            told(*holder, updated(uniqueness, *takeover, found(*holder), admission))
        }
        Resolution::Queue(id) => {
            told(*id, "while_active queue_latest creates the job, which waits until it has ended".to_owned())
        }
        Resolution::Supersede(id) => {
            let effect = "creates the job beside it, and it gives up the job key and its retries";
            told(*id, format!("{} {effect}", conflict(uniqueness)))
        }
    }
}

fn matched(job: &Job, uniqueness: &Uniqueness) -> String {
    let (id, state) = (job.id, job.state());
    match (uniqueness, &job.phase) {
        (Uniqueness::JobKey(_), _) => format!("job {id} is {state} and has this job key"),
        (Uniqueness::Policy(_), Phase::Pending { after: Some(other) }) => {
            format!("job {id} waits for the end of job {other}")
        }
        (Uniqueness::Policy(_), _) => format!("job {id} is {state} and the policy counts {state} jobs"),
    }
}

/// What decides, by the name and the value that the client knows.
fn conflict(uniqueness: &Uniqueness) -> String {
    match uniqueness {
        Uniqueness::Policy(policy) => format!("on_conflict {}", policy.on_conflict),
        Uniqueness::JobKey(job_key) => format!("job_key_mode {}", JobKeyMode::name(job_key.mode)),
    }
}

/// Nobody counts, or only such as leave the job alone.
fn created(explained: &Explained, uniqueness: &Uniqueness, admission: &Admission) -> String {
    let holders = &explained.explanation.holders;
    let newest = holders.iter().find(|seen| seen.standing == Standing::Counts);
    match (newest, explained.live + explained.ended) {
        (Some(seen), _) => format!("{}: {}", matched(&seen.job, uniqueness), beside(uniqueness, admission)),
        (None, 0) => "no job carries this key: the job is created".to_owned(),
        (None, 1) => "the one job that carries this key does not count: the job is created".to_owned(),
        (None, all) => format!("{all} jobs carry this key and none of them counts: the job is created"),
    }
}

/// Why a holder that counts does not stand against the job.
fn beside(uniqueness: &Uniqueness, admission: &Admission) -> String {
    match uniqueness.policy() {
        Some(UniquePolicy { debounce: Some(_), .. }) => {
            format!("debounce leaves it alone and creates another job{}", starting(admission))
        }
        _ => format!("{} leaves what has ended as it is and creates the job", conflict(uniqueness)),
    }
}

fn starting(admission: &Admission) -> String {
    match admission.job.phase {
        Phase::Scheduled { at } => format!(", which starts at {at}"),
        _ => String::new(),
    }
}

fn existing(uniqueness: &Uniqueness, holder: Option<&Job>) -> String {
    match (uniqueness.policy(), holder) {
        (Some(UniquePolicy { replace: Some(_), .. }), Some(holder)) => {
            format!("replace names no field for {} jobs, so it is the answer as it is", holder.state())
        }
        _ => format!("{} answers with it", conflict(uniqueness)),
    }
}

fn updated(uniqueness: &Uniqueness, takeover: Takeover, holder: Option<&Job>, after: &Admission) -> String {
    match takeover {
        Takeover::Fields(fields) => {
            format!("replace writes {} into it", listed(fields.iter().map(Field::name), "and"))
        }
        Takeover::AllButSchedule | Takeover::Renew { keeps_start: true } => {
            format!("{} gives it every new value but the start time", conflict(uniqueness))
        }
        Takeover::Debounce(_) => match after.job.phase {
            Phase::Scheduled { at } => {
                format!("debounce gives it the new values and moves its start to {at}")
            }
            _ => "debounce gives it the new values".to_owned(),
        },
        Takeover::Latest => "while_active queue_latest gives it the new values".to_owned(),
        Takeover::Renew { keeps_start: false } => {
            let was_tried = holder.is_some_and(|job| job.attempt > 0 || job.state().is_terminal());
            let again = if was_tried { " and lets it begin again" } else { "" };
            format!("{} gives it the new values{again}", conflict(uniqueness))
        }
    }
}

/// Why a job with the key counts, or why not.
pub(super) fn standing(seen: &Seen, watch: Watch) -> String {
    let state = seen.job.state();
    let Watch { states: _, period, period_from, every_live: _ } = watch;
    let span = period.map(format_iso8601).unwrap_or_default();
    match seen.standing {
        Standing::OtherState => format!("it is {state}, and {state} jobs do not count"),
        Standing::WindowOver { since } => {
            format!("it counted for {span} from {}, and that was over at {since}", period_from.name())
        }
        Standing::Counts if period.is_none() => format!("it is {state}, and {state} jobs count"),
        Standing::Counts => match watch.window_end((&seen.job).into()) {
            Some(end) => {
                format!("it is {state} and counts for {span} from {}, until {end}", period_from.name())
            }
            None if watch.states.iter().any(State::is_terminal) => {
                format!("it is {state} and counts until {span} after its end")
            }
            None => format!("it is {state}, and {state} jobs count"),
        },
    }
}

/// When the key is free at the latest; nothing if that is not known, or if it is free.
pub(super) fn free_at(freed: &[Freeing]) -> Option<Timestamp> {
    freed.iter().map(|freed| freed.at).collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// When the key becomes free, or what frees it.
pub(super) fn free(freed: &[Freeing], watch: Watch) -> String {
    match freed {
        [] => "the key is free now".to_owned(),
        [one] => format!("the key becomes free {}", freed_by(one, watch)),
        many => {
            let latest = free_at(many).map(|at| format!(", at {at} at the latest")).unwrap_or_default();
            format!(
                "the key becomes free when each of the {} jobs that count has stopped counting{latest}",
                many.len()
            )
        }
    }
}

fn freed_by(freed: &Freeing, watch: Watch) -> String {
    let Freeing { job, at, states } = freed;
    let event = (!states.is_empty()).then(|| format!("when job {job} is {}", leaving(*states, watch.states)));
    match (at, event, watch.period) {
        (Some(at), None, _) => format!("at {at}"),
        (Some(at), Some(event), _) => format!("at {at}, or earlier {event}"),
        (None, Some(event), _) => event,
        (None, None, Some(period)) if watch.period_from == Anchor::FinishedAt => {
            format!("{} after job {job} has ended", format_iso8601(period))
        }
        (None, None, _) => {
            format!("when job {job} is removed, some time after its end, or its key is released")
        }
    }
}

/// The states that free a key, or those that hold it if these are fewer.
fn leaving(freeing: StateSet, counting: StateSet) -> String {
    if freeing.iter().count() <= counting.iter().count() {
        listed(freeing.iter().map(State::name), "or")
    } else {
        format!("not {} any more", listed(counting.iter().map(State::name), "or"))
    }
}

/// `a, b or c`.
fn listed<'t>(names: impl Iterator<Item = &'t str>, joint: &str) -> String {
    let names: Vec<&str> = names.collect();
    match names.split_last() {
        None => String::new(),
        Some((only, [])) => (*only).to_owned(),
        Some((last, before)) => format!("{} {joint} {last}", before.join(", ")),
    }
}
