//! What events about workers say.

use hapax_broker::WorkerFact;
use hapax_core::QueueName;
use hapax_wire::writer::Object;

/// The members of `data` (Events 4.3), as far as the worker said them.
pub(super) fn data(o: &mut Object<'_>, fact: &WorkerFact) {
    match fact {
        WorkerFact::Started { queues, concurrency } => {
            queue_names(o, queues.as_deref());
            o.number_if("concurrency", *concurrency);
        }
        WorkerFact::Stopped { wound_down, uptime } => {
            o.text("reason", if *wound_down { "shutdown" } else { "error" });
            o.number("uptime_ms", uptime.as_millis());
        }
        WorkerFact::Quiet { active_jobs } => o.number_if("active_jobs", *active_jobs),
        WorkerFact::Heartbeat { active_jobs, queues } => {
            o.number_if("active_jobs", *active_jobs);
            queue_names(o, queues.as_deref());
        }
    }
}

fn queue_names(o: &mut Object<'_>, queues: Option<&[QueueName]>) {
    if let Some(queues) = queues {
        o.texts("queues", queues.iter().map(QueueName::as_str));
    }
}
