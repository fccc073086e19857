//! Files of keys, good and bad.

use std::fs;

use super::*;

const SECRET: &str = "0123456789abcdef";

fn names(text: &str) -> Result<Vec<String>, String> {
    parse(text).map(|keys| keys.iter().map(|key| key.name.to_string()).collect())
}

#[test]
fn a_line_is_a_name_and_a_secret() {
    let text = format!("# ours\n\nworker: {SECRET}\n  ci :{SECRET}-two  \nadmin:{SECRET}:three\n");
    assert_eq!(names(&text).unwrap(), ["worker", "ci", "admin"]);
    let digest: [u8; 32] = Sha256::digest(SECRET).into();
    assert_eq!(parse(&text).unwrap()[0].digest, digest);
}

#[test]
fn bad_files_are_refused_without_showing_a_secret() {
    for (text, expected) in [
        ("", "there is no key in it"),
        ("# nothing\n", "there is no key in it"),
        ("worker:0123456789abcde\n", "line 1: the secret is shorter than 16 characters"),
        ("\nwork er:0123456789abcdef\n", "line 2: a name is"),
        (":0123456789abcdef\n", "line 1: a name is"),
        (
            "a:0123456789abcdef\n0123456789abcdef-two\n",
            "line 2: there is no colon between a name and a secret",
        ),
        ("worker-of-the-mail-queue\n", "line 1: there is no colon"),
        ("a:0123456789abcdef\nb:0123456789abcdef\n", "line 2: the secret stands there twice"),
    ] {
        let fault = names(text).unwrap_err();
        assert!(fault.starts_with(expected), "{fault}");
        assert!(!fault.contains("0123"), "{fault}");
    }
}

#[test]
fn two_keys_of_one_name_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    fs::write(&path, format!("default:{SECRET}-two\n")).unwrap();
    restrict(&path, 0o600);
    assert_eq!(load(Some(&path), None).unwrap().len(), 1);
    let failure = load(Some(&path), Some(Secret::new(SECRET))).unwrap_err();
    assert_eq!(failure.sentence(), "two API keys are called default");
}

#[test]
fn a_file_that_everybody_can_read_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    fs::write(&path, format!("worker:{SECRET}")).unwrap();
    restrict(&path, 0o644);
    let failure = load(Some(&path), None).unwrap_err();
    assert!(failure.sentence().contains("every user of this machine"), "{failure}");
    assert!(failure.advice().unwrap().starts_with("chmod 600"), "{failure}");
    restrict(&path, 0o640);
    assert_eq!(load(Some(&path), None).unwrap().len(), 1);
}

#[test]
fn a_short_key_in_the_environment_is_refused_and_so_is_an_empty_one() {
    for secret in ["", "short"] {
        let failure = load(None, Some(Secret::new(secret))).unwrap_err();
        assert!(failure.sentence().starts_with("OJS_API_KEY is shorter"), "{failure}");
    }
    assert_eq!(&*load(None, Some(Secret::new(SECRET))).unwrap()[0].name, "default");
}

fn restrict(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
