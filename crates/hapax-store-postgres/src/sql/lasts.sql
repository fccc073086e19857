-- The last of each line of jobs with an ordering key. Without locks: whoever wants to join a line has a lock on its name, and
-- looks again at the one that it found here when it has that one's row, for that may have ended meanwhile.
SELECT l.id
FROM unnest($1::text[], $2::text[]) AS u (queue, key)
CROSS JOIN LATERAL (
    SELECT j.id FROM hapax.jobs j
    WHERE j.queue = u.queue AND j.ordering_key = u.key AND j.state < 'completed'
        AND j.ordering_key IS NOT NULL
    ORDER BY CASE WHEN j.after IS NULL THEN 0 ELSE j.turn END DESC
    LIMIT 1
) l
