//! What the reader takes, refuses and keeps.

pub(crate) mod documents;
mod oracle;

use super::*;

fn node(text: &str) -> Node<'_> {
    read(text, Limits::DEFAULT).unwrap()
}

fn refusal(text: &str) -> JsonError {
    read(text, Limits::DEFAULT).unwrap_err()
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn every_value_keeps_its_own_source() {
    let document = node(" { \"a\" : [ 1.0 , {} ] ,\n\"b\":\"x\\n\" } ");
    assert_eq!(document.raw, "{ \"a\" : [ 1.0 , {} ] ,\n\"b\":\"x\\n\" }");
    let items = document.get("a").unwrap();
    assert_eq!(items.raw, "[ 1.0 , {} ]");
    assert_eq!(items.as_array().unwrap()[1].raw, "{}");
    assert_eq!(document.get("b").unwrap().raw, "\"x\\n\"");
}

#[test]
fn values_are_seen_as_what_they_are() {
    let document = node(r#"{"n":null,"t":true,"f":false,"i":-7,"s":"é","a":[],"o":{}}"#);
    let at = |name: &str| document.get(name).unwrap();
    assert!(at("n").is_null() && !at("t").is_null());
    assert_eq!((at("t").as_bool(), at("f").as_bool(), at("n").as_bool()), (Some(true), Some(false), None));
    assert_eq!((at("i").as_i64(), at("s").as_i64()), (Some(-7), None));
    assert_eq!((at("s").as_str(), at("i").as_str()), (Some("é"), None));
    assert_eq!((at("a").as_array(), at("o").as_array()), (Some(&[][..]), None));
    assert_eq!((at("o").as_object(), at("a").as_object()), (Some(&[][..]), None));
    assert!(document.get("absent").is_none() && at("a").get("n").is_none());
    let kinds: Vec<_> = document.as_object().unwrap().iter().map(|member| member.node.kind()).collect();
    assert_eq!(kinds, ["null", "boolean", "boolean", "number", "string", "array", "object"]);
}

#[test]
fn numbers_keep_every_digit() {
    for text in ["0", "-0", "1.0", "1e3", "1E+3", "-12.50e-07", "18446744073709551616", "1e400"] {
        assert_eq!(node(text).value, Value::Number(text));
    }
}

#[test]
fn only_plain_integers_of_64_bits_are_integers() {
    assert_eq!(node("-0").as_i64(), Some(0));
    assert_eq!(node("9223372036854775807").as_i64(), Some(i64::MAX));
    assert_eq!(node("-9223372036854775808").as_i64(), Some(i64::MIN));
    for text in ["9223372036854775808", "1.0", "1e0", "\"1\"", "[1]"] {
        assert_eq!(node(text).as_i64(), None, "{text}");
    }
}

#[test]
fn a_number_beyond_the_doubles_has_no_double() {
    assert_eq!(node("-1.5e3").as_f64(), Some(-1500.0));
    assert_eq!(node("1e-400").as_f64(), Some(0.0));
    assert_eq!((node("1e400").as_f64(), node("null").as_f64()), (None, None));
}

#[test]
fn strings_without_escapes_are_borrowed_and_the_others_unescaped() {
    assert!(matches!(node("\"plain ünïcode 😀\"").value, Value::String(Cow::Borrowed("plain ünïcode 😀"))));
    let escaped = node(r#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00 and more""#);
    assert_eq!(escaped.as_str(), Some("\"\\/\u{8}\u{c}\n\r\tAé€😀 and more"));
}

#[test]
fn a_special_byte_is_found_wherever_it_stands() {
    // Around the eight-byte steps of the scan, behind bytes that are close to special or not ASCII.
    for filler in ["a", "!", "#", "[", "]", "\u{7f}", "é", "😀"] {
        for count in 0..40 {
            let plain = filler.repeat(count);
            assert_eq!(node(&format!("\"{plain}\"")).as_str(), Some(&*plain));
            assert_eq!(node(&format!("\"{plain}\\n{plain}\"")).as_str(), Some(&*format!("{plain}\n{plain}")));
            let JsonError::Syntax { offset, .. } = refusal(&format!("\"{plain}\u{1f}{plain}\"")) else {
                panic!()
            };
            assert_eq!(offset, 1 + plain.len());
        }
    }
}

#[test]
fn anything_beyond_rfc_8259_is_refused() {
    for text in [
        "",
        " ",
        "[1,]",
        "{\"a\":1,}",
        "{,}",
        "[,]",
        "[1 2]",
        "{\"a\" 1}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "[",
        "{",
        "{\"a\":",
        "01",
        "-",
        "-01",
        "+1",
        ".5",
        "1.",
        "1.e3",
        "1e",
        "1e+",
        "0x1",
        "NaN",
        "Infinity",
        "-Infinity",
        "tru",
        "True",
        "nulll",
        "1 2",
        "[] []",
        "// a\n1",
        "\u{a0}1",
        "\u{b}1",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\u+123\"",
        "\"a\nb\"",
        "\"\t\"",
        "\"\u{0}\"",
        "\u{feff}1",
    ] {
        assert!(matches!(refusal(text), JsonError::Syntax { .. }), "{text:?}");
    }
}

#[test]
fn half_a_surrogate_pair_is_refused() {
    for text in [r#""\ud800""#, r#""\udc00""#, r#""\ud800x""#, r#""\ud800\u0041""#, r#""\udc00\ud800""#] {
        let JsonError::Syntax { offset: 1, found: Found::LoneSurrogate(_), .. } = refusal(text) else {
            panic!("{text}: {:?}", refusal(text));
        };
    }
}

#[test]
fn a_refusal_says_what_was_wrong_and_where() {
    let long = format!("{{\"{0}\":1,\"{0}\":2}}", "n".repeat(100));
    let long_message =
        format!("member \"{}\"… occurs twice in one object, again at line 1, column 107", "n".repeat(60));
    for (text, message) in [
        ("{\"é\":tru}", "expected a value, found 't' at line 1, column 6"),
        ("[1,\n 2", "expected ',' or ']', found the end of the text at line 2, column 3"),
        ("[\"a\u{7}\"]", "expected a closing quote, found the control character U+0007 at line 1, column 4"),
        ("\u{feff}{}", "expected a value, found a byte order mark at line 1, column 1"),
        ("{} x", "expected nothing after the value, found 'x' at line 1, column 4"),
        (
            "\"\\uD834 \"",
            "expected a whole character, found \\ud834, half of a surrogate pair without the other \
             at line 1, column 2",
        ),
        ("{\"a\":1,\n \"a\":2}", "member \"a\" occurs twice in one object, again at line 2, column 2"),
        (&nested(65), "nested deeper than 64 levels at byte 64"),
        (&long, &long_message),
    ] {
        assert_eq!(refusal(text).to_string(), message);
    }
}

#[test]
fn bytes_that_are_not_utf8_are_refused_at_their_place() {
    let error = read_bytes(b"{\"a\":\"\xff\"}", Limits::DEFAULT).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error),
        ("not UTF-8 at byte 6", JsonError::InvalidUtf8 { offset: 6 })
    );
    assert_eq!(read_bytes(b" true ", Limits::DEFAULT).unwrap().raw, "true");
}

#[test]
fn a_name_that_occurs_twice_is_refused_however_it_is_spelled() {
    for (text, at) in [
        (r#"{"a":1,"a":1}"#, 7),
        (r#"{"a":1,"\u0061":2}"#, 7),
        (r#"[{"x":{"b":"\"" , "b":0}}]"#, 18),
        (r#"{"":1, "a":{"a":1}, "":2}"#, 20),
    ] {
        let JsonError::DuplicateMember { offset, .. } = refusal(text) else { panic!("{text}") };
        assert_eq!(offset, at, "{text}");
    }
}

#[test]
fn a_name_that_occurs_twice_is_found_among_very_many() {
    let members = |count: u32| (0..count).map(|n| format!("\"{n}\":{n}")).collect::<Vec<_>>();
    for count in [2, 15, 16, 17, 18, 5000] {
        let mut members = members(count);
        assert!(read(&format!("{{{}}}", members.join(",")), Limits::DEFAULT).is_ok());
        members.extend(["\"z\":0".into(), "\"1\":0".into(), "\"0\":0".into()]);
        let text = format!("{{{}}}", members.join(","));
        let JsonError::DuplicateMember { name, offset, .. } = refusal(&text) else { panic!("{count}") };
        assert_eq!((&*name, offset), ("1", text.rfind("\"1\"").unwrap()));
    }
}

#[test]
fn sixty_four_levels_are_read_and_one_more_is_not() {
    assert_eq!(node(&nested(64)).raw.len(), 128);
    assert_eq!(refusal(&nested(65)), JsonError::TooDeep { limit: 64, offset: 64 });
    assert!(read(&format!("[{},{}]", nested(63), nested(63)), Limits::DEFAULT).is_ok());
    assert_eq!(read("[]", Limits { depth_max: 0 }), Err(JsonError::TooDeep { limit: 0, offset: 0 }));
    assert!(read("1", Limits { depth_max: 0 }).is_ok());
}

#[test]
fn no_limit_lets_the_stack_overflow() {
    let bottomless = Limits { depth_max: usize::MAX };
    assert!(read(&nested(Limits::DEPTH_CEILING), bottomless).is_ok());
    let error = read(&"[{\"a\":".repeat(1_000_000), bottomless).unwrap_err();
    assert_eq!(
        error,
        JsonError::TooDeep { limit: Limits::DEPTH_CEILING, offset: 6 * Limits::DEPTH_CEILING / 2 }
    );
}

#[test]
fn json_text_is_carried_unchanged() {
    let text = "{\"n\": 12345678901234567890,\t\"x\":1.0}";
    let json = Json::parse_checked(&format!("\n{text} "), Limits::DEFAULT).unwrap();
    assert_eq!((json.as_str(), json.to_string().as_str()), (text, text));
    assert_eq!(json, Json::from_trusted(text));
    assert_eq!((Json::empty_object().as_str(), Json::null().as_str()), ("{}", "null"));
    assert!(Json::parse_checked("{", Limits::DEFAULT).is_err());
}
