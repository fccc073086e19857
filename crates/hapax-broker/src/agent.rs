//! Jobs that are agents: stopped for a person, let on, branched, their tools tried again.

use hapax_core::unique::Key;
use hapax_core::{
    AgentDeed, Event, Job, JobId, Json, MergeStrategy, Merged, Refusal, Spec, TenantId, Unsaid,
};

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

/// Which branches become one again.
#[derive(Debug, Clone, Copy)]
pub struct Merge {
    /// The one.
    pub ours: JobId,
    /// The other.
    pub theirs: JobId,
    /// Which of them is believed.
    pub strategy: MergeStrategy,
}

/// Where branches have become one.
#[derive(Debug, Clone)]
pub struct Junction {
    /// The job that goes on from there.
    pub job: Job,
    /// Where the branches contradict each other.
    pub conflicts: Vec<String>,
}

impl Broker {
    /// Does something to the agent that a job is.
    pub async fn agent(&self, id: JobId, deed: AgentDeed) -> Result<Job, Error> {
        self.step(id, Event::Agent(deed)).await
    }

    /// Accepts a job that goes on from where another is.
    pub async fn fork(&self, id: JobId, fork: Fork, request: &str) -> Result<Branch, Error> {
        let of = self.job(id).await?.with_agent_on();
        let turn = Json::from_trusted(&fork.at_turn.to_string());
        let name = fork.name.as_deref().map_or_else(Json::null, Json::string);
        let branch = Json::empty_object()
            .with_member("of", &Json::string(&id.to_string()))
            .with_member("at_turn", &turn)
            .with_member("name", &name);
        let extra = of.with_agent_facts(&[("branch", branch)])?;
        let text = [of.spec.kind.as_str(), of.spec.args.as_str(), turn.as_str()].join("\n");
        let state = of.checkpoint.as_ref().map_or("", |checkpoint| checkpoint.state.as_str());
        let content = Key::of_text(&format!("{text}\n{state}"));
        Ok(Branch { job: self.go_on(&of, extra, request).await?, content })
    }

    /// Accepts a job that goes on from where two branches of an agent are; one of them may be the agent itself. The
    /// branches are left as they are.
    pub async fn merge(&self, id: JobId, merge: Merge, request: &str) -> Result<Junction, Error> {
        let Merge { ours, theirs, strategy } = merge;
        let of = self.job(id).await?.with_agent_on();
        let (a, b) = (self.branch(ours, &of).await?, self.branch(theirs, &of).await?);
        let merged = Merged::of(&a, &b, strategy);
        let branch = Json::empty_object().with_member("of", &Json::string(&id.to_string()));
        let merge = merged.to_json(ours, theirs, strategy);
        let extra = of.with_agent_facts(&[("branch", branch), ("merge", merge)])?;
        let job = self.go_on(&of, extra, request).await?;
        Ok(Junction { job, conflicts: merged.conflicts })
    }

    async fn branch(&self, id: JobId, of: &Job) -> Result<Job, Error> {
        let job = self.job(id).await?;
        // Anybody may say of a job of theirs that it is a branch of something.
        if TenantId::of(&job.spec.meta) != TenantId::of(&of.spec.meta) {
            return Err(Refusal::NotFound(id).into());
        }
        if id == of.id || job.branch_of() == Some(of.id) {
            return Ok(job);
        }
        Err(Refusal::NoBranch { id, of: of.id }.into())
    }

    /// Accepts a job like another. It belongs to no workflow and holds no key: those are the other's.
    async fn go_on(&self, of: &Job, extra: Json, request: &str) -> Result<Job, Error> {
        let spec = Spec { extra, unique: None, workflow: None, scheduled_at: None, ..(*of.spec).clone() };
        let draft =
            Draft { id: None, spec: Box::new(spec), key: None, pending: false, unsaid: Unsaid::default() };
        match self.enqueue(draft, request, None).await? {
            Receipt::Fresh(admission) => Ok(admission.job),
            Receipt::Remembered(_) => Err(answer::another_question()),
        }
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::{Claimant, State};

    use super::*;
    use crate::testing::{Rig, draft, rig};

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
    async fn a_branch_of_a_paused_agent_is_not_paused() {
        let rig = rig();
        let of = rig.enqueue(draft()).await;
        rig.broker.agent(of.id, AgentDeed::Pause { reason: None }).await.unwrap();
        let branch = rig.broker.fork(of.id, fork(1), "r").await.unwrap().job;
        assert_eq!(branch.state(), State::Available);
        assert!(branch.agent().as_str().contains(r#""state":"running""#), "{}", branch.agent());
    }

    fn union(ours: JobId, theirs: JobId) -> Merge {
        Merge { ours, theirs, strategy: MergeStrategy::Union }
    }

    async fn save(rig: &Rig, job: &Job, state: &str) {
        let (state, notes) = (Json::from_trusted(state), Json::empty_object());
        rig.broker.save_checkpoint(job.id, Claimant::default(), state, notes).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn branches_become_one_again_and_say_where_they_contradict_each_other() {
        let rig = rig();
        let of = rig.enqueue(draft()).await;
        let branch = rig.broker.fork(of.id, fork(2), "r").await.unwrap().job;
        for state in [r#"{"a":1,"b":1}"#, r#"{"b":2,"c":3}"#] {
            let job = rig.take("default").await.unwrap();
            save(&rig, &job, state).await;
        }
        let both = rig.broker.merge(of.id, union(of.id, branch.id), "r").await.unwrap();
        assert_eq!(both.conflicts, ["/b"]);
        assert!(both.job.id != of.id && both.job.id != branch.id && both.job.state() == State::Available);
        let says = format!(
            r#""merge":{{"branches":["{}","{}"],"strategy":"union","conflicts":["/b"],"state":{{"a":1,"b":1,"c":3}}}}"#,
            of.id, branch.id
        );
        assert!(both.job.agent().as_str().contains(&says), "{}", both.job.agent());
        let again = rig.broker.merge(of.id, union(both.job.id, branch.id), "r").await;
        assert!(again.is_ok(), "what was merged is a branch as well");
    }

    #[tokio::test(start_paused = true)]
    async fn only_branches_of_one_agent_become_one_again() {
        let rig = rig();
        let (of, other) = (rig.enqueue(draft()).await, rig.enqueue(draft()).await);
        let branch = rig.broker.fork(other.id, fork(2), "r").await.unwrap().job;
        for stranger in [other.id, branch.id] {
            let refused = rig.broker.merge(of.id, union(of.id, stranger), "r").await;
            let expected = Refusal::NoBranch { id: stranger, of: of.id };
            assert!(matches!(refused, Err(Error::Refused(refusal)) if refusal == expected));
        }
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
