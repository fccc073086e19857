//! The examples in the documents do what the documents say.

use std::path::Path;

use e2e::{Answer, Client, Request, Server};

/// The shell examples of a page, in order.
fn blocks(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut parts = text.split("```sh\n").skip(1);
    parts.by_ref().map(|part| part.split("```").next().unwrap_or_default().to_owned()).collect()
}

/// What a shell takes for its own outside of quotes.
const OF_SHELLS: &[char] =
    &['&', ';', '|', '<', '>', '(', ')', '$', '`', '\\', '"', '*', '?', '[', ']', '{', '}', '~', '!'];

/// The words of a shell command: quotes are the only thing the documents need, and what else a shell would not pass on
/// as it is has to stand in them.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut begun) = (Vec::new(), String::new(), false, false);
    for letter in command.chars() {
        match letter {
            '\'' => (quoted, begun) = (!quoted, true),
            letter if letter.is_whitespace() && !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            letter if OF_SHELLS.contains(&letter) && !quoted => panic!("unquoted {letter:?}: {command}"),
            letter => {
                word.push(letter);
                begun = true;
            }
        }
    }
    assert!(!quoted, "a quote has no end: {command}");
    if begun {
        words.push(word);
    }
    words
}

/// The request that a curl command sends.
#[expect(clippy::expect_used, reason = "an example that is not of the usual form fails its test")]
fn request(command: &str) -> Request {
    let mut words = words(command).into_iter().skip(1);
    let (mut method, mut path, mut headers, mut body) = (None, None, Vec::new(), None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-s" | "-sN" => {}
            "-X" => method = words.next(),
            "-H" => headers.extend(words.next()),
            "-d" => body = words.next(),
            url => path = Some(url.strip_prefix("http://127.0.0.1:8080").expect(command).to_owned()),
        }
    }
    let usual = if body.is_some() { "POST" } else { "GET" };
    let mut request = Request::new(method.as_deref().unwrap_or(usual), &path.expect(command));
    for header in headers {
        let (name, value) = header.split_once(": ").expect(command);
        request = request.header(name, value);
    }
    match body {
        Some(body) => request.body(body),
        None => request,
    }
}

/// Runs commands, with the id, the lease, the key and the workflow of the newest answer that had them.
struct Reader {
    client: Client,
    id: String,
    lease: String,
    key: String,
    workflow: String,
}

impl Reader {
    fn of(server: &Server) -> Reader {
        let [id, lease, key, workflow] = ["ID", "LEASE", "KEY", "WORKFLOW"].map(String::from);
        Reader { client: server.client(), id, lease, key, workflow }
    }

    fn run(&mut self, command: &str) -> Answer {
        let command = command.replace("\\\n", " ");
        // The words stand for the values only where a value can stand.
        let command =
            command.replace("\"ID\"", &format!("\"{}\"", self.id)).replace("/ID", &format!("/{}", self.id));
        let command = command.replace("/KEY", &format!("/{}", self.key));
        let command = command.replace("/WORKFLOW", &format!("/{}", self.workflow));
        let answer =
            self.client.send(&request(&command.replace("\"LEASE\"", &format!("\"{}\"", self.lease))));
        for pointer in ["/job", "/jobs/0"] {
            let job = answer.json.pointer(pointer);
            let text = |name| job.and_then(|job| job.get(name)).and_then(|value| value.as_str());
            self.id = text("id").map_or_else(|| self.id.clone(), str::to_owned);
            self.lease = text("lease").map_or_else(|| self.lease.clone(), str::to_owned);
        }
        self.key = answer["key"].as_str().map_or_else(|| self.key.clone(), str::to_owned);
        let workflow = answer.json.pointer("/workflow/id").and_then(|id| id.as_str());
        self.workflow = workflow.map_or_else(|| self.workflow.clone(), str::to_owned);
        answer
    }
}

#[test]
fn the_readme_shows_a_unique_job_from_its_first_request_to_its_end() {
    let server = Server::start();
    let mut reader = Reader::of(&server);
    let blocks = blocks("README.md");
    let commands: Vec<&String> = blocks.iter().filter(|block| block.starts_with("curl")).collect();
    let [enqueue, fetch, acknowledge] = commands[..] else { panic!("three commands: {commands:?}") };
    assert_eq!(reader.run(enqueue).is(201)["outcome"], "created");
    let again = reader.run(&enqueue.replace("spring", "autumn"));
    assert_eq!(again.is(200)["outcome"], "existing");
    assert_eq!(again["deduplicated"], true);
    reader.run(fetch).is(200);
    assert_eq!(reader.run(acknowledge).is(200)["state"], "completed");
    assert_eq!(reader.run(enqueue).is(201)["outcome"], "created");
}

/// Runs the examples of a page; the comment above each is the status, and the outcome if there is one.
fn check_page(page: &str, at_least: usize) {
    let server = Server::start();
    let mut reader = Reader::of(&server);
    let mut run = 0;
    for block in blocks(page) {
        for example in block.split("# ").skip(1) {
            let (expected, command) = example.split_once('\n').unwrap_or((example, ""));
            let (status, outcome) = expected.split_once(' ').unwrap_or((expected, ""));
            let answer = reader.run(command);
            assert_eq!(answer.status.to_string(), status, "{page}: {command}\n{}", answer.body);
            let told = answer["outcome"].as_str().unwrap_or_default();
            assert!(outcome.is_empty() || outcome == told, "{page}: {command}\n{}", answer.body);
            run += 1;
        }
    }
    assert!(run >= at_least, "{page}: only {run} examples");
}

#[test]
fn every_example_of_the_http_page_answers_as_it_says() {
    check_page("docs/http.md", 50);
}

#[test]
fn every_example_of_the_progress_page_answers_as_it_says() {
    check_page("docs/progress.md", 20);
}

#[test]
fn every_example_about_rate_limits_answers_as_it_says() {
    check_page("docs/rate-limits.md", 19);
}

#[test]
fn every_example_for_operators_answers_as_it_says() {
    check_page("docs/admin.md", 45);
}

#[test]
fn every_example_about_order_answers_as_it_says() {
    check_page("docs/ordering.md", 5);
}

#[test]
fn every_example_about_queues_and_recurring_jobs_answers_as_it_says() {
    check_page("docs/queues.md", 20);
    check_page("docs/recurring-jobs.md", 10);
}

#[test]
fn every_example_about_workflows_answers_as_it_says() {
    check_page("docs/workflows.md", 15);
}

#[test]
fn every_example_about_delivery_and_events_answers_as_it_says() {
    check_page("docs/delivery.md", 4);
    check_page("docs/events.md", 5);
}

#[test]
fn the_page_about_agents_works() {
    check_page("docs/agents.md", 6);
}

#[test]
fn every_example_about_schemas_and_tenants_answers_as_it_says() {
    check_page("docs/schemas.md", 13);
    check_page("docs/tenants.md", 7);
}

#[test]
fn every_example_for_people_who_come_from_elsewhere_answers_as_it_says() {
    for (page, examples) in
        [("oban", 5), ("graphile-worker", 8), ("stem", 5), ("river", 6), ("bullmq", 8), ("sidekiq", 6)]
    {
        check_page(&format!("docs/coming-from/{page}.md"), examples);
    }
}
