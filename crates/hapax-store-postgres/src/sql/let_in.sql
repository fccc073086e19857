-- Brings the first job of each rate limit back into the line of each of its queues: there may be room for it, and whoever
-- looks at it sees the others behind it. Names the queues.
WITH RECURSIVE places AS (
    SELECT k.key, (
        SELECT j.queue FROM hapax.jobs j
        WHERE j.limit_key = k.key AND j.limit_key IS NOT NULL AND j.state = 'available'
        ORDER BY j.queue LIMIT 1
    ) AS queue
    FROM unnest($1::text[]) AS k (key)
    UNION ALL
    -- From queue to queue, not from job to job.
    SELECT p.key, (
        SELECT j.queue FROM hapax.jobs j
        WHERE j.limit_key = p.key AND j.limit_key IS NOT NULL AND j.state = 'available' AND j.queue > p.queue
        ORDER BY j.queue LIMIT 1
    )
    FROM places p WHERE p.queue IS NOT NULL
)
UPDATE hapax.jobs SET held = false
WHERE id = ANY (ARRAY(
    SELECT l.id
    FROM (SELECT p.key, p.queue FROM places p WHERE p.queue IS NOT NULL LIMIT $2::bigint) p
    CROSS JOIN LATERAL (
        SELECT j.id FROM hapax.jobs j
        WHERE j.limit_key = p.key AND j.limit_key IS NOT NULL AND j.queue = p.queue AND j.held AND j.state = 'available'
        ORDER BY j.priority DESC, j.turn
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ) l
))
RETURNING queue
