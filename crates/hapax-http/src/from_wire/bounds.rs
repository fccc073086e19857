//! Bounds and choices of requests that the description of the routes tells as well.

pub(crate) use super::agent::{
    NAME_BYTES_MAX as AGENT_NAME_BYTES_MAX, SAID_BYTES_MAX as AGENT_TEXT_BYTES_MAX,
};
pub(crate) use super::batch::ATOMICITIES;
pub(crate) use super::beat::JOBS_MAX as HEARTBEAT_JOBS_MAX;
pub(crate) use super::cron_preview::{NEXT_RUNS_DEFAULT, NEXT_RUNS_MAX};
pub(crate) use super::entry_page::{ENTRY_OFFSET_MAX, workflow_state_names};
pub(crate) use super::envelope::EXTRA_MAX;
pub(crate) use super::job_filter::META_MEMBERS_MAX;
pub(crate) use super::maintenance::REASON_CHARS_MAX as MAINTENANCE_REASON_CHARS_MAX;
pub(crate) use super::operator_page::PER_PAGE_DEFAULT;
pub(crate) use super::page::{
    EVENTS_DEFAULT, HOLDERS_DEFAULT, LIMIT_DEFAULT, LIMIT_MAX, LIMITS_OFFSET_MAX, OFFSET_MAX,
    RESULT_WAIT_DEFAULT, RESULT_WAIT_MAX,
};
pub(crate) use super::pool::{QUEUES_MAX as POOL_QUEUES_MAX, WEIGHT_MAX as POOL_WEIGHT_MAX};
pub(crate) use super::queue_settings::TYPES_MAX as ALLOWED_TYPES_MAX;
pub(crate) use super::release::REASON_CHARS_MAX as RELEASE_REASON_CHARS_MAX;
pub(crate) use super::report::RESULT_BYTES_MAX;
pub(crate) use super::result::RESULTS_MAX;
pub(crate) use super::retry::{BACKOFFS, EXHAUSTIONS};
pub(crate) use super::states::GROUPS as STATE_GROUPS;
pub(crate) use super::unique::DIMENSIONS;
pub(crate) use super::webhook::NAMES_MAX as SUBSCRIPTION_NAMES_MAX;
pub(crate) use super::wish::QUEUES_MAX as FETCH_QUEUES_MAX;
pub(crate) use super::workflow::{
    BUILT_JOBS as WORKFLOW_BUILT_JOBS, FORMS as WORKFLOW_FORMS, NAME_BYTES_MAX as WORKFLOW_NAME_BYTES_MAX,
};
