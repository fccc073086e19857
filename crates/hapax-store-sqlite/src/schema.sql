-- One file, written in the order of `seq`. There is no index on disk: what is looked up at random
-- (ids, keys, lines, timers) lives in memory and is rebuilt from these tables at start.
-- Times are milliseconds since 1970, spans milliseconds; NULL stands for the default.

-- What the client asked for. Written once; rewritten only by an update in place.
CREATE TABLE jobs (
    seq        INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL,  -- 16 bytes: hex(id) is the UUID without dashes
    type       TEXT    NOT NULL,
    queue      TEXT    NOT NULL,
    priority   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    key        BLOB,              -- 32 bytes; the unique key that the job carries
    policy     TEXT,              -- JSON: the unique policy, or the job key and its mode; NULL for neither
    options    TEXT,              -- JSON: retry, tags, times, delivery; NULL when all are default
    args       TEXT    NOT NULL,  -- as sent
    meta       TEXT,              -- as sent; NULL for {}
    extra      TEXT               -- attributes that the server does not know; NULL for {}
) STRICT;

-- What became of it. Rewritten at each transition.
CREATE TABLE status (
    seq              INTEGER PRIMARY KEY,  -- the same as in jobs
    state            TEXT    NOT NULL,
    turn             INTEGER NOT NULL,     -- place among all that ever became available
    attempt          INTEGER NOT NULL,
    fence            INTEGER NOT NULL,
    at               INTEGER,              -- start of a scheduled or retryable job, end of a finished one
    enqueued_at      INTEGER,
    activated_at     INTEGER,
    started_at       INTEGER,
    token            BLOB,                 -- the lease: 16 random bytes,
    worker           TEXT,                 -- who holds it,
    deadline         INTEGER,              -- until when,
    lease_ms         INTEGER,              -- and by how much a heartbeat moves that
    times_out_at     INTEGER,
    detail           TEXT,                 -- cancelled: the state before; discarded: the cause;
                                           -- pending: the id of the job whose end it waits for
    dead_letter      INTEGER,              -- 1 if the dead-letter list shows it
    retry_ms         INTEGER,
    reentered_beside BLOB,
    result           TEXT,                 -- as sent
    errors           TEXT,                 -- JSON: the newest failures
    ledger           TEXT                  -- JSON: the duplicates that it turned away, how it lost
                                           -- its key, when it was to start before they moved that
) STRICT;

-- Queues that were ever used.
CREATE TABLE queues (
    name       TEXT    PRIMARY KEY,
    paused     INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Named things beside the jobs: recurring jobs, workflows, settings.
CREATE TABLE entries (
    register TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    body     TEXT    NOT NULL,  -- JSON
    due_at   INTEGER,           -- when something happens to it by itself
    PRIMARY KEY (register, name)
) STRICT, WITHOUT ROWID;

-- Answers to requests with an Idempotency-Key.
CREATE TABLE memos (
    seq         INTEGER PRIMARY KEY,
    name        TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    since       INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB    NOT NULL
) STRICT;

-- What this file is: format, and how often it was opened.
CREATE TABLE about (
    name  TEXT    PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;
