//! The statements, turned to the schema once.

use crate::row::COLUMNS;
use crate::settings::SchemaName;

/// Every statement that the engine sends often.
#[derive(Debug)]
pub(crate) struct Statements {
    /// Which one.
    pub(crate) schema: SchemaName,
    pub(crate) try_lock: String,
    pub(crate) lock: String,
    pub(crate) numbers: String,
    pub(crate) glance: String,
    pub(crate) is_waited_for: String,
    pub(crate) is_taken: String,
    pub(crate) load: String,
    pub(crate) load_waiting: String,
    pub(crate) load_successors: String,
    pub(crate) load_successors_waiting: String,
    pub(crate) carriers: String,
    pub(crate) key_of: String,
    pub(crate) keys: String,
    pub(crate) memos: String,
    pub(crate) delete: String,
    pub(crate) tally: String,
    pub(crate) keep_memos: String,
    pub(crate) forget_memos: String,
    pub(crate) line: String,
    pub(crate) tenant_line: String,
    pub(crate) limited_line: String,
    pub(crate) limited_tenant_line: String,
    pub(crate) limit_lines: String,
    pub(crate) limit_active: String,
    pub(crate) queue_active: String,
    pub(crate) hold_back: String,
    pub(crate) hold_back_own: String,
    pub(crate) let_in: String,
    pub(crate) limit_facts: String,
    pub(crate) limit_newest: String,
    pub(crate) limit_keys: String,
    pub(crate) open_queues: String,
    pub(crate) due: String,
    pub(crate) next_due: String,
    pub(crate) notify: String,
    pub(crate) clock: String,
    pub(crate) rules: String,
    pub(crate) fold_tallies: String,
    pub(crate) forget_tallies: String,
    pub(crate) pause: String,
    pub(crate) resume: String,
    pub(crate) queue: String,
    pub(crate) queues: String,
    pub(crate) queue_count: String,
    pub(crate) totals: String,
    pub(crate) job: String,
    pub(crate) jobs: String,
    pub(crate) live_holders: String,
    pub(crate) ended_holders: String,
    pub(crate) covered_holder: String,
    pub(crate) count_holders: String,
    pub(crate) held: String,
    pub(crate) newest_places: String,
    pub(crate) oldest_places: String,
    pub(crate) dead_letters: String,
    pub(crate) count_dead_letters: String,
    pub(crate) entries: String,
    pub(crate) put_entries: String,
    pub(crate) remove_entries: String,
    pub(crate) due_entries: String,
    pub(crate) entry: String,
    pub(crate) entry_page: String,
    pub(crate) count_entries: String,
    pub(crate) workflows_of: String,
    pub(crate) depth: String,
    pub(crate) lasts: String,
    pub(crate) oldest: String,
    pub(crate) ends: String,
    pub(crate) note_ends: String,
    pub(crate) forget_ends: String,
    pub(crate) clear: String,
}

/// That no operator limits the queue. Claims on those that are limited take their time.
const UNLIMITED: &str = " AND NOT EXISTS (SELECT 1 FROM hapax.entries q \
     WHERE q.register = 'limit' AND q.name = '@queue-limit:' || $1)";

impl Statements {
    #[expect(clippy::too_many_lines, reason = "a list")]
    pub(crate) fn of(schema: &SchemaName) -> Statements {
        let nulls = vec!["NULL"; COLUMNS.split(',').count()].join(", ");
        let of = |sql: &str| schema.statement(&sql.replace("{columns}", COLUMNS).replace("{nulls}", &nulls));
        let (load, successors) = (include_str!("sql/load.sql"), include_str!("sql/successors.sql"));
        let places = include_str!("sql/places.sql");
        let holders = |part: &str| {
            format!("SELECT {{columns}} FROM hapax.jobs j WHERE j.key = $1 AND j.key IS NOT NULL AND {part}")
        };
        Statements {
            schema: schema.clone(),
            try_lock: of(
                "SELECT n FROM unnest($1::bigint[]) AS u (n) WHERE NOT pg_try_advisory_xact_lock(n)",
            ),
            lock: of("SELECT pg_advisory_xact_lock(n) FROM unnest($1::bigint[]) AS u (n)"),
            numbers: of("SELECT nextval('hapax.numbers') FROM generate_series(1, $1::bigint)"),
            glance: of(
                "SELECT {columns} FROM hapax.jobs j WHERE j.id = ANY ($1::uuid[]) FOR UPDATE SKIP LOCKED",
            ),
            is_waited_for: of("SELECT 1 FROM hapax.jobs w WHERE w.after = ANY ($1::uuid[]) \
                 AND w.after IS NOT NULL LIMIT 1"),
            is_taken: of(include_str!("sql/is_taken.sql")),
            load: of(&load.replace("{waits}", "SKIP LOCKED")),
            load_waiting: of(&load.replace("{waits}", "")),
            load_successors: of(&successors.replace("{waits}", "SKIP LOCKED")),
            load_successors_waiting: of(&successors.replace("{waits}", "")),
            carriers: of("SELECT j.id FROM hapax.jobs j WHERE j.key = $1 AND j.key IS NOT NULL \
                 AND j.state = ANY ($2::text[]::hapax.state[]) \
                 ORDER BY j.state >= 'completed', j.created_at DESC, j.id DESC"),
            key_of: of("SELECT j.key FROM hapax.jobs j WHERE j.id = $1"),
            keys: of("SELECT j.key, j.policy::text FROM hapax.jobs j \
                 WHERE j.id = ANY ($1::uuid[]) AND j.key IS NOT NULL AND j.policy IS NOT NULL"),
            memos: of(
                "SELECT name, fingerprint, since, status, body FROM hapax.memos WHERE name = ANY ($1::text[])",
            ),
            delete: of("DELETE FROM hapax.jobs WHERE id = ANY ($1::uuid[])"),
            tally: of(include_str!("sql/tally.sql")),
            keep_memos: of(include_str!("sql/keep_memos.sql")),
            forget_memos: of("DELETE FROM hapax.memos WHERE since <= $1"),
            line: of(&include_str!("sql/claim.sql").replace("{unlimited}", UNLIMITED)),
            limited_line: of(&include_str!("sql/claim.sql").replace("{unlimited}", "")),
            tenant_line: of(&include_str!("sql/tenant_claim.sql").replace("{unlimited}", UNLIMITED)),
            limited_tenant_line: of(&include_str!("sql/tenant_claim.sql").replace("{unlimited}", "")),
            open_queues: of(include_str!("sql/open_queues.sql")),
            due: of("SELECT {columns} FROM hapax.jobs j WHERE j.due_at <= $1 AND j.due_at IS NOT NULL \
                 ORDER BY j.due_at, j.seq LIMIT $2 FOR UPDATE SKIP LOCKED"),
            next_due: of("SELECT least( \
                 (SELECT min(due_at) FROM hapax.jobs WHERE due_at IS NOT NULL AND due_at > $1), \
                 (SELECT min(due_at) FROM hapax.entries WHERE due_at IS NOT NULL AND due_at > $1))"),
            notify: of("SELECT pg_notify($1, queue || ' ' || $2) FROM unnest($3::text[]) AS u (queue)"),
            rules: of("UPDATE hapax.rules SET completed_ms = $1, cancelled_ms = $2, discarded_ms = $3, \
                 visibility_ms = $4, joined_bytes_max = $5 \
                 WHERE (completed_ms, cancelled_ms, discarded_ms, visibility_ms, joined_bytes_max) \
                 IS DISTINCT FROM ($1, $2, $3, $4, $5)"),
            clock: of("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"),
            fold_tallies: of(include_str!("sql/fold_tallies.sql")),
            forget_tallies: of(include_str!("sql/forget_tallies.sql")),
            pause: of("INSERT INTO hapax.pauses (queue) VALUES ($1) ON CONFLICT DO NOTHING"),
            resume: of("DELETE FROM hapax.pauses WHERE queue = $1"),
            queue: of(&include_str!("sql/queues.sql").replace("{which}", "WHERE t.queue = $1")),
            queues: of(&format!(
                "{} ORDER BY t.queue COLLATE \"C\" OFFSET $2 LIMIT $3",
                include_str!("sql/queues.sql")
                    .replace("{which}", "WHERE $1::text IS NULL OR t.queue COLLATE \"C\" > $1")
            )),
            queue_count: of("SELECT count(DISTINCT queue) FROM hapax.tallies"),
            totals: of(include_str!("sql/totals.sql")),
            job: of("SELECT {columns} FROM hapax.jobs j WHERE j.id = $1"),
            jobs: of("SELECT {columns} FROM hapax.jobs j WHERE j.id = ANY ($1::uuid[]) ORDER BY j.seq"),
            live_holders: of(&holders("j.state < 'completed'")),
            ended_holders: of(&format!(
                "{} ORDER BY j.created_at DESC, j.id DESC LIMIT $2",
                holders("j.state >= 'completed'")
            )),
            covered_holder: of(&format!(
                "{} ORDER BY j.created_at DESC, j.id DESC LIMIT 1",
                holders(
                    "j.state >= 'completed' AND j.state = ANY ($2::text[]::hapax.state[]) AND ($3::bigint IS NULL \
                     OR $3 < CASE $4 WHEN 'created_at' THEN j.created_at \
                     WHEN 'scheduled_at' THEN coalesce(j.scheduled_at, j.created_at) ELSE j.at END)"
                )
            )),
            count_holders: of("SELECT count(*) FILTER (WHERE state < 'completed'), \
                 count(*) FILTER (WHERE state >= 'completed') FROM hapax.jobs WHERE key = $1"),
            held: of(include_str!("sql/held.sql")),
            newest_places: of(&places.replace("{beyond}", "<").replace("{order}", "DESC")),
            oldest_places: of(&places.replace("{beyond}", ">").replace("{order}", "ASC")),
            dead_letters: of(include_str!("sql/dead_letters.sql")),
            count_dead_letters: of("SELECT coalesce(sum(dead_letters), 0)::bigint FROM hapax.tallies \
                 WHERE $1::text IS NULL OR queue = $1"),
            entries: of("SELECT e.register, e.name, e.body, e.due_at FROM hapax.entries e \
                 JOIN unnest($1::text[], $2::text[]) AS u (register, name) USING (register, name)"),
            put_entries: of("INSERT INTO hapax.entries (register, name, body, due_at) \
                 SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) \
                 ON CONFLICT (register, name) DO UPDATE SET body = excluded.body, due_at = excluded.due_at"),
            remove_entries: of(
                "DELETE FROM hapax.entries e USING unnest($1::text[], $2::text[]) AS u (register, name) \
                 WHERE e.register = u.register AND e.name = u.name",
            ),
            due_entries: of("SELECT register, name, body, due_at FROM hapax.entries \
                 WHERE due_at <= $1 AND due_at IS NOT NULL ORDER BY due_at, register, name LIMIT $2"),
            entry: of(
                "SELECT register, name, body, due_at FROM hapax.entries WHERE register = $1 AND name = $2",
            ),
            entry_page: of("SELECT register, name, body, due_at FROM hapax.entries \
                 WHERE register = $1 AND name >= $2 AND starts_with(name, $2) AND ($3::text IS NULL OR name > $3) \
                 AND ($5::text IS NULL OR name < $5) ORDER BY name LIMIT $4"),
            count_entries: of("SELECT count(*) FROM hapax.entries \
                 WHERE register = $1 AND name >= $2 AND starts_with(name, $2) AND ($3::text IS NULL OR name < $3)"),
            workflows_of: of("SELECT DISTINCT j.options ->> 'workflow' FROM hapax.jobs j \
                 WHERE j.id = ANY ($1::uuid[]) AND j.options ->> 'workflow' IS NOT NULL"),
            depth: of("SELECT coalesce(sum(scheduled + available + pending + retryable), 0)::bigint \
                 FROM hapax.tallies WHERE queue = $1"),
            lasts: of(include_str!("sql/lasts.sql")),
            oldest: of(include_str!("sql/oldest.sql")),
            limit_lines: of(include_str!("sql/limit_lines.sql")),
            limit_active: of("SELECT (SELECT count(*) FROM hapax.jobs j WHERE j.limit_key = k.key \
                 AND j.limit_key IS NOT NULL AND j.state = 'active') \
                 FROM unnest($1::text[]) WITH ORDINALITY AS k (key, place) ORDER BY k.place"),
            queue_active: of("SELECT coalesce(sum(active), 0)::bigint FROM hapax.tallies WHERE queue = $1"),
            hold_back: of(include_str!("sql/hold_back.sql")),
            hold_back_own: of("UPDATE hapax.jobs SET held = true WHERE id = ANY ($1::uuid[])"),
            let_in: of(include_str!("sql/let_in.sql")),
            limit_facts: of("SELECT (SELECT count(*) FROM hapax.jobs j WHERE j.limit_key = $1 \
                 AND j.limit_key IS NOT NULL AND j.state = 'active'), (SELECT count(*) FROM (SELECT 1 FROM hapax.jobs j \
                 WHERE j.limit_key = $1 AND j.limit_key IS NOT NULL AND j.state = 'available' LIMIT $2) x)"),
            limit_newest: of(
                "SELECT {columns} FROM hapax.jobs j WHERE j.limit_key = $1 AND j.limit_key IS NOT NULL \
                 AND j.state < 'completed' ORDER BY j.seq DESC LIMIT 1",
            ),
            limit_keys: of(include_str!("sql/limit_keys.sql")),
            ends: of("SELECT job FROM hapax.ends LIMIT $1 FOR UPDATE SKIP LOCKED"),
            note_ends: of("INSERT INTO hapax.ends (job) SELECT unnest($1::uuid[]) ON CONFLICT DO NOTHING"),
            forget_ends: of("DELETE FROM hapax.ends WHERE job = ANY ($1::uuid[])"),
            clear: of(
                "TRUNCATE hapax.jobs, hapax.tallies, hapax.pauses, hapax.memos, hapax.entries, hapax.ends",
            ),
        }
    }
}
