//! Jobs that are agents: stopped for a person, let on, branched, their tools tried again.

use hapax_core::unique::Key;
use hapax_core::{AGENT_MEMBER, AgentDeed, Event, Job, JobId, Json, Spec, Unsaid};

use crate::{Broker, Draft, Error, Receipt, answer};

/// Where an agent branches off.
#[derive(Debug, Clone)]
pub struct Fork {
    /// After so many turns.
    pub at_turn: u64,
    /// What the branch is called.
    pub name: Option<Box<str>>,
}

/// A branch.
#[derive(Debug, Clone)]
pub struct Branch {
    /// The job that goes on from there.
    pub job: Job,
    /// What it starts with, as one number: branches that start with the same have the same.
    pub content: Key,
}

impl Broker {
    /// Does something to the agent that a job is.
    pub async fn agent(&self, id: JobId, deed: AgentDeed) -> Result<Job, Error> {
        self.step(id, Event::Agent(deed)).await
    }

    /// Accepts a job that goes on from where another is. It belongs to no workflow and holds no key: those are the other's.
    pub async fn fork(&self, id: JobId, fork: Fork, request: &str) -> Result<Branch, Error> {
        let of = self.job(id).await?;
        let turn = Json::from_trusted(&fork.at_turn.to_string());
        let name = fork.name.as_deref().map_or_else(Json::null, Json::string);
        let branch = Json::empty_object()
            .with_member("of", &Json::string(&id.to_string()))
            .with_member("at_turn", &turn)
            .with_member("name", &name);
        let agent = of.agent().with_member("branch", &branch);
        let text = [of.spec.kind.as_str(), of.spec.args.as_str(), turn.as_str()].join("\n");
        let state = of.checkpoint.as_ref().map_or("", |checkpoint| checkpoint.state.as_str());
        let spec = Spec {
            extra: of.spec.extra.with_member(AGENT_MEMBER, &agent),
            unique: None,
            workflow: None,
            scheduled_at: None,
            ..(*of.spec).clone()
        };
        let draft =
            Draft { id: None, spec: Box::new(spec), key: None, pending: false, unsaid: Unsaid::default() };
        match self.enqueue(draft, request, None).await? {
            Receipt::Fresh(admission) => {
                Ok(Branch { job: admission.job, content: Key::of_text(&format!("{text}\n{state}")) })
            }
            Receipt::Remembered(_) => Err(answer::another_question()),
        }
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::State;

    use super::*;
    use crate::testing::{draft, rig};

    fn fork(at_turn: u64) -> Fork {
        Fork { at_turn, name: Some("b".into()) }
    }

    #[tokio::test(start_paused = true)]
    async fn a_branch_is_a_job_of_its_own_that_says_where_it_comes_from() {
        let rig = rig();
        let of = rig.enqueue(draft()).await;
        let branch = rig.broker.fork(of.id, fork(2), "r").await.unwrap();
        assert!(branch.job.id != of.id && branch.job.state() == State::Available);
        let says = format!(r#""branch":{{"of":"{}","at_turn":2,"name":"b"}}"#, of.id);
        assert!(branch.job.spec.extra.as_str().contains(&says), "{}", branch.job.spec.extra.as_str());
        let again = rig.broker.fork(of.id, fork(2), "r").await.unwrap();
        assert!(again.job.id != branch.job.id && again.content == branch.content);
        assert_ne!(rig.broker.fork(of.id, fork(3), "r").await.unwrap().content, branch.content);
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_agent_is_not_handed_out() {
        let rig = rig();
        let job = rig.enqueue(draft()).await;
        rig.broker.agent(job.id, AgentDeed::Pause { reason: None }).await.unwrap();
        assert!(rig.take("default").await.is_none());
        rig.broker
            .agent(job.id, AgentDeed::Resume { approved: true, comment: None, metadata: None })
            .await
            .unwrap();
        assert_eq!(rig.take("default").await.unwrap().id, job.id);
    }
}
