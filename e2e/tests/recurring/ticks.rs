//! The ticks that workers have seen.

use std::collections::BTreeMap;

use e2e::clock::{self, SOON};
use e2e::{Client, Delivery};

/// The job of each tick.
#[derive(Debug, Default)]
pub(crate) struct Ticks(BTreeMap<String, String>);

impl Ticks {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The ticks in their order.
    pub(crate) fn moments(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// Works off what is there.
    #[track_caller]
    pub(crate) fn collect(&mut self, client: &mut Client, name: &str) {
        for delivery in client.fetch(name, 100) {
            self.note(name, &delivery);
            client.ack(&delivery).is(200);
        }
    }

    /// Works off until so many more have come.
    #[track_caller]
    pub(crate) fn await_more(&mut self, client: &mut Client, name: &str, more: usize) {
        let target = self.len() + more;
        clock::until("the clock ticks", SOON, || {
            self.collect(client, name);
            self.len() >= target
        });
    }

    /// Works off until such a tick has come.
    #[track_caller]
    pub(crate) fn await_such(&mut self, client: &mut Client, name: &str, is_such: impl Fn(&str) -> bool) {
        clock::until("the clock ticks as it was set", SOON, || {
            self.collect(client, name);
            self.0.keys().any(|moment| is_such(moment))
        });
    }

    #[track_caller]
    pub(crate) fn note(&mut self, name: &str, delivery: &Delivery) {
        let meta = &delivery.job["meta"];
        assert_eq!(meta["cron_name"], name, "{}", delivery.job);
        let at = meta["cron_triggered_at"].as_str().unwrap_or_else(|| panic!("no tick: {}", delivery.job));
        assert_eq!(at.get(19..), Some(".000Z"), "no full second: {at}");
        assert_eq!(delivery.fence, 1, "a job came back: {}", delivery.job);
        let other = self.0.insert(at.to_owned(), delivery.id.clone());
        assert_eq!(other, None, "the tick {at} came twice: {}", delivery.job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    #[should_panic(expected = "came twice")]
    fn a_tick_that_comes_twice_is_found() {
        let job = json!({"meta": {"cron_name": "n", "cron_triggered_at": "2026-01-01T00:00:00.000Z"}});
        let delivery =
            |id: &str| Delivery { id: id.to_owned(), lease: String::new(), fence: 1, job: job.clone() };
        let mut ticks = Ticks::default();
        ticks.note("n", &delivery("a"));
        ticks.note("n", &delivery("b"));
    }
}
