//! Every way of being unique, with a handful of keys for each.

use e2e::{Job, Random, job};
use serde_json::{Value, json};

/// The keys of each strategy.
const KEYS: usize = 3;

/// The name of the strategy whose holders run one at a time.
pub(crate) const LATEST: &str = "queue_latest";

const STRATEGIES: [&str; 10] = [
    "reject",
    "ignore",
    "replace",
    "replace_except_schedule",
    "update",
    "debounce",
    LATEST,
    "job_key",
    "job_key_preserving",
    "job_key_unsafe",
];

/// One key of one strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    strategy: &'static str,
    number: usize,
}

impl Target {
    pub(crate) fn any(random: &mut Random) -> Target {
        Target { strategy: STRATEGIES[random.below(STRATEGIES.len())], number: random.below(KEYS) }
    }

    pub(crate) fn all_of(strategy: &'static str) -> impl Iterator<Item = Target> {
        (0..KEYS).map(move |number| Target { strategy, number })
    }

    /// A job for the key; `mark` tells it from others.
    pub(crate) fn job(self, mark: u64) -> Job {
        let name = format!("{}-{}", self.strategy, self.number);
        let job = job(&format!("crash.{}", self.strategy)).with("args", json!([[mark]]));
        let by_policy = |mut policy: Value| {
            policy["key"] = json!(name);
            job.clone().unique(policy)
        };
        let by_name = |mode: &str| job.clone().with("job_key", name.as_str()).with("job_key_mode", mode);
        match self.strategy {
            // A scheduled holder is what the strategy is about.
            "replace_except_schedule" => {
                by_policy(json!({"on_conflict": self.strategy})).with("scheduled_at", "+PT0.05S")
            }
            "update" => by_policy(json!({"replace": ["args", "priority"]})),
            "debounce" => by_policy(json!({"debounce": {"wait": "PT0.02S", "max_wait": "PT0.1S"}})),
            LATEST => by_policy(json!({"while_active": LATEST, "on_conflict": "ignore"})),
            "job_key" => by_name("replace"),
            "job_key_preserving" => by_name("preserve_run_at").with("scheduled_at", "+PT0.05S"),
            "job_key_unsafe" => by_name("unsafe_dedupe"),
            strategy => by_policy(json!({"on_conflict": strategy})),
        }
    }
}
