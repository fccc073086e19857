-- The first jobs of a queue that share each of some rate limits, whether somebody looks at them or not. The columns are read
-- where the lock is taken: a row may be newer than the statement.
SELECT l.*
FROM unnest($2::text[]) AS k (key)
CROSS JOIN (VALUES (false), (true)) AS h (held)
CROSS JOIN LATERAL (
    SELECT {columns} FROM hapax.jobs j
    WHERE j.limit_key = k.key AND j.limit_key IS NOT NULL AND j.queue = $1 AND j.held = h.held AND j.state = 'available'
    ORDER BY j.priority DESC, j.turn
    LIMIT $3::bigint
    FOR UPDATE SKIP LOCKED
) l
