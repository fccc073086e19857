//! Where a page stands in its list.

use super::Named;
use crate::openapi::shape::{Member, Shape, count, flag, may, needs, object, text};

pub(super) fn shapes() -> Vec<Named> {
    vec![("Pagination", pagination()), ("NumberedPagination", numbered())]
}

fn rest() -> [Member; 2] {
    [needs("has_more", flag()), may("next_cursor", text().about("Send it as `cursor` to go on."))]
}

fn pagination() -> Shape {
    let own = [
        may("total", count()),
        needs("limit", count()),
        may("offset", count()),
        may("page", count()),
        may("per_page", count()),
    ];
    object(own.into_iter().chain(rest()))
}

fn numbered() -> Shape {
    let own = [
        may("total", count().about("If it is known without counting.")),
        needs("page", count()),
        needs("per_page", count()),
        may("limit", count()),
        may("offset", count()),
    ];
    object(own.into_iter().chain(rest()))
}
