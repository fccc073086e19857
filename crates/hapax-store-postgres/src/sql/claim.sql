-- The first jobs in the line of a queue that nobody else has locked: as many as are wanted, and as many more as have
-- expired. Those beyond the bytes that a claim may carry are left out; their locks are let go with the transaction.
WITH line AS MATERIALIZED (
    SELECT l.id, l.priority, l.turn, octet_length(l.args::text) + coalesce(octet_length(l.meta::text), 0) AS bytes
    FROM hapax.jobs l
    WHERE l.queue = $1 AND l.state = 'available'
    ORDER BY l.priority DESC, l.turn
    LIMIT $2::bigint + (
        SELECT count(*) FROM (
            SELECT 1 FROM hapax.jobs e
            WHERE e.due_at <= $4::bigint AND e.due_at IS NOT NULL AND e.state = 'available' AND e.queue = $1
            LIMIT $5::bigint
        ) x
    )
    FOR UPDATE SKIP LOCKED
), carried AS (
    SELECT id, sum(bytes) OVER (ORDER BY priority DESC, turn) - bytes AS before FROM line
)
SELECT {columns} FROM hapax.jobs j JOIN carried c ON c.id = j.id
WHERE c.before < $3::bigint ORDER BY j.priority DESC, j.turn
