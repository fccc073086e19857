//! What stands behind the question mark. A name is known because somebody reads it: there is no other list of names, so none can
//! be accepted and passed over, and none can be read and refused.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use axum::extract;
use axum::http::Uri;
use hapax_core::{QueueName, parse_iso8601};

use super::near_miss::near_miss;
use super::page::LIMIT_MAX;
use super::{Fault, Place};

/// Most values of one filter.
const FILTER_VALUES_MAX: usize = 100;
/// Names that are meant for others on the way: what libraries in browsers add so that no cache answers, and the key that a proxy
/// asks for (RFC 6750, 2.3).
const FOR_OTHERS: &[&str] = &["_", "access_token"];

/// The parameters of a query, in the order of the request, and the names that were looked for.
pub(super) struct Query {
    pairs: Vec<(String, String)>,
    known: RefCell<Vec<&'static str>>,
    /// A name with one meaning that has two.
    torn: Cell<Option<&'static str>>,
}

/// Reads a query. Names that the reading does not look for are refused: what a misspelt filter was to leave out would be shown.
/// So a reading looks for all its names, whatever it finds.
pub(super) fn read_query<T>(uri: &Uri, read: impl FnOnce(&Query) -> Result<T, Fault>) -> Result<T, Fault> {
    let query = Query::of(uri)?;
    let value = read(&query)?;
    query.expect_whole()?;
    query.expect_only_known()?;
    Ok(value)
}

/// The same for what lasts, where only near misses are refused: those who listen in a browser put into the address what they
/// cannot put into headers.
pub(super) fn read_open_query<T, E: From<Fault>>(
    uri: &Uri,
    read: impl FnOnce(&Query) -> Result<T, E>,
) -> Result<T, E> {
    let query = Query::of(uri)?;
    let value = read(&query)?;
    query.expect_whole()?;
    query.expect_near()?;
    Ok(value)
}

/// Refuses a query where none is read.
pub(crate) fn no_query(uri: &Uri) -> Result<(), Fault> {
    read_query(uri, |_| Ok(()))
}

/// What is wrong with the value of that name.
pub(super) fn fault(name: &str, problem: impl Display) -> Fault {
    Fault::new(Place::Member(&QUERY, name), problem)
}

pub(super) const QUERY: Place<'_> = Place::Member(&Place::Body, "query");

impl Query {
    fn of(uri: &Uri) -> Result<Query, Fault> {
        let wrong = |_| Fault::new(QUERY, "is not made of name=value pairs");
        let extract::Query(pairs) = extract::Query::try_from_uri(uri).map_err(wrong)?;
        Ok(Query { pairs, known: RefCell::default(), torn: Cell::default() })
    }

    fn look_for(&self, name: &'static str) -> impl DoubleEndedIterator<Item = &str> {
        let mut known = self.known.borrow_mut();
        if !known.contains(&name) {
            known.push(name);
        }
        self.pairs.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// The value of that name; an empty one counts as absent.
    pub(super) fn get(&self, name: &'static str) -> Option<&str> {
        let mut values = self.look_for(name).filter(|value| !value.is_empty());
        let first = values.next()?;
        if values.any(|other| other != first) {
            self.torn.set(Some(name));
        }
        Some(first)
    }

    /// The value that stands under one of two names that mean the same.
    pub(super) fn either(&self, names: [&'static str; 2]) -> Result<Option<(&'static str, &str)>, Fault> {
        match names.map(|name| Some((name, self.get(name)?))) {
            [Some((first, value)), Some((second, other))] if value != other => {
                Err(fault(second, format_args!("says the same as {first}; send one of the two")))
            }
            [first, second] => Ok(first.or(second)),
        }
    }

    /// A number within the bounds.
    pub(super) fn number(
        &self,
        name: &'static str,
        default: usize,
        range: RangeInclusive<usize>,
    ) -> Result<usize, Fault> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let (least, most) = (*range.start(), *range.end());
        text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| match most {
            usize::MAX => fault(name, format_args!("must be an integer of at least {least}")),
            _ => fault(name, format_args!("must be an integer from {least} to {most}")),
        })
    }

    /// How long a page is to be, as `limit` says it.
    pub(super) fn limit(&self, default: usize) -> Result<usize, Fault> {
        self.get("limit").map_or(Ok(default), |text| size("limit", text))
    }

    /// The same for clients that count pages.
    pub(super) fn limit_or_per_page(&self, default: usize) -> Result<usize, Fault> {
        self.either(["per_page", "limit"])?.map_or(Ok(default), |(name, text)| size(name, text))
    }

    /// A queue.
    pub(super) fn queue(&self) -> Result<Option<QueueName>, Fault> {
        self.get("queue").map(QueueName::parse).transpose().map_err(|error| fault("queue", error))
    }

    /// True or false.
    pub(super) fn flag(&self, name: &'static str) -> Result<Option<bool>, Fault> {
        match self.get(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(_) => Err(fault(name, "must be true or false")),
        }
    }

    /// A span in whole seconds or as an ISO 8601 duration.
    pub(super) fn span(&self, name: &'static str) -> Result<Option<Duration>, Fault> {
        let problem = "must be a number of whole seconds such as 3600, or an ISO 8601 duration such as PT1H";
        let read = |text: &str| match text.parse() {
            Ok(seconds) => Ok(Duration::from_secs(seconds)),
            Err(_) => parse_iso8601(text).map_err(|_| fault(name, problem)),
        };
        self.get(name).map(read).transpose()
    }

    /// The values of a filter: separated by commas, or the parameter given several times.
    pub(super) fn values(&self, name: &'static str) -> Result<Vec<String>, Fault> {
        let values: Vec<String> = self
            .look_for(name)
            .flat_map(|values| values.split(','))
            .map(str::trim)
            .filter(|value| !value.is_empty())
            .take(FILTER_VALUES_MAX + 1)
            .map(str::to_owned)
            .collect();
        if values.len() > FILTER_VALUES_MAX {
            return Err(fault(name, format_args!("must have at most {FILTER_VALUES_MAX} values")));
        }
        Ok(values)
    }

    /// Refuses two values where one is meant: one of them would be passed over.
    fn expect_whole(&self) -> Result<(), Fault> {
        match self.torn.get() {
            Some(name) => Err(fault(name, "is given more than once, with different values; send one")),
            None => Ok(()),
        }
    }

    fn expect_only_known(&self) -> Result<(), Fault> {
        let known = self.known.borrow();
        let is_fine = |name: &str| FOR_OTHERS.contains(&name) || known.contains(&name);
        let Some((name, _)) = self.pairs.iter().find(|(name, _)| !is_fine(name)) else { return Ok(()) };
        if known.is_empty() {
            return Err(fault(name, "would be passed over: this path takes no parameters in its query"));
        }
        Err(Fault::unknown(Place::Member(&QUERY, name), "parameter", name, &known))
    }

    fn expect_near(&self) -> Result<(), Fault> {
        let known = self.known.borrow();
        for (name, _) in self.pairs.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
            if let Some(meant) = near_miss(name, known.iter().copied()) {
                return Err(fault(name, format_args!("is not known here; did you mean {meant:?}?")));
            }
        }
        Ok(())
    }
}

/// A wish for a longer page than there are gets the longest.
fn size(name: &str, text: &str) -> Result<usize, Fault> {
    let size = text.parse().ok().filter(|size: &usize| *size > 0);
    let wrong = || fault(name, format_args!("must be an integer from 1 to {LIMIT_MAX}"));
    size.map(|size| size.min(LIMIT_MAX)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T: std::fmt::Debug>(query: &str, read: impl FnOnce(&Query) -> Result<T, Fault>) -> String {
        let uri: Uri = format!("/list?{query}").parse().unwrap();
        read_query(&uri, read).map_or_else(|fault| fault.message, |value| format!("{value:?}"))
    }

    #[test]
    fn a_name_is_known_because_it_is_read() {
        let read = |query: &Query| Ok((query.limit(9)?, query.queue()?.is_some()));
        assert_eq!(message("queue=a&limit=3&_=17", read), "(3, true)");
        assert_eq!(message("queue=&limit=", read), "(9, false)");
        assert_eq!(
            message("lmit=3", read),
            r#"query.lmit: unknown parameter "lmit"; did you mean "limit"? known are limit, queue"#
        );
        assert_eq!(
            message("colour=red", read),
            r#"query.colour: unknown parameter "colour"; known are limit, queue"#
        );
        assert_eq!(
            message("a=b", |_| Ok(())),
            "query.a: would be passed over: this path takes no parameters in its query"
        );
    }

    #[test]
    fn one_of_two_values_is_not_passed_over() {
        let limit = |query: &Query| query.limit(9);
        assert_eq!(
            message("limit=3&limit=4", limit),
            "query.limit: is given more than once, with different values; send one"
        );
        assert_eq!(message("limit=3&limit=3", limit), "3");
        let paged = |query: &Query| query.limit_or_per_page(9);
        assert_eq!(
            message("limit=3&per_page=4", paged),
            "query.limit: says the same as per_page; send one of the two"
        );
        assert_eq!(message("limit=3&per_page=3", paged), "3");
        assert_eq!(message("types=a,b&types=c", |query| query.values("types")), r#"["a", "b", "c"]"#);
    }

    #[test]
    fn what_a_browser_adds_to_a_stream_is_passed_over_and_a_near_miss_is_not() {
        let read = |text: &str| {
            let uri: Uri = format!("/stream?{text}").parse().unwrap();
            read_open_query(&uri, |query| query.values("types")).map_err(|fault: Fault| fault.message)
        };
        assert_eq!(read("types=a&token=abc"), Ok(vec!["a".to_owned()]));
        assert_eq!(
            read("tyeps=a"),
            Err(r#"query.tyeps: is not known here; did you mean "types"?"#.to_owned())
        );
    }
}
