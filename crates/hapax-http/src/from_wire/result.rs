//! Which results somebody asks for.

use std::collections::BTreeSet;

use hapax_core::json::Node;
use hapax_wire::error::Code;

use super::{Fault, Given};

/// Most jobs whose results are asked for at a time.
pub(crate) const RESULTS_MAX: usize = 1000;

/// Reads the ids, as texts; one that stands there twice is answered once.
pub(crate) fn result_ids(body: &Node<'_>) -> Result<Vec<Box<str>>, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["ids"])?;
    let wanted = "an array of the ids of jobs";
    let given = body.required("ids", wanted)?;
    let count = given.items(wanted)?.count();
    if count > RESULTS_MAX {
        let problem = format_args!("has {count} items; the limit is {RESULTS_MAX}");
        return Err(Fault::coded(Code::PayloadTooLarge, given.place, problem));
    }
    let mut known = BTreeSet::new();
    let mut ids = given.texts()?;
    ids.retain(|id| known.insert(id.clone()));
    Ok(ids)
}
