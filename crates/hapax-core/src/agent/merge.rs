//! Two branches of an agent that become one again.

use crate::canonical;
use crate::json::{Limits, Member, Node, read};
use crate::{Job, JobId, Json};

/// Which branch is believed where two contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeStrategy {
    /// The agent goes on with what the first has left.
    Ours,
    /// The agent goes on with what the second has left.
    Theirs,
    /// The agent goes on with the members of both; where both have one, with that of the first.
    Union,
}

impl MergeStrategy {
    /// All of them.
    pub const ALL: [MergeStrategy; 3] = [MergeStrategy::Ours, MergeStrategy::Theirs, MergeStrategy::Union];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            MergeStrategy::Ours => "ours",
            MergeStrategy::Theirs => "theirs",
            MergeStrategy::Union => "union",
        }
    }
}

/// What two branches come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// What the agent goes on with.
    pub state: Json,
    /// Where they contradict each other, whatever the strategy: JSON pointers into what they have left.
    pub conflicts: Vec<String>,
}

impl Merged {
    /// Puts together what two branches have left in their checkpoints; one that has none has left an empty object.
    pub fn of(ours: &Job, theirs: &Job, strategy: MergeStrategy) -> Merged {
        merge(&left_by(ours), &left_by(theirs), strategy)
    }

    /// What the merged job says of it.
    pub fn to_json(&self, ours: JobId, theirs: JobId, strategy: MergeStrategy) -> Json {
        let list = |texts: &mut dyn Iterator<Item = Json>| {
            let texts: Vec<String> = texts.map(|text| text.as_str().to_owned()).collect();
            Json::from_trusted(&format!("[{}]", texts.join(",")))
        };
        let branches = list(&mut [ours, theirs].iter().map(|id| Json::string(&id.to_string())));
        Json::empty_object()
            .with_member("branches", &branches)
            .with_member("strategy", &Json::string(strategy.name()))
            .with_member("conflicts", &list(&mut self.conflicts.iter().map(|place| Json::string(place))))
            .with_member("state", &self.state)
    }
}

fn left_by(branch: &Job) -> Json {
    branch.checkpoint.as_ref().map_or_else(Json::empty_object, |checkpoint| checkpoint.state.clone())
}

fn merge(ours: &Json, theirs: &Json, strategy: MergeStrategy) -> Merged {
    let (a, b) = (read(ours.as_str(), Limits::STORED).ok(), read(theirs.as_str(), Limits::STORED).ok());
    let (whole, mine, yours) = match (&a, &b) {
        (Some(a), Some(b)) => (!is_same(a, b), a.as_object(), b.as_object()),
        (_, _) => (ours != theirs, None, None),
    };
    let state = match (strategy, mine, yours) {
        (MergeStrategy::Union, Some(mine), Some(yours)) => union(mine, yours),
        (MergeStrategy::Theirs, ..) => theirs.clone(),
        (MergeStrategy::Ours | MergeStrategy::Union, ..) => ours.clone(),
    };
    let conflicts = match (mine, yours) {
        (Some(mine), Some(yours)) => contradictions(mine, yours),
        // The empty pointer is the whole.
        (_, _) if whole => vec![String::new()],
        (_, _) => Vec::new(),
    };
    Merged { state, conflicts }
}

fn union(mine: &[Member<'_>], yours: &[Member<'_>]) -> Json {
    let mut members: Vec<&Member<'_>> = mine.iter().collect();
    members.extend(yours.iter().filter(|member| named(mine, member).is_none()));
    let written =
        |member: &&Member<'_>| format!("{}:{}", Json::string(&member.name).as_str(), member.node.raw);
    let members: Vec<String> = members.iter().map(written).collect();
    Json::from_trusted(&format!("{{{}}}", members.join(",")))
}

fn contradictions(mine: &[Member<'_>], yours: &[Member<'_>]) -> Vec<String> {
    let both = mine.iter().filter_map(|member| Some((member, named(yours, member)?)));
    let differing = both.filter(|(member, other)| !is_same(&member.node, other));
    differing.map(|(member, _)| format!("/{}", member.name.replace('~', "~0").replace('/', "~1"))).collect()
}

fn named<'m, 'a>(members: &'m [Member<'a>], like: &Member<'_>) -> Option<&'m Node<'a>> {
    members.iter().find(|member| member.name == like.name).map(|member| &member.node)
}

/// Whether two values mean the same, however they are written. What has no canonical text is compared as it stands.
fn is_same(a: &Node<'_>, b: &Node<'_>) -> bool {
    let canonical = |node| {
        let mut text = String::new();
        canonical::write(node, &mut text).is_ok().then_some(text)
    };
    a.raw == b.raw || canonical(a).zip(canonical(b)).is_some_and(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ours: &str, theirs: &str, strategy: MergeStrategy, state: &str, conflicts: &[&str]) {
        let merged = merge(&Json::from_trusted(ours), &Json::from_trusted(theirs), strategy);
        assert_eq!(
            (merged.state.as_str(), merged.conflicts),
            (state, conflicts.iter().map(|&c| c.into()).collect())
        );
    }

    #[test]
    fn a_strategy_says_which_branch_is_believed() {
        let (a, b) = (r#"{"budget":40,"notes":["x"]}"#, r#"{"budget":50,"route":"by boat"}"#);
        check(a, b, MergeStrategy::Ours, a, &["/budget"]);
        check(a, b, MergeStrategy::Theirs, b, &["/budget"]);
        let union = r#"{"budget":40,"notes":["x"],"route":"by boat"}"#;
        check(a, b, MergeStrategy::Union, union, &["/budget"]);
    }

    #[test]
    fn what_means_the_same_is_no_contradiction() {
        let (a, b) = (r#"{"n":1.0,"o":{"a":1,"b":2}}"#, r#"{"o":{"b":2, "a":1e0},"n":1}"#);
        check(a, b, MergeStrategy::Union, a, &[]);
        check(a, a, MergeStrategy::Theirs, a, &[]);
        check(r#"{"n":1e999}"#, r#"{"n":2e999}"#, MergeStrategy::Ours, r#"{"n":1e999}"#, &["/n"]);
    }

    #[test]
    fn what_is_no_object_contradicts_as_a_whole() {
        check("[1]", "[2]", MergeStrategy::Union, "[1]", &[""]);
        check("[1]", r#"{"a":1}"#, MergeStrategy::Theirs, r#"{"a":1}"#, &[""]);
        check("[1,2]", "[1, 2]", MergeStrategy::Union, "[1,2]", &[]);
    }

    #[test]
    fn names_are_written_as_pointers_and_as_they_were() {
        let (a, b) = (r#"{"a/b":1,"~":1,"\u0000":1}"#, r#"{"a/b":2,"~":2,"é\"":3}"#);
        check(a, b, MergeStrategy::Union, r#"{"a/b":1,"~":1,"\u0000":1,"é\"":3}"#, &["/a~1b", "/~0"]);
    }
}
