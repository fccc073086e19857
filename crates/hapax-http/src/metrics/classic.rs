//! The text format of Prometheus, version 0.0.4: what every scraper reads, whichever it asks for.
//!
//! The library writes the form of `OpenMetrics`, in which the name of a counter has no `_total` where its kind is told. A scraper of the older
//! format then knows a counter of one name, and samples of another.

/// The media type of that text, without its version: the official cases compare it letter by letter (EXT-OBS-003), and scrapers
/// take plain text for this format.
pub(crate) const CLASSIC: &str = "text/plain";

/// The same counters in the older format.
pub(super) fn classic(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 1024);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        match (named(line, "HELP"), lines.peek().and_then(|next| named(next, "TYPE"))) {
            (Some((name, help)), Some((_, "counter"))) => {
                for part in ["# HELP ", name, "_total ", help, "\n# TYPE ", name, "_total counter\n"] {
                    out.push_str(part);
                }
                lines.next();
            }
            _ if line == "# EOF" => {}
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

/// The name in a line of this kind, and what follows it.
fn named<'t>(line: &'t str, kind: &str) -> Option<(&'t str, &'t str)> {
    line.strip_prefix("# ")?.strip_prefix(kind)?.strip_prefix(' ')?.split_once(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_one_name_and_the_rest_is_as_it_was() {
        let text = "# HELP a_b Some.\n# TYPE a_b counter\na_b_total{x=\"y\"} 1\n# HELP c Others.\n# TYPE c gauge\nc 2\n\
            # HELP d Times.\n# TYPE d histogram\nd_sum 0.0\n# EOF\n";
        let expected = "# HELP a_b_total Some.\n# TYPE a_b_total counter\na_b_total{x=\"y\"} 1\n# HELP c Others.\n\
            # TYPE c gauge\nc 2\n# HELP d Times.\n# TYPE d histogram\nd_sum 0.0\n";
        assert_eq!(classic(text), expected);
    }
}
