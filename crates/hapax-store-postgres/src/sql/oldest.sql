-- The oldest jobs of the lowest priority in a queue, in line or held back.
WITH lowest AS MATERIALIZED (
    SELECT min(x.priority) AS priority
    FROM (VALUES (false), (true)) AS h (held)
    CROSS JOIN LATERAL (
        SELECT l.priority FROM hapax.jobs l
        WHERE l.queue = $1 AND l.held = h.held AND l.state = 'available'
        ORDER BY l.priority, l.turn DESC LIMIT 1
    ) x
), first AS MATERIALIZED (
    SELECT x.id
    FROM (VALUES (false), (true)) AS h (held)
    CROSS JOIN LATERAL (
        SELECT l.id, l.turn, l.seq FROM hapax.jobs l
        WHERE l.queue = $1 AND l.held = h.held AND l.state = 'available'
            AND l.priority = (SELECT o.priority FROM lowest o)
        ORDER BY l.turn, l.seq LIMIT $2::bigint
    ) x
    ORDER BY x.turn, x.seq LIMIT $2::bigint
)
SELECT {columns} FROM hapax.jobs j
-- The row may be newer than the look.
WHERE j.id = ANY (ARRAY(SELECT f.id FROM first f)) AND j.queue = $1 AND j.state = 'available'
ORDER BY j.turn, j.seq
FOR UPDATE SKIP LOCKED
