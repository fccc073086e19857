//! Errors.

use hapax_wire::error::{Code, RETRYABLE};

use super::{Named, one_of};
use crate::openapi::shape::{any_object, flag, may, named, needs, object, text};

pub(super) fn shapes() -> Vec<Named> {
    let code = one_of(Code::ALL, Code::name);
    let fault = object([
        needs("code", named("ErrorCode")),
        needs("type", named("ErrorCode").about("The same as `code`.")),
        needs("message", text().about("What went wrong, for a person.")),
        needs(
            RETRYABLE,
            flag().about("Whether the same request may succeed later; not that repeating it is harmless."),
        ),
        may(
            "details",
            any_object()
                .about("What went wrong, for a program: `field` names the place of a fault in the request."),
        ),
        needs("request_id", text().about("Also in the header `X-Request-Id`.")),
        needs("hint", text().about("What to do.")),
        needs("docs_url", text()),
        needs("doc_url", text().about("The same as `docs_url`.")),
    ]);
    vec![
        ("ErrorCode", code.about("What went wrong, by what a client can do about it.")),
        ("Fault", fault),
        (
            "Error",
            object([needs("error", named("Fault"))]).about("Every answer with a status of 400 or more."),
        ),
    ]
}
