//! Jobs that are agents: they stop until a person has looked, go on or are called off, and try their tools again.
//!
//! What is known of that stands in the job itself, under [`AGENT_MEMBER`]: the worker that takes it next reads there what the
//! person said, and it is gone with the job.

use std::sync::Arc;

use crate::json::{Limits, Node, read};
use crate::{Job, JobId, Json, Refusal, Spec, State, Timestamp};

mod merge;

pub use merge::{MergeStrategy, Merged};

/// The attribute of a job that says how its agent stands.
pub const AGENT_MEMBER: &str = "ext_agent_v2";

/// Most bytes of that attribute. What tools report is kept in it.
pub const AGENT_BYTES_MAX: usize = 64 << 10;

/// How often a tool is tried if the job does not say.
pub const TOOL_ATTEMPTS: u64 = 3;

/// What is done to an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentDeed {
    /// It stops until a person has looked.
    Pause {
        /// Why.
        reason: Option<Box<str>>,
    },
    /// A person has looked.
    Resume {
        /// Whether it may go on.
        approved: bool,
        /// What the person said.
        comment: Option<Box<str>>,
        /// What else goes with the decision, for the agent: a JSON object.
        metadata: Option<Json>,
    },
    /// One of its tools failed and is to be tried again.
    RetryTool {
        /// The call of the tool.
        call: Box<str>,
        /// What went wrong.
        error: Option<Box<str>>,
        /// Whether another provider shall be tried.
        alternate: bool,
    },
}

/// What came of the wish to try a tool again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRetry {
    /// How often it has been tried again, this time included.
    pub attempts: u64,
    /// How often it may be.
    pub max_attempts: u64,
    /// The other provider, if one is to be tried.
    pub provider: Option<Box<str>>,
}

impl ToolRetry {
    /// Whether it is tried again.
    pub fn is_granted(&self) -> bool {
        self.attempts <= self.max_attempts
    }
}

impl Job {
    /// What it says of its agent.
    pub fn agent(&self) -> Json {
        self.agent_fact(|agent| Json::from_trusted(agent.raw)).unwrap_or_else(Json::empty_object)
    }

    /// Whether its agent waits for a person.
    pub fn is_paused_agent(&self) -> bool {
        self.state() == State::Pending && self.agent_says(PAUSED)
    }

    fn agent_says(&self, state: &str) -> bool {
        let says_so = |agent: &Node<'_>| agent.get("state").and_then(Node::as_str) == Some(state);
        self.agent_fact(says_so).unwrap_or(false)
    }

    /// The agent of which it is a branch, if it says so.
    pub fn branch_of(&self) -> Option<JobId> {
        let of = |agent: &Node<'_>| agent.get("branch")?.get("of")?.as_str()?.parse().ok();
        self.agent_fact(of).flatten()
    }

    /// A job that goes on, whoever let it: its agent does not say that it is paused.
    #[must_use]
    pub fn with_agent_on(mut self) -> Job {
        if self.agent_says(PAUSED) {
            let agent = self.agent().with_member("state", &Json::string(RUNNING));
            let extra = self.spec.extra.with_member(AGENT_MEMBER, &agent);
            self.spec = Arc::new(Spec { extra, ..(*self.spec).clone() });
        }
        self
    }

    /// What came of the last wish to try this call of a tool again.
    pub fn tool_retry(&self, call: &str) -> Option<ToolRetry> {
        self.agent_fact(|agent| {
            let attempts = attempts(agent, call);
            let policy = agent.get("tool_retry");
            let most = policy.and_then(|policy| policy.get("max_attempts")).and_then(Node::as_i64);
            let asked = agent.get("tool_calls").and_then(|calls| calls.get(call));
            let wants_other =
                asked.and_then(|asked| asked.get("use_alternate")).and_then(Node::as_bool) == Some(true);
            let other = policy.and_then(|policy| policy.get("alternate_provider")).and_then(Node::as_str);
            (attempts > 0).then(|| ToolRetry {
                attempts,
                max_attempts: most.and_then(|most| u64::try_from(most).ok()).unwrap_or(TOOL_ATTEMPTS),
                provider: other.filter(|_| wants_other).map(Into::into),
            })
        })
        .flatten()
    }

    fn agent_fact<T>(&self, look: impl FnOnce(&Node<'_>) -> T) -> Option<T> {
        let extra = read(self.spec.extra.as_str(), Limits::STORED).ok()?;
        extra.get(AGENT_MEMBER).map(look)
    }

    /// Its further attributes, with more facts about its agent.
    pub fn with_agent_facts(&self, facts: &[(&str, Json)]) -> Result<Json, Refusal> {
        let with = |agent: Json, (name, fact): &(&str, Json)| agent.with_member(name, fact);
        self.saying(&facts.iter().fold(self.agent(), with))
    }

    fn saying(&self, agent: &Json) -> Result<Json, Refusal> {
        let bytes = agent.as_str().len();
        if bytes > AGENT_BYTES_MAX {
            return Err(Refusal::AgentFull { id: self.id, bytes, max: AGENT_BYTES_MAX });
        }
        Ok(self.spec.extra.with_member(AGENT_MEMBER, agent))
    }

    /// What the job says of its agent, with what was done to it.
    pub(crate) fn with_agent(&self, deed: &AgentDeed, now: Timestamp) -> Result<Json, Refusal> {
        let before = self.agent();
        let at = Json::string(&now.to_string());
        let said = |text: &Option<Box<str>>| text.as_ref().map_or_else(Json::null, |text| Json::string(text));
        let after = match deed {
            AgentDeed::Pause { reason } => before.with_member("state", &Json::string(PAUSED)).with_member(
                "pause",
                &Json::empty_object().with_member("reason", &said(reason)).with_member("at", &at),
            ),
            AgentDeed::Resume { approved, comment, metadata } => {
                let decision = Json::empty_object()
                    .with_member("approved", &Json::from_trusted(if *approved { "true" } else { "false" }))
                    .with_member("comment", &said(comment))
                    .with_member("at", &at);
                let decision = match metadata {
                    Some(metadata) => decision.with_member("metadata", metadata),
                    None => decision,
                };
                let state = if *approved { RUNNING } else { STOPPED };
                before.with_member("state", &Json::string(state)).with_member("decision", &decision)
            }
            AgentDeed::RetryTool { call, error, alternate } => {
                let times = self.agent_fact(|agent| attempts(agent, call)).unwrap_or(0) + 1;
                let asked = Json::empty_object()
                    .with_member("attempts", &Json::from_trusted(&times.to_string()))
                    .with_member(
                        "use_alternate",
                        &Json::from_trusted(if *alternate { "true" } else { "false" }),
                    )
                    .with_member("error", &said(error))
                    .with_member("at", &at);
                let calls = self
                    .agent_fact(|agent| agent.get("tool_calls").map(|calls| Json::from_trusted(calls.raw)));
                let calls = calls.flatten().unwrap_or_else(Json::empty_object);
                before.with_member("tool_calls", &calls.with_member(call, &asked))
            }
        };
        self.saying(&after)
    }
}

const PAUSED: &str = "paused";
const RUNNING: &str = "running";
const STOPPED: &str = "stopped";

fn attempts(agent: &Node<'_>, call: &str) -> u64 {
    let counted =
        agent.get("tool_calls").and_then(|calls| calls.get(call)).and_then(|call| call.get("attempts"));
    counted.and_then(Node::as_i64).and_then(|count| u64::try_from(count).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, job_in, rules};
    use crate::{Event, Phase, decide};

    #[track_caller]
    fn after(job: &Job, deed: AgentDeed) -> Job {
        match decide(job, Event::Agent(deed), at(7), &rules()) {
            Ok(crate::Transition::To(next)) => next,
            other => panic!("{other:?}"),
        }
    }

    fn pause() -> AgentDeed {
        AgentDeed::Pause { reason: Some("a look".into()) }
    }

    fn resume(approved: bool) -> AgentDeed {
        AgentDeed::Resume { approved, comment: Some("fine".into()), metadata: None }
    }

    fn retry(call: &str, alternate: bool) -> AgentDeed {
        AgentDeed::RetryTool { call: call.into(), error: Some("late".into()), alternate }
    }

    #[test]
    fn a_paused_agent_goes_on_when_a_person_says_so() {
        for state in [State::Scheduled, State::Available, State::Active, State::Retryable] {
            let paused = after(&job_in(state), pause());
            assert_eq!(paused.phase, Phase::Pending { after: None }, "{state}");
            assert!(paused.is_paused_agent());
            let on = after(&paused, resume(true));
            assert!(!on.is_paused_agent());
            assert!(matches!(on.state(), State::Available | State::Scheduled), "{state}");
            assert!(on.spec.extra.as_str().contains(r#""comment":"fine""#));
            assert_eq!(after(&paused, resume(false)).state(), State::Cancelled);
        }
    }

    fn saying(extra: &str) -> Job {
        let mut job = job_in(State::Active);
        let spec = Spec { extra: Json::from_trusted(extra), ..(*job.spec).clone() };
        job.spec = Arc::new(spec);
        job
    }

    #[test]
    fn a_pause_is_known_whatever_else_the_job_says() {
        let deep = format!(r#"{{"parent_results":[{}{}]}}"#, "[".repeat(64), "]".repeat(64));
        for extra in ["7", "\"s\"", "[]", "null"].map(|agent| format!(r#"{{"ext_agent_v2":{agent}}}"#)) {
            assert!(after(&saying(&extra), pause()).is_paused_agent(), "{extra}");
            assert!(after(&saying(&extra), retry("t", false)).tool_retry("t").is_some(), "{extra}");
        }
        let paused = after(&saying(&deep), pause());
        assert!(paused.is_paused_agent());
        assert!(paused.spec.extra.as_str().starts_with(deep.trim_end_matches('}')));
        assert!(!after(&paused, resume(true)).is_paused_agent());
    }

    #[test]
    fn a_paused_agent_that_is_activated_says_that_it_runs() {
        let paused = after(&job_in(State::Available), pause());
        let Ok(crate::Transition::To(on)) = decide(&paused, Event::Activate, at(8), &rules()) else {
            panic!("it goes on")
        };
        assert!(on.spec.extra.as_str().contains(r#""state":"running""#), "{}", on.spec.extra);
        assert!(on.spec.extra.as_str().contains(r#""reason":"a look""#));
    }

    #[test]
    fn who_resumes_a_job_that_is_not_paused_is_told_so() {
        let job = job_in(State::Pending);
        let refused = decide(&job, Event::Agent(resume(true)), at(7), &rules()).unwrap_err();
        assert_eq!(refused, Refusal::NotPaused { id: job.id, state: State::Pending });
    }

    #[test]
    fn a_pause_uses_up_no_attempt() {
        let running = job_in(State::Active);
        assert_eq!(after(&running, pause()).attempt, running.attempt - 1);
        let failed = job_in(State::Retryable);
        assert_eq!(after(&failed, pause()).attempt, failed.attempt);
    }

    #[test]
    fn only_a_paused_one_is_resumed_and_only_a_living_one_paused() {
        let refused = |job: &Job, deed| decide(job, Event::Agent(deed), at(7), &rules()).is_err();
        for state in State::ALL {
            assert!(refused(&job_in(state), resume(true)), "{state}");
        }
        for state in [State::Pending, State::Completed, State::Cancelled, State::Discarded] {
            assert!(refused(&job_in(state), pause()), "{state}");
        }
        assert!(refused(&job_in(State::Completed), retry("t", false)));
    }

    #[test]
    fn a_tool_is_tried_again_as_often_as_it_may_be() {
        let mut job = job_in(State::Active);
        let mut spec = (*job.spec).clone();
        spec.extra = Json::from_trusted(
            r#"{"x_own":1.50,"ext_agent_v2":{"tool_retry":{"max_attempts":2,"alternate_provider":"other"}}}"#,
        );
        job.spec = std::sync::Arc::new(spec);
        let once = after(&job, retry("t", true));
        let granted = once.tool_retry("t").unwrap();
        assert_eq!(granted.provider.as_deref(), Some("other"));
        assert!(granted.is_granted() && once.phase == job.phase && once.tool_retry("u").is_none());
        assert_eq!(after(&once, retry("u", false)).tool_retry("u").unwrap().provider, None);
        let thrice = after(&after(&once, retry("t", true)), retry("t", true));
        assert_eq!(
            thrice.tool_retry("t").map(|retry| (retry.attempts, retry.is_granted())),
            Some((3, false))
        );
        assert!(thrice.spec.extra.as_str().contains(r#""x_own":1.50"#));
    }

    #[test]
    fn what_tools_report_is_bounded() {
        let mut job = job_in(State::Active);
        for call in 0..100 {
            let deed = AgentDeed::RetryTool {
                call: format!("{call}").into(),
                error: Some("e".repeat(999).into()),
                alternate: false,
            };
            match decide(&job, Event::Agent(deed), at(7), &rules()) {
                Ok(crate::Transition::To(next)) => job = next,
                other => {
                    assert!(
                        matches!(other, Err(Refusal::AgentFull { max: AGENT_BYTES_MAX, .. })),
                        "{other:?}"
                    );
                    return;
                }
            }
        }
        panic!("there was no end to it");
    }
}
