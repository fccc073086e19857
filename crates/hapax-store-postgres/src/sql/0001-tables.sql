-- Times are milliseconds since 1970 by the clock of the database, spans milliseconds; NULL stands for the default.

CREATE TYPE hapax.state AS ENUM
    ('scheduled', 'available', 'pending', 'active', 'retryable', 'completed', 'cancelled', 'discarded');

-- Places: in the order of acceptance (seq), and among all that ever became available (turn: twice the number that was drawn, or
-- one more for those who joined that turn).
CREATE SEQUENCE hapax.numbers;

-- Without CHECKs: PostgreSQL reads them anew for every statement, which takes as long as storing several jobs. Whoever
-- reads a row checks it.
CREATE TABLE hapax.jobs (
    -- What the client asked for.
    id               uuid        PRIMARY KEY,
    seq              bigint      NOT NULL,
    type             text        NOT NULL,
    queue            text        NOT NULL,
    priority         smallint    NOT NULL,
    created_at       bigint      NOT NULL,
    scheduled_at     bigint,
    key              bytea,      -- the unique key that the job carries
    policy           json,       -- the unique policy, or the job key and its mode
    options          json,       -- retry, tags, times, delivery
    args             json        NOT NULL,  -- as sent
    meta             json,       -- as sent
    extra            json,       -- attributes that the server does not know
    -- What became of it.
    state            hapax.state NOT NULL,
    turn             bigint      NOT NULL,
    attempt          integer     NOT NULL,
    fence            bigint      NOT NULL,
    at               bigint,     -- start of a scheduled or retryable job, end of a finished one
    enqueued_at      bigint,
    activated_at     bigint,
    started_at       bigint,
    token            bytea,      -- the lease: 16 random bytes,
    worker           text,       -- who holds it,
    deadline         bigint,     -- until when,
    lease_ms         bigint,     -- and by how much a heartbeat moves that
    times_out_at     bigint,
    detail           text,       -- cancelled: the state before; discarded: the cause
    after            uuid,       -- pending: the job whose end it waits for
    dead_letter      boolean     NOT NULL,  -- whether the dead-letter list shows it
    retry_ms         bigint,
    reentered_beside uuid,
    result           json,       -- as sent
    errors           json,       -- the newest failures
    ledger           json,       -- the duplicates that it turned away, how it lost its key, when it was to start
    due_at           bigint,     -- when something happens to it by itself
    limit_key        text COLLATE "C",  -- the rate limit that it shares
    ordering_key     text COLLATE "C",  -- the line in which it stands
    -- Available, but out of line, because its rate limit leaves no room. Whoever writes the row brings it back.
    held             boolean     NOT NULL DEFAULT false
);

-- The line of a queue: who is next, and who is held back.
CREATE INDEX jobs_line ON hapax.jobs (queue, held, priority DESC, turn, seq) WHERE state = 'available';
-- The lines of a rate limit; its jobs that run; its jobs that live, the newest last.
CREATE INDEX jobs_limit_lines ON hapax.jobs (limit_key, queue, held, priority DESC, turn)
    WHERE limit_key IS NOT NULL AND state = 'available';
CREATE INDEX jobs_limit_active ON hapax.jobs (limit_key) WHERE limit_key IS NOT NULL AND state = 'active';
CREATE INDEX jobs_limit_live ON hapax.jobs (limit_key, seq) WHERE limit_key IS NOT NULL AND state < 'completed';
-- What happens by itself, the most overdue first.
CREATE INDEX jobs_due ON hapax.jobs (due_at, seq) WHERE due_at IS NOT NULL;
-- Who carries a key: those that live, and those that have ended, the newest first.
CREATE INDEX jobs_live_holders ON hapax.jobs (key) WHERE key IS NOT NULL AND state < 'completed';
CREATE INDEX jobs_ended_holders ON hapax.jobs (key, created_at DESC, id DESC)
    WHERE key IS NOT NULL AND state >= 'completed';
-- The list of held keys. Not on `seq` under the conditions of `jobs_live_holders`: the planner could take that for a look
-- at a key, and read all of it.
CREATE INDEX jobs_held ON hapax.jobs ((CASE WHEN key IS NOT NULL AND state < 'completed' THEN seq END))
    WHERE CASE WHEN key IS NOT NULL AND state < 'completed' THEN seq END IS NOT NULL;
-- Who waits for the end of another.
CREATE INDEX jobs_successors ON hapax.jobs (after) WHERE after IS NOT NULL;
-- Lines of jobs with an ordering key that have not ended: those who wait for another by when they joined it, last one first.
CREATE INDEX jobs_orders ON hapax.jobs (queue, ordering_key, (CASE WHEN after IS NULL THEN 0 ELSE turn END) DESC)
    WHERE state < 'completed' AND ordering_key IS NOT NULL;
-- The dead-letter list.
CREATE INDEX jobs_dead_letters ON hapax.jobs (at DESC, id DESC) WHERE dead_letter;

-- Counts that are kept: what transactions added to each queue. Nobody waits for anybody to count; rows are
-- summed now and then. A queue is there since its first row.
CREATE TABLE hapax.tallies (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue        text   NOT NULL,
    created_at   bigint NOT NULL,
    scheduled    bigint NOT NULL DEFAULT 0,
    available    bigint NOT NULL DEFAULT 0,
    pending      bigint NOT NULL DEFAULT 0,
    active       bigint NOT NULL DEFAULT 0,
    retryable    bigint NOT NULL DEFAULT 0,
    completed    bigint NOT NULL DEFAULT 0,
    cancelled    bigint NOT NULL DEFAULT 0,
    discarded    bigint NOT NULL DEFAULT 0,
    keys_held    bigint NOT NULL DEFAULT 0,
    dead_letters bigint NOT NULL DEFAULT 0
);
CREATE INDEX tallies_queue ON hapax.tallies (queue, id);

-- Queues that give out no jobs.
CREATE TABLE hapax.pauses (
    queue text PRIMARY KEY
);

-- Named things beside the jobs: recurring jobs, workflows, settings.
CREATE TABLE hapax.entries (
    register text   NOT NULL,
    name     text   COLLATE "C" NOT NULL,
    body     text   NOT NULL,  -- JSON, as written
    due_at   bigint,           -- when something happens to it by itself
    PRIMARY KEY (register, name)
);
CREATE INDEX entries_due ON hapax.entries (due_at) WHERE due_at IS NOT NULL;

-- Jobs of workflows that ended in a transaction of a user, and jobs that made room for others with the same rate limit: what
-- follows from that is left to the servers.
CREATE TABLE hapax.ends (
    job uuid PRIMARY KEY
);

-- Answers to requests with an Idempotency-Key.
CREATE TABLE hapax.memos (
    name        text     PRIMARY KEY,
    fingerprint bytea    NOT NULL,
    since       bigint   NOT NULL,
    status      smallint NOT NULL,
    body        bytea    NOT NULL
);
CREATE INDEX memos_since ON hapax.memos (since);

-- Rows of jobs change several times in a short life: without this, dead ones pile up until a fifth of the table is dead.
ALTER TABLE hapax.jobs SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05, fillfactor = 90);
ALTER TABLE hapax.tallies SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
