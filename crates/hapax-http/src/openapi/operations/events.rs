//! Events.

use hapax_broker::EVENTS_KEPT;
use hapax_wire::error::Code;

use crate::from_wire::bounds::EVENTS_DEFAULT;
use crate::openapi::operation::{Operation, get};
use crate::openapi::parameter::{cursor, event_filter, last_event, limit, per_page, query, query_list};
use crate::openapi::shape::{count, either, integer, moment, named, span, text};

/// The media type of streams.
const STREAM: &str = "text/event-stream";

pub(super) fn operations() -> Vec<Operation> {
    let kept =
        format!("The newest {EVENTS_KEPT} events are kept. Each has an id, from which a stream can go on.");
    vec![
        get("/ojs/v1/events", "List what has happened")
            .with(event_filter())
            .with([
                query_list("type", "The same as `types`.", named("EventKind")),
                query("since", "Not older than this time, or than so long ago.", either([moment(), span()])),
                query("after", "`cursor` of the answer before.", text()),
                query("page", "Which page, counted from the newest event.", integer().least(1)),
                query("offset", "How many to leave out, in place of a `page` beyond the first.", count()),
                per_page(),
                limit(EVENTS_DEFAULT),
                cursor(),
            ])
            .gives(200, "Events: the oldest first, and with `page` the newest.", "Events"),
        get("/ojs/v1/events/stream", "Be told what happens, as it happens")
            .details(kept)
            .with(event_filter())
            .with(last_event())
            .with([query("channel", "`all`, `job:{id}` or `queue:{name}`.", text().default("\"all\""))])
            .gives_text(200, "Server-sent events, without end.", STREAM)
            .gives_nothing(204, "There is nothing more to tell.")
            .fails([Code::NotFound, Code::BackendUnavailable]),
        get("/ojs/v1/jobs/{id}/events", "Be told what happens to a job, to its end")
            .with(event_filter())
            .with(last_event())
            .gives_text(200, "Server-sent events.", STREAM)
            .gives_nothing(204, "The job has ended, and the client knows it.")
            .fails([Code::NotFound, Code::BackendUnavailable]),
        get("/ojs/v1/jobs/{id}/progress/stream", "Watch how far a job comes, to its end")
            .details(
                "`progress` says what `GET /ojs/v1/jobs/{id}/progress` says, first where it stands and then whenever that \
                 changes; the last event is `completed`, `failed` or `cancelled`.",
            )
            .gives_text(200, "Server-sent events.", STREAM)
            .gives_nothing(204, "The job has ended, and the client knows it.")
            .fails([Code::NotFound, Code::BackendUnavailable]),
        get("/ojs/v1/jobs/{id}/result/stream", "Watch a job until there is a result")
            .details("`progress` as above, when its worker reports some; the last event is `result` or `error`.")
            .gives_text(200, "Server-sent events.", STREAM)
            .gives_nothing(204, "The job has ended, and the client knows it.")
            .fails([Code::NotFound, Code::BackendUnavailable]),
        get("/ojs/v1/queues/{name}/events", "Be told what happens in a queue")
            .with(event_filter())
            .with(last_event())
            .gives_text(200, "Server-sent events, without end.", STREAM)
            .fails([Code::NotFound, Code::BackendUnavailable]),
        get("/ojs/v1/admin/stats/stream", "Be told figures again and again, and what happens to jobs")
            .details(
                "`metrics` every few seconds; `job.enqueued`, `job.completed`, `job.failed` and `job.cancelled` as they happen. \
                 It is for the official admin UI.",
            )
            .with(last_event())
            .gives_text(200, "Server-sent events, without end.", STREAM)
            .fails([Code::BackendUnavailable]),
        get("/ojs/v1/ws", "Open a WebSocket, and say there what to hear")
            .details("Subprotocol `ojs.v1`, over HTTP/1.1. Send `{\"action\":\"subscribe\",\"channel\":\"queue:mail\"}`.")
            .gives_nothing(101, "The connection goes on as a WebSocket.")
            .fails([Code::InvalidRequest, Code::Forbidden, Code::BackendUnavailable]),
    ]
}
