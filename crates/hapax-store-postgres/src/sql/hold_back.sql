-- Takes jobs out of the line for which a rate limit leaves no room: those of each queue and limit, but for those that
-- others have locked.
UPDATE hapax.jobs SET held = true
WHERE id = ANY (ARRAY(
    SELECT l.id
    FROM unnest($1::text[], $2::text[]) AS k (queue, key)
    CROSS JOIN LATERAL (
        SELECT j.id FROM hapax.jobs j
        WHERE j.limit_key = k.key AND j.limit_key IS NOT NULL AND j.queue = k.queue AND NOT j.held
            AND j.state = 'available'
        ORDER BY j.priority DESC, j.turn
        LIMIT $3::bigint
        FOR UPDATE SKIP LOCKED
    ) l
))
