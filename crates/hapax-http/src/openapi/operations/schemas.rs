//! Schemas of arguments.

use axum::http::Method;
use hapax_wire::error::Code;

use crate::from_wire::bounds::ENTRY_OFFSET_MAX;
use crate::openapi::operation::{Operation, delete, get, post, put};
use crate::openapi::parameter::{counted, cursor};
use crate::openapi::shape::named;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/ojs/v1/schemas", "List schemas by name")
            .with(counted(ENTRY_OFFSET_MAX))
            .with([cursor()])
            .gives(200, "A page of schemas, without the schemas themselves.", "Schemas"),
        get("/ojs/v1/admin/schemas", "List schemas with the schemas themselves")
            .with(counted(ENTRY_OFFSET_MAX))
            .with([cursor()])
            .gives(200, "A page of schemas.", "WholeSchemas"),
        post("/ojs/v1/schemas", "Register a schema")
            .takes(named("SchemaWish"))
            .gives(201, "It is registered.", "ShownSchema")
            .fails([Code::Duplicate, Code::Conflict]),
        put("/ojs/v1/admin/schemas/{name}/{version}", "Register a schema by type and version")
            .takes(named("SchemaVersionWish"))
            .gives(201, "It is registered.", "Schema")
            .fails([Code::Duplicate, Code::Conflict]),
        get("/ojs/v1/schemas/{name}", "Look at a schema, or at the latest of a type")
            .gives(200, "The schema.", "ShownSchema")
            .fails([Code::NotFound]),
        get("/ojs/v1/admin/schemas/{name}", "Look at the latest schema of a type")
            .gives(200, "The schema.", "Schema")
            .fails([Code::NotFound]),
        get("/ojs/v1/schemas/{name}/versions", "List the schemas of a type, latest first")
            .also(Method::GET, "/ojs/v1/admin/schemas/{name}/versions")
            .gives(200, "All of its versions.", "SchemaVersions")
            .fails([Code::NotFound]),
        get("/ojs/v1/admin/schemas/{name}/{version}", "Look at a version of a schema")
            .gives(200, "The schema.", "Schema")
            .fails([Code::NotFound]),
        delete("/ojs/v1/schemas/{name}", "Remove a schema")
            .details("Stored jobs stay as they are.")
            .gives(200, "It is gone.", "RemovedSchema")
            .fails([Code::NotFound]),
        delete("/ojs/v1/schemas/{name}/{version}", "Remove a version of a schema")
            .also(Method::DELETE, "/ojs/v1/admin/schemas/{name}/{version}")
            .gives(200, "It is gone.", "RemovedSchema")
            .fails([Code::NotFound]),
    ]
}
