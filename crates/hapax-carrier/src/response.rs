//! What is kept of an answer.

use std::time::Duration;

use hapax_core::webhook::Response;
use hyper::HeaderMap;
use hyper::header::{DATE, HeaderName, RETRY_AFTER};

/// The status, and how long the endpoint wants to be left alone.
pub(crate) fn read<B>(response: &hyper::Response<B>) -> Response {
    Response::Answered { status: response.status().as_u16(), retry_after: retry_after(response.headers()) }
}

/// Seconds, or a moment: that counts from the moment that the endpoint says it is.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let wanted = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = wanted.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let moment = |text: &str| httpdate::parse_http_date(text).ok();
    moment(wanted)?.duration_since(moment(text(DATE)?)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(after: &str, date: Option<&str>) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, after.parse().unwrap());
        headers.extend(date.map(|date| (DATE, date.parse().unwrap())));
        retry_after(&headers)
    }

    #[test]
    fn the_wish_to_be_left_alone_is_read_in_seconds_and_as_a_moment() {
        assert_eq!(asked("120", None), Some(Duration::from_mins(2)));
        let now = "Sun, 06 Nov 1994 08:49:37 GMT";
        let later = "Sun, 06 Nov 1994 08:50:07 GMT";
        assert_eq!(asked(later, Some(now)), Some(Duration::from_secs(30)));
        assert_eq!(asked(now, Some(later)), None);
        assert_eq!(asked(later, None), None);
        for odd in ["", "-1", "soon", "1.5"] {
            assert_eq!(asked(odd, Some(now)), None, "{odd}");
        }
    }
}
