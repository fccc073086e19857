//! Ordering keys, and what does not go with them.

use hapax_core::OrderingKey;

use super::*;

#[test]
fn an_ordering_key_may_stand_in_both_places() {
    for members in [
        r#""ordering_key":"a b""#,
        r#""options":{"ordering_key":"a b"}"#,
        r#""ordering_key":"a b","options":{"ordering_key":"a b"}"#,
    ] {
        let key = with(members).unwrap().spec.ordering_key;
        assert_eq!(key.as_ref().map(OrderingKey::as_str), Some("a b"), "{members}");
    }
    assert_eq!(with(r#""ordering_key":null"#).unwrap().spec.ordering_key, None);
    assert!(with(r#""ordering_key":"a","pending":false"#).is_ok());
}

#[test]
fn what_is_no_ordering_key_or_has_the_wrong_company_is_refused_at_its_place() {
    for (members, says) in [
        (r#""ordering_key":"""#, "ordering_key: must be a text of 1 to 256 bytes without control characters"),
        (r#""ordering_key":"a\u0000""#, "ordering_key: must be a text of 1 to 256 bytes"),
        (r#""options":{"ordering_key":7}"#, "options.ordering_key: must be a string"),
        (r#""ordering_key":"a","pending":true"#, "ordering_key: stands beside pending"),
        (
            r#""ordering_key":"a","unique":{"while_active":"queue_latest"}"#,
            "ordering_key: stands beside unique.while_active",
        ),
    ] {
        let fault = with(members).unwrap_err();
        assert_eq!(fault.code, Code::InvalidRequest, "{members}");
        assert!(fault.message.starts_with(says), "{members}: {}", fault.message);
    }
}
