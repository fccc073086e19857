-- The first jobs in the line of a queue that nobody else has locked: as many as are wanted, and as many more as have
-- expired. Those beyond the bytes that a claim may carry are left out; their locks are let go with the transaction.
-- The columns are read where the lock is taken: a row may be newer than the statement.
WITH line AS MATERIALIZED (
    SELECT {columns}, octet_length(j.args::text) + coalesce(octet_length(j.meta::text), 0)
        -- A checkpoint stands in the ledger, and twice in the answer to a worker.
        + coalesce(octet_length(j.extra::text), 0) + 2 * coalesce(octet_length(j.ledger::text), 0) AS bytes
    FROM hapax.jobs j
    WHERE j.queue = $1 AND NOT j.held AND j.state = 'available'
        AND NOT EXISTS (SELECT 1 FROM hapax.pauses p WHERE p.queue = $1){unlimited}
    ORDER BY j.priority DESC, j.turn, j.seq
    LIMIT $2::bigint + (
        SELECT count(*) FROM (
            -- By what is due, which is little: not by the line, which may be long.
            SELECT 1 FROM hapax.jobs e
            WHERE e.due_at <= $4::bigint AND e.due_at IS NOT NULL
                AND e.state::text = 'available' AND e.queue || '' = $1
            LIMIT $5::bigint
        ) x
    )
    FOR UPDATE SKIP LOCKED
)
SELECT c.* FROM (SELECT l.*, sum(l.bytes) OVER (ORDER BY l.priority DESC, l.turn, l.seq) - l.bytes AS before FROM line l) c
WHERE c.before < $3::bigint
ORDER BY c.priority DESC, c.turn, c.seq
