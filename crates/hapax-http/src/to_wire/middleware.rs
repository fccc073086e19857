//! What a job passes on its way in and out of this server, in order, for the official admin UI. Its word for each is a
//! middleware.

use hapax_wire::writer;

use crate::shared::Shared;
use crate::{Entrance, RefuseRule};

/// A station that every job passes: its name, and what it does.
type Station = (&'static str, String);

/// The stations of an enqueue and of a fetch. Values of metadata that a rule compares stay untold: they may be secrets.
pub(crate) fn stations(shared: &Shared, schemas: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(4096);
    writer::object(&mut out, |o| {
        o.array("enqueue", numbered(on_the_way_in(shared, schemas)), |one, out| write(out, "enqueue", one));
        o.array("execution", numbered(on_the_way_out()), |one, out| write(out, "execution", one));
    });
    out
}

fn on_the_way_in(shared: &Shared, schemas: usize) -> Vec<Station> {
    let Entrance { require_tenant, refuse } = &*shared.entrance;
    let mut stations: Vec<Station> = Vec::new();
    if shared.auth.wants_keys() {
        stations.push(("api_key", "refuses requests without a key of the server".into()));
    }
    let tenant = if *require_tenant { "every job has to say one" } else { "for jobs that have one" };
    stations.push(("tenant", format!("adds the header X-OJS-Tenant to meta as tenant_id; {tenant}")));
    stations.push(("envelope", "refuses what is malformed, and names the place".into()));
    stations.extend(refuse.iter().map(|rule| ("refuse", refusal(rule))));
    stations.push((
        "schemas",
        format!("holds arguments to registered schemas by type and version; there are {schemas}"),
    ));
    stations.push(("maintenance", "refuses new jobs while there is maintenance".into()));
    stations.push(("idempotency", "answers a repeated Idempotency-Key as before".into()));
    stations.push((
        "queue_settings",
        "adds the defaults of the queue; refuses types that it does not take".into(),
    ));
    stations.push(("uniqueness", "decides about duplicates and job keys, in one step with storing".into()));
    stations.push(("room", "refuses, drops or waits if too many jobs of the queue wait".into()));
    stations
}

fn on_the_way_out() -> Vec<Station> {
    let stations = [
        ("pool", "puts the queues in order, if the fetch names a pool"),
        ("maintenance", "gives nothing while there is maintenance"),
        ("worker", "gives nothing to workers that are told to wind down, or do"),
        ("pause", "passes over paused queues"),
        ("priority", "takes the highest priority first, then the job that waits longest"),
        ("tenant", "passes over jobs of other tenants, if the request says one"),
        ("ordering", "starts one job of an ordering_key at a time, in order"),
        ("rate_limits", "passes over jobs for which their limits or those of the queue leave no room"),
        ("lease", "lends the job under a deadline and a fence"),
    ];
    stations.into_iter().map(|(name, does)| (name, does.to_owned())).collect()
}

fn refusal(rule: &RefuseRule) -> String {
    let RefuseRule { kind, meta, message } = rule;
    let kind = kind.as_deref().map_or("jobs of every type".to_owned(), |kind| format!("jobs of type {kind}"));
    let names: Vec<&str> = meta.iter().map(|(name, _)| &**name).collect();
    let marked = if names.is_empty() {
        String::new()
    } else {
        format!(" with a certain meta.{}", names.join(", meta."))
    };
    format!("refuses {kind}{marked}: {message}")
}

fn numbered(stations: Vec<Station>) -> impl Iterator<Item = (usize, Station)> {
    (1..).zip(stations)
}

fn write(out: &mut Vec<u8>, phase: &str, (order, (name, does)): (usize, Station)) {
    writer::object(out, |o| {
        o.text("name", name);
        o.text("phase", phase);
        o.number("order", order);
        o.text("description", &does);
    });
}
