//! The page on which every error is explained: where `docs_url` leads. It is that of the very program that answered.

use std::fmt::Write as _;
use std::sync::LazyLock;

use hapax_wire::error::Code;

/// What a browser may do with the page: show it.
pub(crate) const POLICY: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page.
pub(crate) static HTML: LazyLock<String> = LazyLock::new(|| {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Errors of Hapax</title>\n\
         <h1>Errors of Hapax</h1>\n",
    );
    for code in Code::ALL {
        let (name, status) = (code.name(), code.status());
        let retry = if code.is_retryable() { "may succeed later" } else { "will fail again" };
        let _infallible = write!(
            page,
            "<h2 id=\"{}\">{name}</h2>\n<p>Status {status}; the same request {retry}.</p>\n<p>{}</p>\n<p>{}</p>\n",
            code.anchor(),
            escaped(code.meaning()),
            escaped(code.hint()),
        );
    }
    page
});

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use crate::testing::Rig;

    #[tokio::test]
    async fn the_link_of_an_error_leads_to_its_explanation() {
        let rig = Rig::new();
        let link = rig.get("/ojs/v1/jobs/x").await.text_at("/error/docs_url");
        let (path, anchor) = link.split_once('#').unwrap();
        let page = rig.get(path).await;
        assert_eq!(
            (page.status.as_u16(), page.header("content-type")),
            (200, Some("text/html; charset=utf-8"))
        );
        assert!(page.text.contains(&format!("<h2 id=\"{anchor}\">not_found</h2>")), "{}", page.text);
        assert!(page.text.contains("Bearer &lt;key&gt;"), "{}", page.text);
    }
}
