//! The queries of lists of entries, which go on behind a name or after so many.

use axum::http::Uri;
use hapax_broker::{ENTRIES_LOOKED_AT_MAX, EntryPart};
use hapax_core::State;
use hapax_core::workflow::{WorkflowId, WorkflowState};

use super::page::{Listing, beginning, expect_one_beginning, listing, no_cursor};
use super::query::{QUERY, Query, fault, read_query};
use super::{Fault, Place};

/// Furthest place at which a page may start: what is left out before it is read.
pub(crate) const ENTRY_OFFSET_MAX: usize = ENTRIES_LOOKED_AT_MAX;

/// A state that the official admin UI calls otherwise: its words are those of the OpenAPI document.
pub(crate) const RUNNING_ALIAS: &str = State::Active.name();

/// Recurring jobs that somebody wants to see.
#[derive(Debug)]
pub(crate) struct CronList {
    pub(crate) part: EntryPart,
    pub(crate) listing: Listing,
    /// Only those that are switched on, or off.
    pub(crate) enabled: Option<bool>,
}

/// Workflows that somebody wants to see.
#[derive(Debug)]
pub(crate) struct WorkflowList {
    pub(crate) part: EntryPart,
    pub(crate) listing: Listing,
    /// Only those in one of these states.
    pub(crate) states: Option<Vec<WorkflowState>>,
}

/// Which recurring jobs to list.
pub(crate) fn crons(uri: &Uri) -> Result<CronList, Fault> {
    read_query(uri, |query| {
        let (part, listing) = part(query)?;
        Ok(CronList { part, listing, enabled: query.flag("enabled")? })
    })
}

/// Which workflows to list.
pub(crate) fn workflows(uri: &Uri) -> Result<WorkflowList, Fault> {
    read_query(uri, |query| {
        let (part, listing) = part(query)?;
        if part.after.as_deref().is_some_and(|id| id.parse::<WorkflowId>().is_err()) {
            return Err(no_cursor());
        }
        let states = query.get("state").map(workflow_states).transpose()?;
        Ok(WorkflowList { part, listing, states })
    })
}

/// Which part of a list of names to show.
pub(crate) fn named_or_counted(uri: &Uri) -> Result<(EntryPart, Listing), Fault> {
    read_query(uri, part)
}

fn part(query: &Query) -> Result<(EntryPart, Listing), Fault> {
    let listing = listing(query)?;
    let after = expect_one_beginning(query, listing)?.map(Into::into);
    if listing.offset > ENTRY_OFFSET_MAX {
        let problem = format_args!("may leave out at most {ENTRY_OFFSET_MAX} items; go on by cursor");
        return Err(fault(beginning(query), problem));
    }
    Ok((EntryPart { after, skipped: listing.offset, limit: listing.limit }, listing))
}

fn workflow_states(name: &str) -> Result<Vec<WorkflowState>, Fault> {
    let known = WorkflowState::ALL.into_iter().find(|state| state.name() == name);
    match (known, name) {
        (Some(state), _) => Ok(vec![state]),
        (None, RUNNING_ALIAS) => Ok(vec![WorkflowState::Running]),
        // A word of the specification: here a workflow runs from the moment in which it is accepted.
        (None, name) if name == State::Pending.name() => Ok(Vec::new()),
        (None, _) => {
            let place = Place::Member(&QUERY, "state");
            Err(Fault::unknown(place, "state of workflows", name, &workflow_state_names()))
        }
    }
}

/// The words by which workflows can be asked for.
pub(crate) fn workflow_state_names() -> [&'static str; 6] {
    let [running, completed, failed, cancelled] = WorkflowState::ALL.map(WorkflowState::name);
    [running, RUNNING_ALIAS, completed, failed, cancelled, State::Pending.name()]
}
