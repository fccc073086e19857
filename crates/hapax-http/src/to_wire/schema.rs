//! Registered schemas.

use std::sync::Arc;

use axum::http::StatusCode;
use hapax_broker::EntryPart;
use hapax_wire::writer::{self, Object};

use super::pagination;
use crate::from_wire::Listing;
use crate::limits::PAGE_BYTES_MAX;
use crate::reply::Reply;
use crate::schemas::{Catalogue, Mode, Schema};

/// A schema that was registered, as the HTTP binding shows it.
pub(crate) fn registered(schema: &Schema) -> Reply {
    Reply::json(StatusCode::CREATED, wrapped(schema))
}

/// The same, as the suite reads it at paths of operators.
pub(crate) fn registered_version(schema: &Schema) -> Reply {
    Reply::json(StatusCode::CREATED, flat(schema))
}

/// A schema under `schema`, with its facts beside it for those who look there.
pub(crate) fn wrapped(schema: &Schema) -> Vec<u8> {
    written(schema, |o| {
        o.object("schema", |o| {
            facts(o, schema);
            o.raw("schema", schema.document.as_str());
        });
        facts(o, schema);
    })
}

/// A schema whose document stands under `schema`.
pub(crate) fn flat(schema: &Schema) -> Vec<u8> {
    written(schema, |o| {
        facts_as_sent(o, schema);
        o.raw("schema", schema.document.as_str());
    })
}

/// A schema that was removed.
pub(crate) fn removed(schema: &Schema) -> Vec<u8> {
    written(schema, |o| {
        o.flag("deleted", true);
        facts_as_sent(o, schema);
    })
}

/// Part of all schemas, by name.
pub(crate) fn list(catalogue: &Catalogue, part: &EntryPart, listing: Listing) -> Vec<u8> {
    page(catalogue, part, listing, facts)
}

/// The same with the schemas themselves, as long as the answer does not grow too large for them.
pub(crate) fn list_whole(catalogue: &Catalogue, part: &EntryPart, listing: Listing) -> Vec<u8> {
    let mut left = PAGE_BYTES_MAX;
    page(catalogue, part, listing, |o, schema| {
        facts(o, schema);
        let document = schema.document.as_str();
        if let Some(rest) = left.checked_sub(document.len()) {
            left = rest;
            o.raw("schema", document);
        }
    })
}

fn page(
    catalogue: &Catalogue,
    part: &EntryPart,
    listing: Listing,
    mut write: impl FnMut(&mut Object<'_>, &Schema),
) -> Vec<u8> {
    let is_behind = |schema: &&Arc<Schema>| part.after.as_deref().is_none_or(|after| *schema.uri > *after);
    let mut shown: Vec<_> =
        catalogue.all().filter(is_behind).skip(part.skipped).take(part.limit + 1).collect();
    let has_more = shown.len() > part.limit;
    shown.truncate(part.limit);
    let next = shown.last().filter(|_| has_more).map(|schema| &*schema.uri);
    let mut out = Vec::new();
    writer::object(&mut out, |o| {
        o.array("schemas", &shown, |schema, out| writer::object(out, |o| write(o, schema)));
        pagination::listed(o, listing, Some(catalogue.len() as u64), next);
    });
    out
}

/// The versions of a type, latest first.
pub(crate) fn versions(kind: &str, schemas: &[Arc<Schema>]) -> Vec<u8> {
    let mut out = Vec::new();
    writer::object(&mut out, |o| {
        o.text("type", kind);
        o.array("versions", schemas.iter().enumerate(), |(index, schema), out| {
            writer::object(out, |o| {
                facts_as_sent(o, schema);
                o.flag("is_latest", index == 0);
            });
        });
        o.number("count", schemas.len());
    });
    out
}

fn written(schema: &Schema, fill: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(schema.document.as_str().len() + 512);
    writer::object(&mut out, fill);
    out
}

/// With the version as text, as the SDKs read it: one number among them, and they could not read the list.
fn facts(o: &mut Object<'_>, schema: &Schema) {
    all_facts(o, schema, |o| o.text("version", &schema.version_text()));
}

/// With the version as it was sent, as the suite reads it at paths of operators.
fn facts_as_sent(o: &mut Object<'_>, schema: &Schema) {
    all_facts(o, schema, |o| o.raw("version", schema.version.as_str()));
}

fn all_facts(o: &mut Object<'_>, schema: &Schema, version: impl FnOnce(&mut Object<'_>)) {
    o.text("uri", &schema.uri);
    o.text("type", schema.kind.as_str());
    o.text("job_type", schema.kind.as_str());
    version(o);
    o.text_if("mode", schema.mode.map(Mode::name));
    o.moment("created_at", schema.created_at);
}
