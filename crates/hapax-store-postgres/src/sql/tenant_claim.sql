-- The first jobs of one tenant among the first $6 in the line of a queue, as claim.sql fetches those of everybody. Which
-- jobs these are is seen from their metadata ($7), and what only looks like it is left out by whoever asked ($8 more).
WITH ahead AS MATERIALIZED (
    SELECT j.id
    FROM hapax.jobs j
    WHERE j.queue = $1 AND NOT j.held AND j.state = 'available'
        AND NOT EXISTS (SELECT 1 FROM hapax.pauses p WHERE p.queue = $1){unlimited}
    ORDER BY j.priority DESC, j.turn, j.seq
    LIMIT $6::bigint
), line AS MATERIALIZED (
    SELECT {columns}, octet_length(j.args::text) + coalesce(octet_length(j.meta::text), 0)
        -- A checkpoint stands in the ledger, and twice in the answer to a worker.
        + coalesce(octet_length(j.extra::text), 0) + 2 * coalesce(octet_length(j.ledger::text), 0) AS bytes
    FROM hapax.jobs j
    WHERE j.id IN (SELECT a.id FROM ahead a)
        -- The row may be newer than the look ahead.
        AND j.queue = $1 AND j.state = 'available'
        AND j.meta::text ~ $7::text
    ORDER BY j.priority DESC, j.turn, j.seq
    LIMIT $2::bigint + $8::bigint + (
        SELECT count(*) FROM (
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
