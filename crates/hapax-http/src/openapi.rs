//! Every route described in OpenAPI 3.1: put together from the table of routes, with names, choices and bounds from the types
//! that bodies are read and written with, and held to what is said on the wire by the tests.

mod document;
pub(crate) mod errors;
mod operation;
mod operations;
pub(crate) mod page;
mod parameter;
mod shape;
mod shapes;

#[cfg(test)]
pub(crate) mod tests;

use axum::http::Method;

use crate::shared::{Access, BodyRule};
use crate::tenancy::Tenancy;

pub(crate) use document::document;

/// A route as the table has it.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) method: Method,
    /// The path with its variable parts in braces.
    pub(crate) template: &'static str,
    pub(crate) access: Access,
    pub(crate) body: BodyRule,
    pub(crate) tenancy: Tenancy,
}
