//! Schemas of arguments: registering them, looking at them, removing them.

use std::sync::Arc;

use hapax_core::Refusal;
use hapax_store::{EntryKey, Register};
use hapax_wire::error::Code;

use crate::call::Call;
use crate::from_wire;
use crate::limits::SCHEMAS_MAX;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::routes::jobs::reading;
use crate::schemas::{Catalogue, Schema};
use crate::to_wire::schema;

/// `POST /ojs/v1/schemas`: registers a schema.
pub(crate) async fn register(call: Call) -> Result<Reply, Problem> {
    let (body, now) = (call.body.bytes.clone(), call.broker().now());
    let made = reading::aside(&call, move || from_wire::schema(&from_wire::read(&body)?, now)).await?;
    keep(&call, &made).await?;
    Ok(schema::registered(&made))
}

/// `PUT /ojs/v1/admin/schemas/{type}/{version}`: registers a schema by the type and version alone.
pub(crate) async fn register_version(call: Call) -> Result<Reply, Problem> {
    let (body, now) = (call.body.bytes.clone(), call.broker().now());
    let (kind, version) = (call.parameter.clone(), call.second.clone());
    let read = move || from_wire::schema_at(&from_wire::read(&body)?, &kind, &version, now);
    let made = reading::aside(&call, read).await?;
    keep(&call, &made).await?;
    Ok(schema::registered_version(&made))
}

/// `GET /ojs/v1/schemas`: all of them, without the schemas themselves.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let (part, listing) = from_wire::named_or_counted(&call.uri)?;
    Ok(Reply::ok(schema::list(&*catalogue(&call).await?, &part, listing)))
}

/// `GET /ojs/v1/admin/schemas`: all of them, with the schemas themselves. Only the official admin UI asks for it, and takes no
/// second look at each.
pub(crate) async fn list_whole(call: Call) -> Result<Reply, Problem> {
    let (part, listing) = from_wire::named_or_counted(&call.uri)?;
    Ok(Reply::ok(schema::list_whole(&*catalogue(&call).await?, &part, listing)))
}

/// `GET /ojs/v1/schemas/{uri}`: one of them; with a type in place of the URI, the latest of the type.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let catalogue = catalogue(&call).await?;
    let found = if is_uri(&call.parameter) {
        catalogue.named(&call.parameter)
    } else {
        catalogue.of_kind(&call.parameter).first()
    };
    Ok(Reply::ok(schema::wrapped(found.ok_or_else(|| missing(&call))?)))
}

/// `GET /ojs/v1/admin/schemas/{type}`: the latest of a type.
pub(crate) async fn latest(call: Call) -> Result<Reply, Problem> {
    let catalogue = catalogue(&call).await?;
    let found = catalogue.of_kind(&call.parameter).first().ok_or_else(|| missing(&call))?;
    Ok(Reply::ok(schema::flat(found)))
}

/// `GET /ojs/v1/admin/schemas/{type}/versions`: all of a type, latest first.
pub(crate) async fn versions(call: Call) -> Result<Reply, Problem> {
    let catalogue = catalogue(&call).await?;
    match catalogue.of_kind(&call.parameter) {
        [] => Err(missing(&call)),
        found => Ok(Reply::ok(schema::versions(&call.parameter, found))),
    }
}

/// `GET /ojs/v1/admin/schemas/{type}/{version}`: one of a type.
pub(crate) async fn show_version(call: Call) -> Result<Reply, Problem> {
    let catalogue = catalogue(&call).await?;
    let found = catalogue.of_version(&call.parameter, &call.second);
    Ok(Reply::ok(schema::flat(found.ok_or_else(|| missing(&call))?)))
}

/// `DELETE /ojs/v1/schemas/{uri}`: removes a schema. Stored jobs stay as they are.
pub(crate) async fn remove(call: Call) -> Result<Reply, Problem> {
    let catalogue = catalogue(&call).await?;
    discard(&call, catalogue.named(&call.parameter)).await
}

/// `DELETE /ojs/v1/admin/schemas/{type}/{version}`: the same by type and version.
pub(crate) async fn remove_version(call: Call) -> Result<Reply, Problem> {
    let catalogue = catalogue(&call).await?;
    discard(&call, catalogue.of_version(&call.parameter, &call.second)).await
}

async fn catalogue(call: &Call) -> Result<Arc<Catalogue>, Problem> {
    Ok(call.shared.schemas.reread(call.broker()).await?)
}

/// A name in the path is a URI if it can be no type.
fn is_uri(name: &str) -> bool {
    name.contains(':')
}

/// Stores a schema. What decides is that its name is free, and the store sees to that; that its type has no such version
/// under another name is looked up before.
async fn keep(call: &Call, made: &Schema) -> Result<(), Problem> {
    let catalogue = catalogue(call).await?;
    let version = made.version_text();
    if catalogue.of_version(made.kind.as_str(), &version).is_some() {
        let name = format!("{}@{version}", made.kind.as_str());
        return Err(Refusal::EntryTaken { register: Register::Schema.name(), name: name.into() }.into());
    }
    if catalogue.len() >= SCHEMAS_MAX {
        let message = format!("there are {SCHEMAS_MAX} schemas, and no more are taken");
        let hint = "Remove schemas of versions that nobody sends.";
        return Err(Problem { hint: Some(hint), ..Problem::new(Code::Conflict, message) });
    }
    let made = call.broker().make_entry(key(&made.uri), made.written().into()).await;
    call.shared.schemas.reread(call.broker()).await?;
    Ok(made?)
}

async fn discard(call: &Call, found: Option<&Arc<Schema>>) -> Result<Reply, Problem> {
    let found = found.ok_or_else(|| missing(call))?;
    let removed = call.broker().remove_entry(key(&found.uri)).await;
    call.shared.schemas.reread(call.broker()).await?;
    removed?;
    Ok(Reply::ok(schema::removed(found)))
}

fn key(uri: &str) -> EntryKey {
    EntryKey::new(Register::Schema, uri)
}

fn missing(call: &Call) -> Problem {
    match &*call.second {
        "" => Problem::no_resource("schema", &call.parameter),
        version => Problem::no_resource("schema", &format!("{}@{version}", call.parameter)),
    }
}
