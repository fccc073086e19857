//! The page on which people read the document.

use std::sync::LazyLock;

use axum::http::HeaderValue;
use data_encoding::BASE64;
use sha2::{Digest as _, Sha256};

/// The page: its style and its script stand in it, and it asks for the document and for nothing else.
pub(crate) const HTML: &str = include_str!("page.html");

/// What a browser may do with it: run the very script and apply the very style that stand in it, and talk to this server.
pub(crate) static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash_of("script"),
        hash_of("style"),
    );
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
});

/// The hash of what stands between the tags of that name, in the form of Content Security Policy.
fn hash_of(tag: &str) -> String {
    let inside =
        HTML.split_once(&format!("<{tag}>")).and_then(|(_, rest)| rest.split_once(&format!("</{tag}>")));
    format!("sha256-{}", BASE64.encode(&Sha256::digest(inside.map_or("", |(inside, _)| inside))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_needs_nothing_from_elsewhere_and_holds_one_script_and_one_style() {
        for tag in ["<script", "<style"] {
            assert_eq!(
                HTML.matches(tag).count(),
                1,
                "{tag}: the policy allows the one that it has the hash of"
            );
        }
        for wrong in
            ["http:", "https:", "src=", "@import", "url(", "innerHTML", "style=", " onclick", "eval("]
        {
            assert!(!HTML.contains(wrong), "{wrong}");
        }
    }

    #[test]
    fn the_policy_names_what_stands_in_the_page() {
        let policy = POLICY.to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
        // The hash of nothing would mean that the tags were not found.
        assert!(!policy.contains("47DEQpj8HBSa"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}
