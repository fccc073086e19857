//! What the scanner takes for code, for a comment and for a literal.

use super::*;

fn lines(text: &str) -> Vec<Line> {
    Source::rust(text).lines
}

#[test]
fn code_and_trailing_comment_are_separated() {
    let line = &lines("let a = 1; // why")[0];
    assert_eq!(line.code, "let a = 1; ");
    let comment = line.comment.as_ref().unwrap();
    assert_eq!((comment.text.as_str(), comment.is_doc), (" why", false));
}

#[test]
fn slashes_inside_a_string_are_not_a_comment() {
    let line = &lines(r#"get("http://host/\"x\"");"#)[0];
    assert_eq!(line.code, r#"get("");"#);
    assert_eq!(line.literals, [r#"http://host/\"x\""#]);
    assert!(line.comment.is_none());
}

#[test]
fn a_raw_string_ends_at_its_own_hashes() {
    let lines = lines("a(r#\"one \" // two\nthree\"#); // end");
    assert_eq!(lines[0].literals, ["one \" // two\nthree"]);
    assert_eq!(lines[1].code, "); ");
    assert_eq!(lines[1].comment.as_ref().unwrap().text, " end");
}

#[test]
fn a_quote_character_opens_no_string() {
    let line = &lines(r#"split('"', '\'', 'é') == "x" // c"#)[0];
    assert_eq!(line.literals, ["x"]);
    assert_eq!(line.comment.as_ref().unwrap().text, " c");
}

#[test]
fn a_lifetime_is_code() {
    assert_eq!(lines("fn f<'a>(x: &'a str) {}")[0].code, "fn f<'a>(x: &'a str) {}");
}

#[test]
fn doc_comments_are_told_apart() {
    let is_doc = |text: &str| lines(text)[0].comment.as_ref().unwrap().is_doc;
    assert!(is_doc("/// d"));
    assert!(is_doc("//! d"));
    assert!(!is_doc("// d"));
    assert!(!is_doc("//// d"));
}

#[test]
fn block_comments_nest_and_span_lines() {
    let lines = lines("a /* one /* two */\n * three */ b");
    assert_eq!((lines[0].code.as_str(), lines[1].code.as_str()), ("a ", " b"));
    assert_eq!(lines[1].comment.as_ref().unwrap().text, " three */");
}

#[test]
fn the_trailing_test_module_is_found() {
    let source = Source::rust("fn a() {}\n#[cfg(test)]\nmod tests {\n}\n");
    assert_eq!(source.tests_start(), 2);
    assert_eq!(Source::rust("fn a() {}\n").tests_start(), 2);
}
