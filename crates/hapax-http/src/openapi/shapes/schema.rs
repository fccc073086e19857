//! Schemas of arguments.

use super::{Named, one_of};
use crate::openapi::shape::{
    Member, Shape, all, any, count, either, flag, list, may, moment, named, needs, number, object, text,
};
use crate::schemas::Mode;

pub(super) fn shapes() -> Vec<Named> {
    let document = || any().about("A JSON Schema for `args`.");
    let facts_and = |member: Member| all([named("SchemaFacts"), object([member])]);
    let schemas = [needs("schemas", list(named("SchemaFacts"))), needs("pagination", named("Pagination"))];
    let whole = [
        needs("schemas", list(facts_and(may("schema", document())))),
        needs("pagination", named("Pagination")),
    ];
    let wish = [
        may("uri", text()),
        may("type", text().about("The type of the jobs.")),
        may("job_type", text().about("The same as `type`.")),
        needs("version", version()),
        needs("schema", document()),
        may("mode", mode()),
    ];
    vec![
        ("SchemaWish", object(wish).only()),
        ("SchemaVersionWish", object([needs("schema", document()), may("mode", mode())]).only()),
        ("SchemaFacts", facts()),
        ("Schema", facts_and(needs("schema", document()))),
        ("ShownSchema", facts_and(needs("schema", named("Schema")))),
        ("RemovedSchema", facts_and(needs("deleted", flag()))),
        ("Schemas", object(schemas)),
        ("WholeSchemas", object(whole)),
        ("SchemaVersions", versions()),
    ]
}

fn mode() -> Shape {
    one_of(Mode::ALL, Mode::name).about("Whether arguments that do not fit are refused or warned about.")
}

fn version() -> Shape {
    either([text(), number()])
}

fn facts() -> Shape {
    object([
        needs("uri", text()),
        needs("type", text()),
        needs("job_type", text().about("The same as `type`.")),
        needs("version", version()),
        may("mode", mode()),
        needs("created_at", moment()),
    ])
}

fn versions() -> Shape {
    let version = all([named("SchemaFacts"), object([needs("is_latest", flag())])]);
    object([needs("type", text()), needs("versions", list(version)), needs("count", count())])
}
