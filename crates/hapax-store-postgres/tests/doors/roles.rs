//! The roles of docs/sql.md may do what they are for, and nothing else; and Graphile's words mean what its page says.

use hapax_core::Rules;
use hapax_pg_cluster::Cluster;
use hapax_store_postgres::{PostgresStore, Settings};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_postgres::Client;
use tokio_postgres::error::{DbError, SqlState};

use crate::rig::{connect, runtime};

const PAGE: &str = include_str!("../../../../docs/sql.md");

/// The statements under a heading of the page.
fn statements(heading: &str) -> &'static str {
    let section = PAGE.split_once(heading).unwrap().1;
    section.split_once("```sql\n").unwrap().1.split_once("```").unwrap().0
}

struct Desk {
    runtime: Runtime,
    client: Client,
    _store: PostgresStore,
    _database: hapax_pg_cluster::Database,
}

fn desk() -> Desk {
    let database = Cluster::shared().database();
    let settings = Settings::new(database.url().parse().unwrap(), Rules::default());
    let store = PostgresStore::open(settings).unwrap();
    let runtime = runtime();
    let client = connect(&runtime, &database.url());
    Desk { runtime, client, _store: store, _database: database }
}

impl Desk {
    fn run(&self, sql: &str) {
        self.runtime.block_on(self.client.batch_execute(sql)).unwrap();
    }

    fn ask(&self, sql: &str) -> Result<Value, Box<DbError>> {
        let row = self.runtime.block_on(self.client.query_one(&format!("SELECT ({sql})::text"), &[]));
        let text = row.map(|row| row.get::<_, Option<String>>(0).unwrap_or_default());
        text.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text)))
            .map_err(|error| Box::new(error.as_db_error().unwrap().clone()))
    }

    fn denied(&self, sql: &str) {
        assert_eq!(self.ask(sql).unwrap_err().code(), &SqlState::INSUFFICIENT_PRIVILEGE, "{sql}");
    }
}

#[test]
fn producers_and_workers_may_only_call_their_functions() {
    let desk = desk();
    desk.run(statements("## Roles"));
    let job = "'{\"type\":\"a\",\"args\":[],\"unique\":{}}'";
    desk.run("SET ROLE hapax_producer");
    assert_eq!(desk.ask(&format!("hapax.enqueue({job}) ->> 'outcome'")).unwrap(), "created");
    desk.ask("hapax.add_job('a', job_key := 'k')").unwrap();
    desk.ask("hapax.remove_job('k')").unwrap();
    for other in [
        "SELECT count(*) FROM hapax.jobs",
        "hapax.complete(gen_random_uuid(), '')",
        "hapax.now_ms()",
        "hapax.canonical('1')",
        "nextval('hapax.numbers')",
    ] {
        desk.denied(other);
    }
    desk.run("SET ROLE hapax_worker");
    let unknown = desk.ask("hapax.complete('01a31895-ca17-7000-8000-000000000001', '')").unwrap_err();
    assert_eq!(unknown.code().code(), "HX404");
    desk.denied(&format!("hapax.enqueue({job})"));
    desk.denied("SELECT count(*) FROM hapax.jobs");
    desk.run(
        "RESET ROLE; DROP OWNED BY hapax_producer, hapax_worker; DROP ROLE hapax_producer, hapax_worker",
    );
    // Nobody else may, and nothing of a caller's is found first.
    desk.run(
        "CREATE ROLE nobody_special; GRANT USAGE ON SCHEMA hapax TO nobody_special; SET ROLE nobody_special",
    );
    desk.denied(&format!("hapax.enqueue({job})"));
    desk.run("RESET ROLE; DROP OWNED BY nobody_special; DROP ROLE nobody_special");
}

#[test]
fn a_search_path_of_the_caller_changes_nothing() {
    let desk = desk();
    desk.run(
        "CREATE SCHEMA evil; \
         CREATE FUNCTION evil.left(text, integer) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'fooled'; END $$; \
         CREATE FUNCTION evil.jsonb_typeof(jsonb) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'fooled'; END $$; \
         SET search_path = evil, pg_catalog; SET extra_float_digits = 0; SET standard_conforming_strings = off",
    );
    let said = desk.ask(
        "hapax.enqueue('{\"type\":\"a\",\"args\":[0.1234567890123456],\"unique\":{\"keys\":[\"args\"]}}')",
    );
    let expected =
        hapax_core::unique::Key::of_text(r#"{"args":[0.1234567890123456],"type":"a"}"#).to_string();
    assert_eq!(said.unwrap()["job"]["unique"]["uniqueness_key"], expected);
}

#[test]
fn the_words_of_graphile_worker_mean_what_its_page_says() {
    let desk = desk();
    let first = desk.ask("hapax.add_job('send_email', '{\"count\": 1}', job_key := 'abc')").unwrap();
    assert_eq!(first["outcome"], "created");
    let second = desk
        .ask(
            "hapax.add_job('send_email', '{\"count\": 2}', queue_name := 'mail', run_at := now() + interval '1 hour', \
             max_attempts := 7, job_key := 'abc', priority := -5)",
        )
        .unwrap();
    assert_eq!(second["outcome"], "updated");
    let job = &second["job"];
    assert_eq!(job["id"], first["job"]["id"]);
    assert_eq!(
        (&job["args"], &job["queue"], &job["max_attempts"]),
        (&json!([{"count": 2}]), &json!("mail"), &json!(7))
    );
    assert_eq!(
        (&job["priority"], &job["state"]),
        (&json!(5), &json!("scheduled")),
        "the smaller number goes first there"
    );
    for id in ["[{\"id\": 1}]", "[{\"id\": 2}]"] {
        let sql = format!(
            "hapax.add_job('process_events', '{id}', job_key := 'batch', job_key_mode := 'preserve_run_at', \
             run_at := now() + interval '10 seconds')"
        );
        desk.ask(&sql).unwrap();
    }
    let merged = desk.ask("SELECT args FROM hapax.jobs WHERE type = 'process_events'").unwrap();
    assert_eq!(merged, json!([[{"id": 1}, {"id": 2}]]));
    assert_eq!(desk.ask("hapax.add_job('nothing') -> 'job' -> 'args'").unwrap(), json!([{}]));
    assert_eq!(desk.ask("hapax.remove_job('abc')").unwrap()["removed"], json!([job["id"]]));
    assert_eq!(desk.ask("hapax.remove_job('abc')").unwrap()["removed"], json!([]));
    for (wrong, message) in [
        (
            "hapax.add_job('a', flags := ARRAY['x'])",
            "flags: this server does not have flags; leave the argument out",
        ),
        ("hapax.add_job('a', run_at := 'infinity')", "run_at: must be a time, not infinity"),
        ("hapax.add_job(NULL)", "identifier: is required: the kind of work, such as \"email.send\""),
        ("hapax.add_job('a', priority := 101)", "priority: must be at least -100, not -101"),
        (
            "hapax.add_job('a', job_key_mode := 'unsafe_dedupe')",
            "job_key_mode: says what becomes of the job with a job_key; send job_key as well",
        ),
        ("hapax.enqueue(NULL)", "the job: must be an object, or an array of objects, not null"),
        ("hapax.complete(NULL, 'x')", "job_id: is required: the id of the job"),
        ("hapax.fail(gen_random_uuid(), NULL)", "lease: is required: the lease of the fetched job"),
    ] {
        let error = desk.ask(wrong).unwrap_err();
        assert_eq!((error.code().code(), error.message()), ("22023", message));
        assert!(error.hint().is_some() && error.detail().is_some());
    }
}
