//! Where a page stands in its list, in the union of the notations that clients read.

use std::fmt::Display;

use hapax_store::Page;
use hapax_wire::writer::Object;

use crate::from_wire::{Listing, Numbered};

/// Writes the `pagination` member. The Rust SDK wants all of the first four.
pub(crate) fn write<T>(o: &mut Object<'_>, page: &Page<T>, listing: Listing, next: Option<impl Display>) {
    o.object("pagination", |o| {
        o.number("total", page.total);
        o.number("limit", listing.limit);
        o.number("offset", listing.offset);
        o.flag("has_more", page.has_more);
        if page.has_more {
            o.plain_if("next_cursor", next);
        }
    });
}

/// Writes the `pagination` member of a list that goes on behind a name, or after so many.
pub(crate) fn listed(o: &mut Object<'_>, listing: Listing, total: Option<u64>, next: Option<&str>) {
    let Listing { limit, offset } = listing;
    o.object("pagination", |o| {
        o.number_if("total", total);
        o.number("limit", limit);
        o.number("offset", offset);
        o.number("page", offset / limit + 1);
        o.number("per_page", limit);
        o.flag("has_more", next.is_some());
        o.text_if("next_cursor", next);
    });
}

/// Writes the `pagination` member of an operator's list, whose pages are counted. The total stands there if it is known
/// without counting.
pub(crate) fn numbered(
    o: &mut Object<'_>,
    numbered: Numbered,
    total: Option<u64>,
    has_more: bool,
    next: Option<impl Display>,
) {
    o.object("pagination", |o| {
        o.number_if("total", total);
        o.number("page", numbered.page);
        o.number("per_page", numbered.per_page);
        o.number("limit", numbered.per_page);
        o.number("offset", numbered.skipped());
        o.flag("has_more", has_more);
        if has_more {
            o.plain_if("next_cursor", next);
        }
    });
}
