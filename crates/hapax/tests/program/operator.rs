//! The commands that ask a server, against a server.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::server::{Server, answer, hapax};

const JOB: &str =
    r#"{"type":"email.send","args":[42],"unique":{"keys":["type","args"],"on_conflict":"ignore"}}"#;

/// How a command ended, and what it printed.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ended {
    /// The answer of a command that succeeded.
    #[track_caller]
    fn printed(self) -> String {
        assert_eq!((self.code, &*self.err), (Some(0), ""), "{self:?}");
        self.out
    }

    #[track_caller]
    fn failed(self, code: i32, expected: &str) {
        assert_eq!((self.code, &*self.out), (Some(code), ""), "{self:?}");
        assert!(self.err.contains(expected), "{self:?}");
    }
}

/// A command for this server. Nobody sits at a terminal.
fn command(server: &Server, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hapax"));
    command.args(arguments).env_clear().env("HAPAX_SERVER", format!("http://{}", server.address));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(server: &Server, arguments: &[&str]) -> Ended {
    ended(command(server, arguments), "")
}

fn explain(server: &Server, job: &str, arguments: &[&str]) -> Ended {
    ended(command(server, &[&["explain", "-"], arguments].concat()), job)
}

fn ended(mut command: Command, input: &str) -> Ended {
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn started() -> Server {
    Server::start(&["--store", "memory"])
}

/// Enqueues a job and gives its id.
fn enqueue(server: &Server, job: &str) -> String {
    let reply = answer(server.post("/ojs/v1/jobs", job));
    assert!(reply.starts_with("HTTP/1.1 201"), "{reply}");
    let body: Value = serde_json::from_str(reply.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    body["job"]["id"].as_str().unwrap().to_owned()
}

fn key_of(server: &Server, job: &str) -> String {
    let explained: Value = serde_json::from_str(&explain(server, job, &["--json"]).printed()).unwrap();
    explained["key"].as_str().unwrap().to_owned()
}

#[test]
fn a_job_is_explained_before_and_after_it_exists() {
    let server = started();
    let before = explain(&server, JOB, &[]).printed();
    assert!(before.starts_with("created: the job would be enqueued\n"), "{before}");
    assert!(before.contains("\nno job carries the key\n"), "{before}");

    let id = enqueue(&server, JOB);
    let after = explain(&server, JOB, &[]).printed();
    let first = format!("existing: no job would be added; job {id} would be the answer\n");
    assert!(after.starts_with(&first), "{after}");
    for expected in [
        "\n  rule       ignore: ",
        "\n  key        ",
        "\n  free       ",
        "\n1 job with this key, 1 live and 0 ended:\n",
    ] {
        assert!(after.contains(expected), "no {expected} in {after}");
    }
    let row = after.lines().find(|line| line.starts_with(&id)).unwrap();
    assert!(row.contains("  email.send  default  ") && row.contains("  yes  "), "{row}");
}

#[test]
fn a_job_may_stand_in_a_file_and_the_answer_may_be_json() {
    let server = started();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("job.json");
    std::fs::write(&path, r#"{"type":"email.send","args":[]}"#).unwrap();
    let printed = run(&server, &["explain", path.to_str().unwrap(), "--json"]).printed();
    assert_eq!(printed.lines().count(), 1, "{printed}");
    let explained: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&explained["outcome"], &explained["unique"]), (&"created".into(), &false.into()));
}

#[test]
fn a_malformed_job_is_refused_with_its_place() {
    let server = started();
    explain(&server, r#"{"type":"email.send"#, &[]).failed(1, "the server refused (400 invalid_payload)");
    explain(&server, r#"{"args":[]}"#, &[]).failed(1, "the server refused (400 invalid_request): type: ");
    explain(&server, "", &[]).failed(1, "the body is empty");
    run(&server, &["explain", "no/such.json"]).failed(1, "could not read the job in no/such.json");
}

#[test]
fn held_keys_are_listed_page_by_page() {
    let server = started();
    assert_eq!(run(&server, &["keys"]).printed(), "no key is held\n");
    let ids: Vec<String> = (0..3).map(|n| enqueue(&server, &JOB.replace("42", &n.to_string()))).collect();

    let page = run(&server, &["keys", "--limit", "2"]).printed();
    assert!(page.starts_with("HELD FOR  STATE"), "{page}");
    assert!(page.contains(&ids[0]) && page.contains(&ids[1]) && !page.contains(&ids[2]), "{page}");
    assert!(page.contains("\n2 keys of 3 that are held; the next page: --cursor "), "{page}");
    let cursor = page.split("--cursor ").nth(1).unwrap().split(',').next().unwrap();
    let next = run(&server, &["keys", "--limit", "2", "--cursor", cursor]).printed();
    assert!(next.contains(&ids[2]) && !next.contains(&ids[1]) && !next.contains("--cursor"), "{next}");

    let all = run(&server, &["keys", "--limit", "1", "--all"]).printed();
    assert!(ids.iter().all(|id| all.contains(id)), "{all}");
    assert_eq!(all.matches("HELD FOR").count(), 1, "{all}");
    let pages = run(&server, &["keys", "--limit", "2", "--all", "--json"]).printed();
    let pages: Vec<Value> = pages.lines().map(|page| serde_json::from_str(page).unwrap()).collect();
    let lengths: Vec<_> = pages.iter().map(|page| page["keys"].as_array().unwrap().len()).collect();
    assert_eq!(lengths, [2, 1]);

    let other = run(&server, &["keys", "--type", "report.make", "--queue", "default"]).printed();
    assert_eq!(other, "none of 3 that are held\n");
    assert_eq!(run(&server, &["keys", "--older-than", "PT1H"]).printed(), "none of 3 that are held\n");
    run(&server, &["keys", "--older-than", "yesterday"]).failed(1, "--older-than: must be");
}

#[test]
fn a_released_key_lets_an_equal_job_in() {
    let server = started();
    let id = enqueue(&server, JOB);
    let key = key_of(&server, JOB);
    let shown = run(&server, &["keys", "show", &key]).printed();
    assert!(shown.starts_with(&format!("held: {key}\n1 job with this key, 1 live and 0 ended\n")), "{shown}");
    assert!(shown.contains(&id), "{shown}");

    run(&server, &["keys", "release", &key]).failed(2, "hint: say --yes");
    let released = run(&server, &["keys", "release", &key, "--reason", "no\u{1b} reason", "--yes"]).printed();
    assert!(released.starts_with(&format!("released: {key}\n1 job gave it up")), "{released}");
    assert!(released.contains(&id), "{released}");
    assert!(server.get(&format!("/ojs/v1/jobs/{id}")).contains(r"no\u001b reason"));

    run(&server, &["keys", "show", &key]).failed(1, "(404 not_found)");
    run(&server, &["keys", "release", &key, "--yes"]).failed(1, "(404 not_found)");
    assert_ne!(enqueue(&server, JOB), id);
}

#[test]
fn a_job_key_is_removed_by_its_name() {
    let server = started();
    let id = enqueue(&server, r#"{"type":"report.make","args":[],"job_key":"a/b c?\u001b[2J"}"#);
    let listed = run(&server, &["keys"]).printed();
    assert!(listed.contains(r"a/b c?\u{1b}[2J") && !listed.contains('\u{1b}'), "{listed}");
    run(&server, &["keys", "remove", "a/b c?\u{1b}[2J"]).failed(2, "hint: say --yes");
    let removed = run(&server, &["keys", "remove", "a/b c?\u{1b}[2J", "--yes"]).printed();
    assert_eq!(removed, format!("removed: the job key a/b c?\\u{{1b}}[2J, which 1 job held\n  gone  {id}\n"));
    run(&server, &["keys", "remove", "a/b c?\u{1b}[2J", "--yes"]).failed(1, "(404 not_found)");
    run(&server, &["keys", "remove", "", "--yes"]).failed(2, "<NAME>");
}

#[test]
fn a_key_is_shown_from_the_environment_or_from_a_file() {
    let mut serving = hapax(&["--store", "memory"]);
    serving.env("OJS_API_KEY", "0123456789abcdef");
    let server = Server::of(serving);
    run(&server, &["keys"]).failed(1, "hint: put a key of the server into HAPAX_API_KEY");

    let mut from_environment = command(&server, &["keys"]);
    from_environment.env("HAPAX_API_KEY", "0123456789abcdef");
    assert_eq!(ended(from_environment, "").printed(), "no key is held\n");

    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"operator:0123456789abcdef\n").unwrap();
    let path = file.path().to_str().unwrap();
    assert_eq!(run(&server, &["keys", "--api-key-file", path]).printed(), "no key is held\n");

    let mut wrong = command(&server, &["keys"]);
    wrong.env("HAPAX_API_KEY", "wrong-but-secret");
    let wrong = ended(wrong, "");
    assert!(!wrong.err.contains("wrong-but-secret"), "{wrong:?}");
    wrong.failed(1, "(401 unauthenticated)");
}

#[test]
fn a_wrong_command_line_is_told_from_a_failure() {
    let server = started();
    run(&server, &["keys", "show", "nightly-report"]).failed(2, "a key is 64 hexadecimal digits");
    let key = "0".repeat(64);
    run(&server, &["keys", "--type", "a", "show", &key]).failed(2, "--type before `show`");
    run(&server, &["keys", "--server", "https://host"]).failed(2, "does not speak TLS");
    run(&server, &["keys", "--server", "http://127.0.0.1:1"]).failed(
        1,
        "could not reach http://127.0.0.1:1: connection refused\n  hint: is `hapax serve` running",
    );
    run(&server, &["explain"]).failed(2, "<FILE>");
}
