-- The first jobs of one tenant among the first $6 in the line of a queue, as claim.sql fetches those of everybody. Which
-- jobs these are is seen from their metadata ($7), and what only looks like it is left out by whoever asked ($8 more).
WITH ahead AS MATERIALIZED (
    SELECT j.id, j.limit_key, j.priority, j.turn, j.seq
    FROM hapax.jobs j
    WHERE j.queue = $1 AND NOT j.held AND j.state = 'available'
        AND NOT EXISTS (SELECT 1 FROM hapax.pauses p WHERE p.queue = $1){unlimited}
    ORDER BY j.priority DESC, j.turn, j.seq
    LIMIT $6::bigint
), limits AS MATERIALIZED (
    SELECT a.limit_key AS key, count(*) OVER () AS total FROM ahead a WHERE a.limit_key IS NOT NULL GROUP BY a.limit_key
), look AS MATERIALIZED (
    SELECT f.id FROM (
        SELECT a.id, a.priority, a.turn, a.seq FROM ahead a
        UNION ALL
        -- Where one of a limit is in line there may be room for those behind it, and they may be the tenant's. All of them
        -- are looked at, unless there are more limits than this.
        SELECT h.id, h.priority, h.turn, h.seq
        FROM limits l
        CROSS JOIN LATERAL (
            SELECT j.id, j.priority, j.turn, j.seq FROM hapax.jobs j
            WHERE j.limit_key = l.key AND j.limit_key IS NOT NULL AND j.queue = $1 AND j.held AND j.state = 'available'
            ORDER BY j.priority DESC, j.turn
            LIMIT least($6::bigint, 16 * $6::bigint / l.total)
        ) h
    ) f
    ORDER BY f.priority DESC, f.turn, f.seq
    LIMIT $6::bigint
), line AS MATERIALIZED (
    SELECT {columns}, octet_length(j.args::text) + coalesce(octet_length(j.meta::text), 0)
        -- A checkpoint stands in the ledger, and twice in the answer to a worker.
        + coalesce(octet_length(j.extra::text), 0) + 2 * coalesce(octet_length(j.ledger::text), 0) AS bytes
    FROM hapax.jobs j
    WHERE j.id IN (SELECT k.id FROM look k)
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
