//! How the state of a subscription's deliveries is written down.

use hapax_core::Timestamp;
use hapax_core::webhook::Circuit;
use serde::{Deserialize, Serialize};

use super::{Unreadable, json};

/// How the deliveries of a subscription go, and who makes them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Courier {
    /// How the last attempts went.
    pub circuit: Circuit,
    /// How many deliveries were thrown away because too many waited.
    pub dropped: u64,
    /// The newest attempt, and the status that the endpoint answered with, if it did.
    pub last: Option<(Timestamp, Option<u16>)>,
    /// Which server sends, by the mark that it drew at its start, and until when.
    pub sender: Option<(u32, Timestamp)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    failures: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    probe_at: Option<i64>,
    dropped: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<(i64, Option<u16>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sender: Option<(u32, i64)>,
}

/// The text.
pub fn write(courier: &Courier) -> String {
    let Courier { circuit: Circuit { failures, probe_at }, dropped, last, sender } = courier;
    json(&Record {
        failures: *failures,
        probe_at: probe_at.map(Timestamp::millis),
        dropped: *dropped,
        last: last.map(|(at, status)| (at.millis(), status)),
        sender: sender.map(|(mark, until)| (mark, until.millis())),
    })
}

/// What the text tells.
pub fn read(text: &str) -> Result<Courier, Unreadable> {
    let Record { failures, probe_at, dropped, last, sender } = serde_json::from_str(text)?;
    let circuit = Circuit { failures, probe_at: probe_at.map(Timestamp::from_millis) };
    Ok(Courier {
        circuit,
        dropped,
        last: last.map(|(at, status)| (Timestamp::from_millis(at), status)),
        sender: sender.map(|(mark, until)| (mark, Timestamp::from_millis(until))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_as_it_was() {
        let at = Timestamp::from_millis(9);
        let circuit = Circuit { failures: 7, probe_at: Some(at) };
        let busy = Courier { circuit, dropped: 3, last: Some((at, Some(503))), sender: Some((4, at)) };
        for courier in [Courier::default(), Courier { last: Some((at, None)), ..busy.clone() }, busy] {
            assert_eq!(read(&write(&courier)).unwrap(), courier);
        }
    }
}
